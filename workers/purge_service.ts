import pLimit from 'p-limit';

import { purgeService } from '#storage/queue/jobs.ts';
import type { Id } from '#kernel/ids.ts';
import { waitForAll } from '#kernel/promises.ts';
import type { ExceptionWriter } from '#modules/exceptions/store/exception_writer.ts';
import type { MetricWriter } from '#modules/metrics/store/metric_writer.ts';
import type { Database } from '#storage/postgres/database.ts';
import { storesOf } from '#modules/stores.ts';
import { handleJob, type JobHandler } from '#storage/queue/job_workers.ts';

export interface PurgeRuntime {
  readonly db: Database;
  readonly metricWriter: Pick<MetricWriter, 'deleteService'>;
  readonly exceptionWriter: Pick<ExceptionWriter, 'deleteService'>;
}

export const onPurgeService = (runtime: PurgeRuntime): JobHandler =>
  handleJob(purgeService, async ({ serviceId }) => {
    await purge(runtime, serviceId as Id<'service'>);
  });

/**
 * Removes a deleted service from every store: points and events first, then its uploads, incidents and groups, then its row,
 * with its rules, keys and dashboards. While the row exists, something is left to do: so after a crash it simply runs again.
 * The billing ledger and the audit log stay. Points and events that are being stored meanwhile are deleted by the job
 * that stores them; see `delete_orphans.ts`.
 */
export async function purge(runtime: PurgeRuntime, serviceId: Id<'service'>): Promise<void> {
  const { services, artifacts } = storesOf(runtime.db.session());
  if (!(await services.isDeleted(serviceId))) return;
  await runtime.metricWriter.deleteService(serviceId);
  await runtime.exceptionWriter.deleteService(serviceId);
  await artifacts.removeBundlesOfDeleted(serviceId);
  await services.removeDeleted(serviceId, ROWS_A_STATEMENT);
}

const SERVICES_MAX = 100;
const ROWS_A_STATEMENT = 1_000;

/** Purges every deleted service whose job was lost. */
export async function purgeDeleted(runtime: PurgeRuntime): Promise<void> {
  const deleted = await storesOf(runtime.db.session()).services.listDeleted(SERVICES_MAX);
  const limit = pLimit(1);
  await waitForAll(deleted.map((serviceId) => limit(purge, runtime, serviceId)));
}
