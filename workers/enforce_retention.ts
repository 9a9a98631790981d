import pLimit from 'p-limit';

import { settleAll } from '#kernel/settle_all.ts';
import type { Clock } from '#kernel/time.ts';
import { EXCEPTION_EVENTS, METRIC_POINTS, type ExpiredRows } from '#storage/clickhouse/expired_rows.ts';
import type { Database } from '#storage/postgres/database.ts';
import { storesOf } from '#storage/postgres/stores.ts';

export interface RetentionRuntime {
  readonly db: Database;
  readonly clock: Clock;
  readonly expiredRows: Pick<ExpiredRows, 'remove' | 'removeNames'>;
}

/** Rows removed by one statement, so that none holds up others for long. */
const BATCH = 1_000;

/** Longer than refusals are shown. */
const KEEP_REFUSALS_HOURS = 48;

/**
 * Removes what is older than its service keeps: points, events, groups whose events are all over, and resolved
 * incidents with their logs; and what was refused of a service some days ago. Reads hide all of it already, so a crash anywhere only leaves work for the next time;
 * one store that fails holds up no other.
 */
export async function enforceRetention(runtime: RetentionRuntime): Promise<void> {
  const now = runtime.clock.now();
  const { services, incidents, exceptionGroups, ingestRefusals } = storesOf(runtime.db.session());
  const { expiredRows } = runtime;
  const limit = pLimit(1);
  await settleAll(
    [
      () => inBatches((limit) => incidents.removeOutdated(now, limit)),
      () => inBatches((limit) => exceptionGroups.removeOutdated(now, limit)),
      () => ingestRefusals.removeBefore(now.subtract({ hours: KEEP_REFUSALS_HOURS })),
      async () => expiredRows.remove(EXCEPTION_EVENTS, await services.listRetentionTiers('exceptions'), now),
      async () => {
        const tiers = await services.listRetentionTiers('metrics');
        await expiredRows.remove(METRIC_POINTS, tiers, now);
        await expiredRows.removeNames(tiers, now);
      },
    ].map((step) => limit(step)),
  );
}

async function inBatches(remove: (limit: number) => Promise<number>): Promise<void> {
  while ((await remove(BATCH)) > 0);
}
