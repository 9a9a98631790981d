import type { MetricPoint } from '#core/metrics/point.ts';
import { type ArrivedEvent, unpackEvents } from '#ingest/packing/packed_events.ts';
import { unpackPoints } from '#ingest/packing/packed_points.ts';
import type { World } from '#test/kit/world.ts';

interface StoredJob {
  readonly name: string;
  readonly data: { readonly packed: string };
}

/** The jobs of ingestion that wait, oldest first. */
export async function arrivedJobs(w: World): Promise<StoredJob[]> {
  return await w.house.db.sql.rows<StoredJob>('select job_name as name, payload as data from kept_jobs order by id');
}

/** Every point that was taken, with the service it belongs to. */
export async function arrivedPoints(w: World): Promise<(MetricPoint & { serviceId: string })[]> {
  const jobs = (await arrivedJobs(w)).filter(({ name }) => name === 'store_points');
  const parts = jobs.flatMap(({ data }) => unpackPoints(data.packed));
  return parts.flatMap(({ serviceId, points }) =>
    Array.from({ length: points.length }, (_, index) => ({ ...points.point(index), serviceId })),
  );
}

/** Every event that was taken. */
export async function arrivedEvents(w: World): Promise<ArrivedEvent[]> {
  const jobs = (await arrivedJobs(w)).filter(({ name }) => name === 'group_exceptions');
  return jobs.flatMap(({ data }) => unpackEvents(data.packed));
}
