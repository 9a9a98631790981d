import fc, { slowRuns } from '#test/kit/properties.ts';
import { expect, test } from 'vitest';

import { AGGREGATIONS } from '#modules/metrics/decide/aggregation.ts';
import { cutWindow } from '#modules/metrics/decide/buckets.ts';
import { POINT_KINDS } from '#modules/metrics/decide/point.ts';
import { PointBatch } from '#ingest/admission/point_batch.ts';
import { type Id, newId, uuidOf } from '#kernel/ids.ts';
import { Temporal } from '#kernel/time.ts';
import { MetricReader } from '#modules/metrics/store/metric_reader.ts';
import { MetricWriter } from '#modules/metrics/store/metric_writer.ts';
import { aggregate, type Sample } from '#test/kit/metrics/aggregate_model.ts';
import { columnsOf, seriesKey } from '#test/kit/metrics/points.ts';
import { fileWorld, world } from '#test/kit/world.ts';
import { whenDeleted } from '#test/kit/when.ts';

const w = await fileWorld();

const NOW = Temporal.Instant.from('2027-03-10T00:02:30.500Z');
const WINDOW_MINUTES = 12;

/** A point of one of three series, in the window, shortly before it, or after it, across midnight. */
const point = fc.record({
  series: fc.integer({ min: 0, max: 2 }),
  at: fc
    .oneof(
      fc.integer({ min: -20 * 60, max: 60 }).map((second) => second * 1_000),
      fc.integer({ min: -20 * 60_000, max: 60_000 }),
    )
    .map((offset) => NOW.epochMilliseconds + offset),
  value: fc.oneof(fc.integer({ min: 0, max: 6 }), fc.integer({ min: -1_000, max: 1_000 })),
  kind: fc.oneof({ weight: 3, arbitrary: fc.constant('counter' as const) }, fc.constantFrom(...POINT_KINDS)),
});

/** Batches as they arrive: disordered, and some a second time. */
const batches = fc
  .array(fc.array(point, { minLength: 1, maxLength: 25 }), { minLength: 1, maxLength: 4 })
  .chain((sent) => fc.subarray(sent).map((repeated) => [...sent, ...repeated]));

test('a query answers what the reference says of the same points, before and after parts are merged', async () => {
  const [reader, writer] = [new MetricReader(w.context.clickhouse), new MetricWriter(w.context.clickhouse)];
  const buckets = cutWindow(WINDOW_MINUTES, NOW);
  await fc.assert(
    fc.asyncProperty(batches, fc.boolean(), async (sent, isShortlyKept) => {
      const serviceId = newId('service');
      for (const [index, batch] of sent.entries()) {
        await writer.insert([{ serviceId, points: columnsOf(toBatch(batch)) }], `${serviceId}-${index}`);
      }
      const keptSince = NOW.subtract({ minutes: isShortlyKept ? 7 : 1_000 });
      const kept = sent.flat().filter(({ at }) => at >= keptSince.epochMilliseconds);
      const series = Object.values(Object.groupBy(kept, (one) => one.series)) as Sample[][];
      const expectSame = async (): Promise<void> => {
        for (const aggregation of AGGREGATIONS) {
          const selector = { name: 'm', matchers: [] };
          const found = await reader.query({ serviceId, selector, aggregation, buckets, keptSince });
          const meant = aggregate(series, aggregation, buckets);
          expect(
            found.map(({ at }) => at),
            aggregation,
          ).toEqual(meant.map(({ at }) => at));
          for (const [index, { value }] of found.entries()) {
            expect(value, aggregation).toBeCloseTo(meant[index]!.value, 9);
          }
        }
      };
      await expectSame();
      await merge();
      await expectSame();
    }),
    { numRuns: slowRuns(15) },
  );
});

test('the same deliveries under the same token are stored once, and under another still count once', async () => {
  const [reader, writer] = [new MetricReader(w.context.clickhouse), new MetricWriter(w.context.clickhouse)];
  const serviceId = newId('service');
  const points = toBatch(
    [0, 1, 2].map((second) => ({ series: 0, at: NOW.epochMilliseconds - second * 1_000, value: 1, kind: 'delta' })),
  );
  for (const token of ['a', 'a', 'b'])
    await writer.insert([{ serviceId, points: columnsOf(points) }], `${serviceId}${token}`);
  expect(await rowsOf(serviceId)).toBeLessThanOrEqual(6);
  const query = { serviceId, selector: { name: 'm', matchers: [] }, buckets: cutWindow(600, NOW) };
  const keptSince = NOW.subtract({ hours: 48 });
  expect(await reader.query({ ...query, aggregation: 'sum', keptSince })).toMatchObject([{ value: 3 }]);
});

