import pLimit from 'p-limit';

import { EXEMPLAR_DAYS } from '#modules/metrics/decide/exemplar.ts';
import { waitForAll } from '#kernel/promises.ts';
import type { Clock } from '#kernel/time.ts';
import {
  EXCEPTION_EVENTS,
  METRIC_EXEMPLARS,
  METRIC_POINTS,
  type ExpiredRows,
} from '#storage/clickhouse/expired_rows.ts';
import type { Database } from '#storage/postgres/database.ts';
import { SeriesDayStore } from '#modules/metrics/store/series_day_store.ts';
import { CONFIRM_HOURS } from '#modules/status_pages/subscribers.ts';
import { storesOf } from '#modules/stores.ts';

export interface RetentionRuntime {
  readonly db: Database;
  readonly clock: Clock;
  readonly sourceMapDays: number;
  readonly expiredRows: Pick<ExpiredRows, 'remove' | 'removeNames' | 'removeOrigins' | 'removeRollups'>;
}

/** Limit on the rows removed by one statement, so that none holds locks for long. */
const BATCH = 1_000;

/** Hours for which refusals are kept, longer than the ingest status shows them. */
const KEEP_REFUSALS_HOURS = 48;
/**
 * Hours for which types are kept; senders declare the type of a metric again with each request, or every few minutes.
 */
const KEEP_TYPES_HOURS = 24 * 90;
const KEEP_SESSIONS_DAYS = 90;
/** Sessions end within a day, and clients that were offline tell of them late. */
const KEEP_OUTCOMES_HOURS = 48;
/** Uploads that are broken off may go on for so long. */
const KEEP_CHUNKS_HOURS = 24;
/** Bodies of alerts, for people who look what is wrong. */
const KEEP_BODIES_DAYS = 7;
/** Days for which deliveries to places are kept. */
const KEEP_DELIVERIES_DAYS = 30;
/** Resolved ones beyond these are removed before their time. */
const ALERTS_OF_SERVICE_MAX = 50_000;

/**
 * Removes what is older than the retention of its service: points, events, groups without events, and resolved
 * incidents with their logs and alerts; the series of days that are over, old entries of the ingest status, and types
 * of metrics that nobody has said for long. Groups whose events nobody counted are counted. Reads hide all of it
 * already, so after a crash the rest is removed next time. A store that fails does not stop the others.
 */
export async function enforceRetention(runtime: RetentionRuntime): Promise<void> {
  const now = runtime.clock.now();
  const session = runtime.db.session();
  const { services, incidents, exceptionGroups, exceptionCounts, artifacts, sourceMaps } = storesOf(session);
  const { placeDeliveries, chatAccounts, subscribers } = storesOf(session);
  const { alerts, alertSources, ingestRefusals, metricTypes, sentItems, sessionOutcomes, eventExtras } =
    storesOf(session);
  const { expiredRows } = runtime;
  const limit = pLimit(1);
  await waitForAll(
    [
      () => inBatches((limit) => incidents.removeOutdated(now, limit)),
      () => inBatches((limit) => alerts.removeOutdated(now, limit)),
      () => inBatches((limit) => alerts.removeExcess(ALERTS_OF_SERVICE_MAX, limit)),
      () => alertSources.removeBodies(now.subtract({ hours: 24 * KEEP_BODIES_DAYS })),
      () =>
        inBatches((limit) => placeDeliveries.removeEnded(now.subtract({ hours: 24 * KEEP_DELIVERIES_DAYS }), limit)),
      () => chatAccounts.removeExpired(now),
      () => subscribers.removeUnconfirmed(now.subtract({ hours: CONFIRM_HOURS })),
      () => inBatches((limit) => exceptionGroups.removeOutdated(now, limit)),
      () => exceptionCounts.markMissed(now),
      () =>
        new SeriesDayStore(session).removeBefore(now.subtract({ hours: 24 }).toString().slice(0, 'YYYY-MM-DD'.length)),
      () => ingestRefusals.removeBefore(now.subtract({ hours: KEEP_REFUSALS_HOURS })),
      () => metricTypes.removeAnnouncedBefore(now.subtract({ hours: KEEP_TYPES_HOURS })),
      () =>
        sentItems.removeBefore(
          now.subtract({ hours: KEEP_REFUSALS_HOURS }),
          now.subtract({ hours: 24 * KEEP_SESSIONS_DAYS }),
        ),
      () => sessionOutcomes.removeBefore(now.subtract({ hours: KEEP_OUTCOMES_HOURS })),
      () => inBatches((limit) => eventExtras.removeOutdated(now, limit)),
      () => inBatches((limit) => artifacts.removeChunksBefore(now.subtract({ hours: KEEP_CHUNKS_HOURS }), limit)),
      async () => {
        const since = now.subtract({ hours: 24 * runtime.sourceMapDays });
        if (runtime.sourceMapDays > 0) await inBatches((limit) => artifacts.removeBundlesUnusedSince(since, limit));
        await inBatches((limit) => sourceMaps.removeUnplaced(null, now.subtract({ hours: 1 }), limit));
      },
      async () => {
        const tiers = await services.listRetentionTiers('exceptions');
        await expiredRows.remove(EXCEPTION_EVENTS, tiers, now);
        await expiredRows.removeOrigins(tiers, now);
      },
      async () => {
        const tiers = await services.listRetentionTiers('metrics');
        await expiredRows.remove(METRIC_POINTS, tiers, now);
        await expiredRows.removeRollups(tiers, now);
        await expiredRows.removeNames(tiers, now);
        const shortened = tiers.map(({ days, serviceIds }) => ({ days: Math.min(days, EXEMPLAR_DAYS), serviceIds }));
        await expiredRows.remove(METRIC_EXEMPLARS, shortened, now);
      },
    ].map((step) => limit(step)),
  );
}

async function inBatches(remove: (limit: number) => Promise<number>): Promise<void> {
  while ((await remove(BATCH)) > 0);
}
