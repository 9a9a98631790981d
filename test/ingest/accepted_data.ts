import { createCipher } from '#auth/cipher.ts';
import { POINT_KINDS } from '#modules/metrics/decide/point.ts';
import { PointBatch } from '#ingest/admission/point_batch.ts';
import { type ArrivedEvent, unpackEvents } from '#ingest/packing/pack_events.ts';
import { unpackPoints } from '#ingest/packing/pack_points.ts';
import type { Id } from '#kernel/ids.ts';
import { type MetricPoint, pointAt } from '#test/kit/metrics/points.ts';
import type { World } from '#test/kit/world.ts';

interface StoredJob {
  readonly name: string;
  readonly bytes: Buffer;
}

/** The jobs of ingestion that wait, oldest first. */
export async function acceptedJobs(w: World): Promise<StoredJob[]> {
  return await w.context.db.sql.rows<StoredJob>(
    'select job_name as name, payload as bytes from durable_jobs order by job_id',
  );
}

/** Every point that was taken, with the service it belongs to. */
export async function acceptedPoints(w: World): Promise<(MetricPoint & { serviceId: Id<'service'> })[]> {
  const jobs = (await acceptedJobs(w)).filter(({ name }) => name === 'store_points');
  return unpackedPoints(jobs.map(({ bytes }) => bytes));
}

/** The points of jobs in their order. Labels that came with some points of a series are those of all of them. */
export function unpackedPoints(packed: readonly Buffer[]): (MetricPoint & { serviceId: Id<'service'> })[] {
  const parts = packed.flatMap(unpackPoints);
  const announced = parts.flatMap(({ serviceId, points }) =>
    [...points.announced].map(({ key, labels }) => [`${serviceId} ${key}`, labels] as const),
  );
  const labelsOf = new Map(announced);
  return parts.flatMap(({ serviceId, points: { length, names, name, key, at, value, kind } }) => {
    const batch = new PointBatch();
    return Array.from({ length }, (_, i) => {
      const metric = names[name[i]!]!;
      const labels = labelsOf.get(`${serviceId} ${key[i]!}`);
      if (labels === undefined) throw new Error(`the labels of a series of ${metric} were not announced`);
      batch.add(batch.addSeries({ name: metric, labels, key: key[i]! }), at[i]!, value[i]!, POINT_KINDS[kind[i]!]!);
      return { ...pointAt(batch, i), serviceId };
    });
  });
}

/** Every event that was taken. */
export async function acceptedEvents(w: World): Promise<ArrivedEvent[]> {
  const jobs = (await acceptedJobs(w)).filter(({ name }) => name === 'group_exceptions');
  const cipher = createCipher(w.context.config.appSecret, 'waiting-events');
  return jobs
    .flatMap(({ bytes }) => unpackEvents(bytes, cipher))
    .map(({ read }) => read())
    .filter((read) => typeof read !== 'string');
}