test('points of more days than one insert may touch are stored all the same', async () => {
  const { context } = await world();
  const writer = new MetricWriter(context.clickhouse);
  const serviceId = newId('service');
  const days = Array.from({ length: 130 }, (_, day) => ({
    series: 0,
    at: NOW.epochMilliseconds - day * 86_400_000,
    value: day,
    kind: 'gauge' as const,
  }));
  for (const _again of [1, 2]) await writer.insert([{ serviceId, points: columnsOf(toBatch(days)) }], serviceId);
  expect(await rowsOf(serviceId, context.clickhouse)).toBe(130);
});

test('names, labels, keys, times and values are stored as they were given', async () => {
  const writer = new MetricWriter(w.context.clickhouse);
  const serviceId = newId('service');
  const points = new PointBatch();
  const labels = ['a', 'x'.repeat(512), 'ключ', '🦊 \n\0\t"\\'];
  const key = 18446744073709551615n;
  points.add(
    points.addSeries({ name: 'ünï\ncode', labels, key }),
    Date.parse('2027-03-09T23:59:59.999Z'),
    -1.5e-300,
    'counter',
  );
  points.add(points.addSeries({ name: 'b', labels: [], key: 0n }), Date.parse('2027-03-10T00:00:00.001Z'), 0, 'stale');
  await writer.insert([{ serviceId, points: columnsOf(points) }], serviceId);
  const result = await w.context.clickhouse.query({
    query: `SELECT service_id, metric, toString(series) AS series, toUnixTimestamp64Milli(ts) AS ts, value, kind, tags,
        toUnixTimestamp64Milli(last_at) AS last_at
      FROM metric_points INNER JOIN metric_series USING (service_id, metric, series)
      WHERE service_id = {service:UUID} ORDER BY ts`,
    query_params: { service: uuidOf(serviceId) },
    format: 'JSONEachRow',
  });
  expect(await result.json()).toEqual([
    {
      service_id: uuidOf(serviceId),
      metric: 'ünï\ncode',
      series: String(key),
      ts: String(Date.parse('2027-03-09T23:59:59.999Z')),
      value: -1.5e-300,
      kind: 'counter',
      tags: { a: 'x'.repeat(512), ключ: '🦊 \n\0\t"\\' },
      last_at: String(Date.parse('2027-03-09T23:59:59.999Z')),
    },
    {
      service_id: uuidOf(serviceId),
      metric: 'b',
      series: '0',
      ts: String(Date.parse('2027-03-10T00:00:00.001Z')),
      value: 0,
      kind: 'stale',
      tags: {},
      last_at: '0',
    },
  ]);
});

test('deletion takes all points and names of one service and leaves the others alone', async () => {
  const [reader, writer] = [new MetricReader(w.context.clickhouse), new MetricWriter(w.context.clickhouse)];
  const [mine, other] = [newId('service'), newId('service')];
  const since = NOW.subtract({ hours: 24 });
  const points = toBatch([{ series: 0, at: NOW.epochMilliseconds, value: 1, kind: 'gauge' }]);
  for (const serviceId of [mine, other]) await writer.insert([{ serviceId, points: columnsOf(points) }], serviceId);
  await writer.deleteService(mine);
  await whenDeleted(w.context);
  expect(await rowsOf(mine)).toBe(0);
  expect(await reader.listNames(mine, since)).toEqual([]);
  expect(await rowsOf(other)).toBe(1);
  expect(await reader.listNames(other, since)).toEqual(['m']);
});

function toBatch(given: readonly (Sample & { readonly series: number })[]): PointBatch {
  const batch = new PointBatch();
  for (const { series, at, value, kind } of given) {
    const labels = ['series', `${series}`];
    batch.add(batch.addSeries({ name: 'm', labels, key: seriesKey('m', labels) }), at, value, kind);
  }
  return batch;
}

async function rowsOf(serviceId: Id<'service'>, clickhouse = w.context.clickhouse): Promise<number> {
  const result = await clickhouse.query({
    query: 'SELECT count() FROM metric_points WHERE service_id = {service:UUID}',
    query_params: { service: uuidOf(serviceId) },
    format: 'JSONCompactEachRow',
  });
  const [[rows] = ['0']] = await result.json<[string]>();
  return Number(rows);
}

async function merge(): Promise<void> {
  const { clickhouse } = w.context;
  await clickhouse.command({ query: `OPTIMIZE TABLE ${clickhouse.layout.stored('metric_points')} FINAL` });
}
