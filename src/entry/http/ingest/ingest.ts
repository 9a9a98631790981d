import os from 'node:os';
import path from 'node:path';

import type { FastifyInstance } from 'fastify';

import { createBadKeyLimiter } from '#auth/bad_key_limiter.ts';
import { createCipher } from '#auth/cipher.ts';
import { createIngestAccess } from '#auth/ingest_access.ts';
import type { AppContext } from '#entry/compose.ts';
import type { IngestContext } from '#entry/http/ingest/ingest_context.ts';
import { openIngestPorts } from '#entry/http/ingest/ingest_ports.ts';
import { openAlertIngest } from '#entry/http/ingest/open_alert_ingest.ts';
import { mountDeployIngest } from '#entry/http/ingest/ingest_deploys.ts';
import { mountMetricIngest } from '#entry/http/ingest/ingest_metrics.ts';
import { mountCronIngest } from '#entry/http/ingest/ingest_cron.ts';
import { mountSentryIngest } from '#entry/http/ingest/ingest_sentry.ts';
import { parseRawBodies } from '#entry/http/request_body.ts';
import type { SharedLimits } from '#entry/http/shared_limits.ts';
import type { DiskSpace } from '#ingest/disk_space.ts';
import { CheckInIntake } from '#ingest/check_in_intake.ts';
import { openItemLimiters } from '#ingest/item_limits.ts';
import { openIntake } from '#ingest/intake.ts';
import { RefusedBytes } from '#ingest/refused_bytes.ts';
import { RateLimiter } from '#ingest/rate_limiter.ts';
import { SentryMetrics } from '#ingest/sentry_metrics.ts';
import { TelemetryRecorder } from '#ingest/telemetry_recorder.ts';
import { ExemplarRecorder } from '#ingest/exemplar_recorder.ts';
import { ExemplarStore } from '#modules/metrics/store/exemplar_store.ts';
import { RefusalRecorder } from '#ingest/refusal_recorder.ts';
import { ServiceTypes } from '#ingest/series/service_types.ts';
import { ServiceStarts } from '#ingest/series/series_starts.ts';
import { findSharedSeries } from '#modules/metrics/store/shared_series.ts';
import { SeriesQuota } from '#ingest/series/series_quota.ts';
import type { IngestCounters } from '#ingest/ingest_counters.ts';
import { INGEST_PATHS } from '#kernel/api_paths.ts';
import { KeyedLimit } from '#kernel/keyed_limit.ts';
import type { Temporal } from '#kernel/time.ts';
import { storesOf } from '#modules/stores.ts';

/** Limits on bodies that are decompressed at the same time: as many as libuv has threads. */
const UNPACKING = { concurrency: 4, concurrencyPerKey: 2 };
const MEGABYTE = 1024 * 1024;

/** Mounts the routes for metrics, exceptions and deploys. Closing the app first stores everything they accepted. */
export async function mountIngest(
  app: FastifyInstance,
  context: AppContext,
  counters: IngestCounters,
  { disk, limits }: { readonly disk: DiskSpace; readonly limits: SharedLimits },
): Promise<void> {
  const { clock, config, db, log, reachedLimits } = context;
  const { openLimit } = limits;
  const spoolFolder = path.resolve(config.dataDir, 'spool');
  const telemetry = new TelemetryRecorder({
    db,
    clock,
    log,
    cipher: createCipher(config.appSecret, 'event-attachments'),
  });
  const ingest: IngestContext = {
    access: createIngestAccess(db, clock, log),
    badKeys: createBadKeyLimiter(clock, limits),
    intake: openIntake({
      queue: context.queue,
      queueBytesMax: config.ingestQueueMegabytes * MEGABYTE || Infinity,
      disk,
      log,
      cipher: createCipher(config.appSecret, 'waiting-events'),
      spoolFolder,
      processes: limits.processes,
      reportSpooled: reportSpooledIn(context, spoolFolder),
      onNewSeries: (count) => context.newSeries.add(count),
    }),
    unpacking: new KeyedLimit(UNPACKING),
    refusedBytes: new RefusedBytes({ megabytesPerMinute: config.refusedMegabytesPerMinute, openLimit }),
    pointRates: new RateLimiter({
      perSecond: config.ingestPointsPerSecond,
      noun: 'points',
      limit: 'ingestPointsPerSecond',
      openLimit,
    }),
    itemLimits: openItemLimiters(
      (noun) =>
        new RateLimiter({ perSecond: config.ingestEventsPerSecond, noun, limit: 'ingestEventsPerSecond', openLimit }),
    ),
    sentryMetrics: new SentryMetrics(),
    starts: new ServiceStarts((serviceId) => findSharedSeries(context.clickhouse, serviceId, clock.now())),
    types: new ServiceTypes({ db, clock, log }),
    series: new SeriesQuota({ perDayMax: config.ingestSeriesPerDay, processes: limits.processes, db, clock, log }),
    counters,
    exemplars: new ExemplarRecorder({ store: new ExemplarStore(context.clickhouse), log }),
    beside: telemetry,
    checkIns: new CheckInIntake({
      db,
      clock,
      log,
      beside: telemetry,
      spoolFolder: path.resolve(config.dataDir, 'spool_check_ins'),
    }),
    clock,
    log,
    reachedLimits,
    tunnelPaths: [INGEST_PATHS.sentry_tunnel, config.ingestTunnelPath].filter((path) => path !== undefined),
    prefixes: [...new Set(['', new URL(config.baseUrl).pathname.replace(/\/+$/, '')])],
  };
  const refusals = new RefusalRecorder({ counters, db, clock, log });
  const { trustedProxies } = config;
  const ports = openIngestPorts(app, context, ingest, { reachedLimits, trustedProxies, processes: limits.processes });
  app.addHook('onClose', async () => {
    await ports.close();
    await ingest.checkIns.close();
    await Promise.all([
      ingest.intake.close(),
      ingest.series.close(),
      ingest.types.close(),
      ingest.beside.close(),
      ingest.exemplars.close(),
      refusals.close(),
    ]);
  });
  for (const mount of [mountMetricIngest, mountSentryIngest, mountCronIngest]) {
    await app.register(async (scope) => {
      parseRawBodies(scope);
      mount(scope, ingest);
    });
  }
  await openAlertIngest(app, context, ingest, limits);
  await app.register(async (scope) => mountDeployIngest(scope, ingest, context.actions));
}

/** Age at which reports about a folder that no process reads any more are deleted: it is gone, or out of reach. */
const SPOOL_REPORT_HOURS = 1;

function reportSpooledIn({ db, clock }: AppContext, folder: string) {
  const place = `${os.hostname()}:${folder}`;
  return async (oldestAt: Temporal.Instant | null): Promise<void> => {
    const now = clock.now();
    const dropBefore = now.subtract({ hours: SPOOL_REPORT_HOURS });
    await storesOf(db.session()).spooledData.report(place, oldestAt, { now, dropBefore });
  };
}
