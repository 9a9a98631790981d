import { type ServicePoints, unpackPoints } from '#ingest/packing/packed_points.ts';
import { storePoints } from '#jobs/store_points.ts';
import type { MetricWriter } from '#storage/clickhouse/metric_writer.ts';
import { handleJob, type JobHandler } from '#storage/queue/job_workers.ts';
import { isolateFaults } from '#workers/isolate_faults.ts';
import { tokenOf } from '#workers/token.ts';

interface StoringRuntime {
  readonly metricWriter: Pick<MetricWriter, 'insert'>;
}

/** Brings the points of a job into ClickHouse. A service whose points it refuses twice loses them, no other does. */
export const onStorePoints = ({ metricWriter }: StoringRuntime): JobHandler =>
  handleJob(storePoints, async ({ packed }, { attempt, log }) => {
    const services = await unpackPoints(packed);
    const token = tokenOf(packed);
    if (attempt === 1) return metricWriter.insert(services, token);
    const store = (part: readonly ServicePoints[]): Promise<void> =>
      metricWriter.insert(part, tokenOf(token, ...part.map(({ serviceId }) => serviceId)));
    for (const { item, error } of await isolateFaults(services, attempt, store)) {
      const { serviceId, points } = item;
      log.error({ serviceId, points: points.length, err: error }, 'points dropped: they can be stored in no way');
    }
  });
