import os from 'node:os';
import path from 'node:path';

import type { FastifyInstance } from 'fastify';

import { createBadKeyBrake } from '#auth/bad_key_brake.ts';
import { createCipher } from '#auth/cipher.ts';
import { createIngestAccess } from '#auth/ingest_access.ts';
import type { House } from '#entry/compose.ts';
import type { IngestHall } from '#entry/http/ingest_hall.ts';
import { mountMetricIngest } from '#entry/http/ingest_metrics.ts';
import { mountSentryIngest } from '#entry/http/ingest_sentry.ts';
import { takeRawBodies } from '#entry/http/raw_body.ts';
import type { DiskSpace } from '#ingest/disk_space.ts';
import { openIntake } from '#ingest/intake.ts';
import { RateLimiter } from '#ingest/rate_limiter.ts';
import { RefusalKeeper } from '#ingest/refusal_keeper.ts';
import { SeriesGuard } from '#ingest/series_guard.ts';
import type { IngestTally } from '#ingest/tally.ts';
import { KeyedLimit } from '#kernel/keyed_limit.ts';
import type { Temporal } from '#kernel/time.ts';
import { storesOf } from '#storage/postgres/stores.ts';

/** Bodies that are unpacked at the same time: as many as Node has threads for it. */
const UNPACKING = { concurrency: 4, concurrencyPerKey: 2 };
const MEGABYTE = 1024 * 1024;

/** The addresses that take metrics and exceptions (ingestion §1). What they took is stored before the app has closed. */
export async function mountIngest(
  app: FastifyInstance,
  house: House,
  tally: IngestTally,
  disk: DiskSpace,
): Promise<void> {
  const { clock, config, db, log } = house;
  const spoolFolder = path.resolve(config.dataDir, 'spool');
  const hall: IngestHall = {
    access: createIngestAccess(db, clock, log),
    brake: createBadKeyBrake(clock),
    intake: openIntake({
      queue: house.queue,
      queueBytesMax: config.ingestQueueMegabytes * MEGABYTE || Infinity,
      disk,
      log,
      cipher: createCipher(config.appSecret, 'waiting-events'),
      spoolFolder,
      tellSpooled: tellSpooledIn(house, spoolFolder),
    }),
    unpacking: new KeyedLimit(UNPACKING),
    pointRates: new RateLimiter({ perSecond: config.ingestPointsPerSecond, noun: 'points', clock }),
    eventRates: new RateLimiter({ perSecond: config.ingestEventsPerSecond, noun: 'exceptions', clock }),
    series: new SeriesGuard({ perDayMax: config.ingestSeriesPerDay, db, clock, log }),
    tally,
    clock,
    log,
    prefixes: [...new Set(['', new URL(config.baseUrl).pathname.replace(/\/+$/, '')])],
  };
  const refusals = new RefusalKeeper({ tally, db, clock, log });
  app.addHook('onClose', async () => {
    await Promise.all([hall.intake.close(), hall.series.close(), refusals.close()]);
  });
  for (const mount of [mountMetricIngest, mountSentryIngest]) {
    await app.register(async (scope) => {
      takeRawBodies(scope);
      mount(scope, hall);
    });
  }
}

/** What is known of a folder that no process looks into any more says nothing: it is gone, or cannot be reached. */
const SPOOLED_KNOWN_HOURS = 1;

function tellSpooledIn({ db, clock }: House, folder: string) {
  const place = `${os.hostname()}:${folder}`;
  return async (oldestAt: Temporal.Instant | null): Promise<void> => {
    const now = clock.now();
    const dropBefore = now.subtract({ hours: SPOOLED_KNOWN_HOURS });
    await storesOf(db.session()).spooledData.tell(place, oldestAt, { now, dropBefore });
  };
}
