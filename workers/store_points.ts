import { isLate } from '#core/metrics/late_points.ts';
import type { ServicePoints } from '#core/metrics/point_columns.ts';
import { Batcher } from '#ingest/batcher.ts';
import { unpackPoints } from '#ingest/packing/pack_points.ts';
import { storePoints } from '#jobs/store_points.ts';
import { retryWhileUnavailable } from '#kernel/retry.ts';
import type { Clock } from '#kernel/time.ts';
import type { MetricWriter } from '#storage/clickhouse/metric_writer.ts';
import type { Database } from '#storage/postgres/database.ts';
import type { DurableJobHandler } from '#storage/queue/durable_job_runner.ts';
import { OUTAGE_RETRY } from '#storage/queue/job_workers.ts';
import { deduplicationToken } from '#storage/clickhouse/deduplication_token.ts';
import { deleteOrphans } from '#storage/postgres/delete_orphans.ts';
import { storesOf } from '#storage/postgres/stores.ts';
import { isolateFaults } from '#storage/queue/isolate_faults.ts';

interface StoringRuntime {
  readonly db: Database;
  readonly clock: Clock;
  readonly metricWriter: Pick<MetricWriter, 'insert' | 'deleteService'>;
}

/** The points of one job. */
interface Batch {
  readonly services: readonly ServicePoints[];
  readonly token: string;
}

/**
 * ClickHouse prefers few large inserts: one of 400,000 points costs half as much per point as four of 100,000 that are
 * merged later. So with much to do (`BUSY_POINTS`), jobs wait up to `EVERY_MS` to be inserted together.
 */
const LINGER_MS = 5;
const EVERY_MS = 1_000;
/** An insert costs ClickHouse 10 ms however small it is: without this, fifty small senders keep most of a processor busy. */
const EVERY_MS_MIN = 150;
const BUSY_POINTS = 150_000;
const INSERT_POINTS_MAX = 400_000;
const JOBS_MAX = 400;
/**
 * Held in memory. An organization may fill three inserts, so that one is always ready; the rest is for the others. Points of
 * known series take 10 to 18 bytes, those of new ones, which come with their labels, twice to many times as much.
 */
const CAPACITY = { items: 1_600_000, itemsOfOrg: 1_200_000, jobs: 800, bytesOfItem: 20 };
/** While one insert runs, the next one is prepared. */
const INSERTS_MAX = 2;

/** Stores points in ClickHouse. If it rejects the points of one service twice, only those are dropped. */
export function onStorePoints({ db, clock, metricWriter }: StoringRuntime): DurableJobHandler {
  const insert = async (services: readonly ServicePoints[], token: string): Promise<void> => {
    await metricWriter.insert(services, token);
    const now = clock.now();
    const late = services.filter(({ points }) => isLate(oldestOf(points), now));
    if (late.length > 0) {
      const lateIds = late.map(({ serviceId }) => serviceId);
      await storesOf(db.session()).latePoints.record(lateIds, now);
    }
    const serviceIds = services.map(({ serviceId }) => serviceId);
    await deleteOrphans(db, serviceIds, (serviceId) => metricWriter.deleteService(serviceId));
  };
  const inserts = new Batcher<Batch>({
    lingerMs: LINGER_MS,
    everyMs: EVERY_MS,
    everyMsMin: EVERY_MS_MIN,
    busyFrom: BUSY_POINTS,
    itemsMax: JOBS_MAX,
    max: { bytes: Infinity, count: INSERT_POINTS_MAX },
    commitsMax: INSERTS_MAX,
    weigh: ({ services }) => ({ bytes: 0, count: services.reduce((sum, { points }) => sum + points.length, 0) }),
    commit: (batches) =>
      retryWhileUnavailable(
        () =>
          insert(
            batches.flatMap(({ services }) => services),
            deduplicationToken(...batches.map(({ token }) => token)),
          ),
        OUTAGE_RETRY,
      ),
  });
  return {
    job: storePoints,
    capacity: CAPACITY,
    async run(packed, { attempt, log }) {
      const services = unpackPoints(packed);
      const token = deduplicationToken(packed);
      if (attempt === 1) return await inserts.add({ services, token });
      const store = (part: readonly ServicePoints[]): Promise<void> =>
        insert(part, deduplicationToken(token, ...part.map(({ serviceId }) => serviceId)));
      for (const { item, error } of await isolateFaults(services, attempt, store)) {
        const { serviceId, points } = item;
        log.error(
          { serviceId, points: points.length, err: error },
          'points dropped: the store permanently rejects them',
        );
      }
    },
  };
}

function oldestOf({ at }: ServicePoints['points']): number {
  let oldest = Infinity;
  for (const time of at) if (time < oldest) oldest = time;
  return oldest;
}
