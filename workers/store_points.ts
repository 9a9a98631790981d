import { isLate } from '#modules/metrics/decide/late_points.ts';
import type { ServicePoints } from '#modules/metrics/decide/announced_table.ts';
import { Batcher } from '#ingest/batcher.ts';
import { packedWeight, unpackPoints } from '#ingest/packing/pack_points.ts';
import { storePoints } from '#storage/queue/jobs.ts';
import { retryWhileUnavailable } from '#kernel/promises.ts';
import type { Clock } from '#kernel/time.ts';
import type { MetricWriter } from '#modules/metrics/store/metric_writer.ts';
import type { Database } from '#storage/postgres/database.ts';
import type { DurableJobHandler } from '#storage/queue/durable_job_runner.ts';
import { OUTAGE_RETRY } from '#storage/queue/job_workers.ts';
import { deduplicationToken } from '#storage/clickhouse/insert_rows.ts';
import { deleteOrphans } from '#modules/delete_orphans.ts';
import { storesOf } from '#modules/stores.ts';
import { isolateFaults } from '#storage/queue/isolation.ts';

interface StoringRuntime {
  readonly db: Database;
  readonly clock: Clock;
  readonly metricWriter: Pick<MetricWriter, 'insert' | 'deleteService'>;
  /** Called with how many points are stored, and how many series came with their labels. */
  readonly onStoring?: (counts: { readonly series: number; readonly points: number }) => void;
}

/** The points of one job; they wait as they came, which takes a tenth of the memory. */
interface Batch {
  readonly packed: Buffer;
  readonly token: string;
  /** Reason why it cannot be unpacked; what waited with it is stored all the same. */
  fault: unknown;
}

/**
 * ClickHouse prefers few large inserts, as it merges less: points in inserts of 200,000, 400,000, 600,000 take it 1.1, 0.9
 * and 0.6 s of processor a million. So with much to do (`BUSY_POINTS`), jobs wait up to `EVERY_MS` to be inserted together.
 */
const LINGER_MS = 5;
const EVERY_MS = 1_000;
/** An insert costs ClickHouse 10 ms however small it is: without this, fifty small senders keep most of a processor busy. */
const EVERY_MS_MIN = 150;
const BUSY_POINTS = 150_000;
/** Idle time after which a burst is over, and its last jobs are inserted without waiting for more. */
const QUIET_MS = 200;
const INSERT_POINTS_MAX = 600_000;
const JOBS_MAX = 400;
/**
 * Capacity held in memory. An organization may fill two inserts, so that one is always ready; the rest is for the
 * others. Points of known series take 10 to 18 bytes, those of new ones, which come with their labels, twice to many
 * times as much.
 */
const CAPACITY = { items: 1_600_000, itemsOfOrg: 1_200_000, jobs: 800, bytesOfItem: 20 };
/** Limit on concurrent inserts: while one runs, the next one is prepared. */
const INSERTS_MAX = 2;

/** Stores points in ClickHouse. If it rejects the points of one service twice, only those are dropped. */
export function onStorePoints({ db, clock, metricWriter, onStoring }: StoringRuntime): DurableJobHandler {
  /** Holds the points no longer than until they are encoded, so that another attempt unpacks them again. */
  const insert = (services: readonly ServicePoints[], token: string): Promise<void> => {
    const inserting = metricWriter.insert(services, token);
    onStoring?.({
      series: sum(services, ({ points }) => points.announced.length),
      points: sum(services, ({ points }) => points.length),
    });
    const serviceIds = services.map(({ serviceId }) => serviceId);
    const oldest = services.map(({ points }) => oldestOf(points));
    return inserting.then(async () => {
      const now = clock.now();
      const lateIds = serviceIds.filter((_, index) => isLate(oldest[index] ?? Infinity, now));
      if (lateIds.length > 0) await storesOf(db.session()).latePoints.record(lateIds, now);
      await deleteOrphans(db, serviceIds, (serviceId) => metricWriter.deleteService(serviceId));
    });
  };
  const inserts = new Batcher<Batch>({
    lingerMs: LINGER_MS,
    everyMs: EVERY_MS,
    everyMsMin: EVERY_MS_MIN,
    busyFrom: BUSY_POINTS,
    quietMs: QUIET_MS,
    itemsMax: JOBS_MAX,
    max: { bytes: Infinity, count: INSERT_POINTS_MAX },
    commitsMax: INSERTS_MAX,
    weigh: ({ packed }) => ({ bytes: 0, count: packedWeight(packed) }),
    commit: (batches) =>
      retryWhileUnavailable(() => {
        const unpacked = batches.flatMap((batch) => {
          const services = unpack(batch);
          return services === null ? [] : [{ services, token: batch.token }];
        });
        if (unpacked.length === 0) return Promise.resolve();
        const token = deduplicationToken(...unpacked.map(({ token }) => token));
        return insert(
          unpacked.flatMap(({ services }) => services),
          token,
        );
      }, OUTAGE_RETRY),
  });
  return {
    job: storePoints,
    capacity: CAPACITY,
    async run(packed, { attempt, log }) {
      const token = deduplicationToken(packed);
      if (attempt === 1) {
        const batch: Batch = { packed, token, fault: null };
        await inserts.add(batch);
        if (batch.fault !== null) throw batch.fault;
        return;
      }
      const services = unpackPoints(packed);
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

/** Unpacks a job; returns null and records the fault if it cannot be unpacked. */
function unpack(batch: Batch): readonly ServicePoints[] | null {
  try {
    return unpackPoints(batch.packed);
  } catch (error) {
    batch.fault = error;
    return null;
  }
}

function sum(services: readonly ServicePoints[], count: (service: ServicePoints) => number): number {
  return services.reduce((total, service) => total + count(service), 0);
}

/** Returns the oldest time; loops by index, because an iterator makes an object of each number. */
function oldestOf({ at }: ServicePoints['points']): number {
  let oldest = Infinity;
  for (let row = 0; row < at.length; row += 1) oldest = Math.min(oldest, at[row] ?? Infinity);
  return oldest;
}
