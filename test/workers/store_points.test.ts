import { expect, test } from 'vitest';

import { PointBatch } from '#ingest/admission/point_batch.ts';
import { packPoints } from '#ingest/packing/pack_points.ts';
import { type Id, uuidOf } from '#kernel/ids.ts';
import { silentLog } from '#kernel/log.ts';
import { MetricWriter } from '#modules/metrics/store/metric_writer.ts';
import { sweep } from '#test/kit/properties.ts';
import { fileWorld } from '#test/kit/world.ts';
import { onStorePoints } from '#workers/store_points.ts';

const w = await fileWorld();

function pointsOf(name: string, values: readonly number[]): PointBatch {
  const points = new PointBatch();
  const series = points.addSeries({ name, labels: ['host', 'a'], key: 18446744073709551615n });
  const now = w.clock.now().epochMilliseconds;
  values.forEach((value, index) => points.add(series, now - index * 1_000, value, 'gauge'));
  return points;
}

async function stored(serviceId: Id<'service'>): Promise<unknown[]> {
  const result = await w.context.clickhouse.query({
    query: `SELECT metric, value, tags FROM metric_points FINAL
      INNER JOIN (SELECT series, any(tags) AS tags FROM metric_series WHERE service_id = {service:UUID} GROUP BY series) AS told
      USING (series) WHERE service_id = {service:UUID} ORDER BY ts DESC`,
    query_params: { service: uuidOf(serviceId) },
    format: 'JSONEachRow',
  });
  return await result.json();
}

const slice = (serviceId: Id<'service'>, points: PointBatch) => ({ serviceId, points, from: 0, to: points.length });

test('the points of a job are stored with their services, once, however often it runs', async () => {
  const [first, second] = [await w.given.service(), await w.given.service()];
  const packed = packPoints([
    slice(first.serviceId, pointsOf('cpu', [1, 2])),
    slice(second.serviceId, pointsOf('memory', [3])),
  ]);
  const counts: unknown[] = [];
  const handler = onStorePoints({
    db: w.context.db,
    clock: w.clock,
    metricWriter: new MetricWriter(w.context.clickhouse),
    onStoring: (stored) => counts.push(stored),
  });
  for (const attempt of [1, 1, 2]) await handler.run(packed, { jobId: '1', attempt, log: silentLog });
  expect(await stored(first.serviceId)).toEqual([
    { metric: 'cpu', value: 1, tags: { host: 'a' } },
    { metric: 'cpu', value: 2, tags: { host: 'a' } },
  ]);
  expect(await stored(second.serviceId)).toHaveLength(1);
  expect(counts[0]).toEqual({ series: 2, points: 3 });
});

test('jobs that a new queue gives old ids lose nothing', async () => {
  const { serviceId } = await w.given.service();
  const handler = onStorePoints({
    db: w.context.db,
    clock: w.clock,
    metricWriter: new MetricWriter(w.context.clickhouse),
  });
  for (const name of ['cpu', 'memory']) {
    const packed = packPoints([slice(serviceId, pointsOf(name, [1]))]);
    await handler.run(packed, { jobId: '1', attempt: 1, log: silentLog });
  }
  expect(await stored(serviceId)).toHaveLength(2);
});

test('points of a service that the store refuses hold up no others', async () => {
  const [bad, good] = [await w.given.service(), await w.given.service()];
  const writer = new MetricWriter(w.context.clickhouse);
  const handler = onStorePoints({
    db: w.context.db,
    clock: w.clock,
    metricWriter: {
      deleteService: (serviceId) => writer.deleteService(serviceId),
      async insert(deliveries, token) {
        if (deliveries.some(({ serviceId }) => serviceId === bad.serviceId)) {
          throw Object.assign(new Error('cannot read'), { code: '33', type: 'CANNOT_READ_ALL_DATA' });
        }
        await writer.insert(deliveries, token);
      },
    },
  });
  const packed = packPoints([slice(bad.serviceId, pointsOf('cpu', [1])), slice(good.serviceId, pointsOf('cpu', [1]))]);
  await expect(handler.run(packed, { jobId: '1', attempt: 1, log: silentLog })).rejects.toThrow('cannot read');
  await handler.run(packed, { jobId: '1', attempt: 2, log: silentLog });
  expect(await stored(bad.serviceId)).toHaveLength(0);
  expect(await stored(good.serviceId)).toHaveLength(1);
});

/** The store, which is away for the first of these inserts. */
function awayFor(...inserts: readonly number[]): MetricWriter {
  let asked = 0;
  const { clickhouse } = w.context;
  const exec: typeof clickhouse.exec = async (params) => {
    asked += 1;
    if (inserts.includes(asked)) throw Object.assign(new Error('away'), { code: 'ECONNREFUSED' });
    return await clickhouse.exec(params);
  };
  const { layout, database } = clickhouse;
  const rest = {
    query: clickhouse.query.bind(clickhouse),
    command: clickhouse.command.bind(clickhouse),
    insert: clickhouse.insert.bind(clickhouse),
    close: async () => {},
  };
  return new MetricWriter({ layout, database, exec, ...rest });
}

/** Makes so many points that none of them lies in memory that others share. */
function manyPoints(count: number): PointBatch {
  const points = new PointBatch();
  const now = w.clock.now().epochMilliseconds;
  for (let index = 0; index < count; index += 1) {
    const series = { name: `metric_${index % 7}`, labels: ['number', `of this one ${index}`], key: BigInt(index) };
    points.add(points.addSeries(series), now - (index % 1_000), index / 3, 'gauge');
  }
  return points;
}

const AWAY: readonly (readonly [what: string, inserts: readonly number[]])[] = [
  ['the labels twice and then the points', [1, 2, 4]],
  ['the labels', [1]],
  ['the points', [2]],
];

test.each(sweep(AWAY, AWAY.length))(
  'while the store is away for %s, nothing of large jobs is lost or changed',
  async (_what, inserts) => {
    const { serviceId } = await w.given.service();
    const metricWriter = awayFor(...inserts);
    const handler = onStorePoints({ db: w.context.db, clock: w.clock, metricWriter });
    const points = manyPoints(6_000);
    const jobs = [0, 1, 2].map((part) =>
      packPoints([{ serviceId, points, from: part * 2_000, to: (part + 1) * 2_000 }]),
    );
    await Promise.all(
      jobs.map((packed, index) => handler.run(packed, { jobId: String(index), attempt: 1, log: silentLog })),
    );
    const found = (await stored(serviceId)) as { metric: string; value: number; tags: { number: string } }[];
    const expected = Array.from({ length: 6_000 }, (_, index) => ({
      metric: `metric_${index % 7}`,
      value: index / 3,
      tags: { number: `of this one ${index}` },
    }));
    expect(found.toSorted((a, b) => a.value - b.value)).toEqual(expected);
  },
);

test('a job that cannot be read holds up none that wait with it', async () => {
  const { serviceId } = await w.given.service();
  const handler = onStorePoints({
    db: w.context.db,
    clock: w.clock,
    metricWriter: new MetricWriter(w.context.clickhouse),
  });
  const run = (packed: Buffer) => handler.run(packed, { jobId: '1', attempt: 1, log: silentLog });
  const good = packPoints([slice(serviceId, pointsOf('cpu', [1, 2]))]);
  const outcomes = await Promise.allSettled([run(Buffer.from('....nonsense')), run(good)]);
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
  expect(await stored(serviceId)).toHaveLength(2);
});
