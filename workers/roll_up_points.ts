import type { Log } from '#kernel/log.ts';
import type { Clock } from '#kernel/time.ts';
import type { MetricWriter } from '#modules/metrics/store/metric_writer.ts';
import type { RollupWriter } from '#modules/metrics/store/rollup_writer.ts';
import type { Database } from '#storage/postgres/database.ts';
import { deleteOrphans } from '#modules/delete_orphans.ts';
import { storesOf } from '#modules/stores.ts';

interface RollUpRuntime {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly metricWriter: Pick<MetricWriter, 'deleteService'>;
  readonly rollups: RollupWriter;
}

/** Time of every minute spent on rolling up: the history of an earlier release is rolled up alongside urgent work. */
const BUSY_MS = 10_000;

/** Sums up points by hours and days. What is not rolled up yet is read from points: slower, and never wrong. */
export async function rollUpPoints({ db, clock, log, metricWriter, rollups }: RollUpRuntime): Promise<void> {
  const tiers = await storesOf(db.session()).services.listRetentionTiers('metrics');
  const until = performance.now() + BUSY_MS;
  const { serviceIds, failures } = await rollups.rollUp(tiers, clock.now(), () => performance.now() < until);
  for (const error of failures)
    log.warn({ err: error }, 'failed to roll up points; queries read the points themselves');
  await deleteOrphans(db, serviceIds, (serviceId) => metricWriter.deleteService(serviceId));
}
