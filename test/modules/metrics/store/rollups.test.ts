import { describe, expect, test } from 'vitest';

import { AGGREGATIONS } from '#modules/metrics/decide/aggregation.ts';
import type { Buckets } from '#modules/metrics/decide/buckets.ts';
import { type Sample, aggregate } from '#test/kit/metrics/aggregate_model.ts';
import { POINT_KINDS } from '#modules/metrics/decide/point.ts';
import { DAY_MS, HOUR_MS, planRollups, readPeriodOf, startsIn } from '#modules/metrics/decide/rollup_plan.ts';
import { PointBatch } from '#ingest/admission/point_batch.ts';
import { type Id, newId, uuidOf } from '#kernel/ids.ts';
import { Temporal } from '#kernel/time.ts';
import { type ClickHouseClient, openClickHouse } from '#storage/clickhouse/clickhouse.ts';
import { ExpiredRows, METRIC_POINTS } from '#storage/clickhouse/expired_rows.ts';
import { ROLLUP_TABLES } from '#storage/clickhouse/layout.ts';
import { bucketQueryOf } from '#modules/metrics/store/metric_query.ts';
import { MetricReader } from '#modules/metrics/store/metric_reader.ts';
import { MetricWriter } from '#modules/metrics/store/metric_writer.ts';
import { RollupState } from '#modules/metrics/store/rollups.ts';
import { RollupWriter } from '#modules/metrics/store/rollup_writer.ts';
import fc, { slowRuns, sweep } from '#test/kit/properties.ts';
import { columnsOf, seriesKey } from '#test/kit/metrics/points.ts';
import { fileWorld } from '#test/kit/world.ts';
import { whenDeleted } from '#test/kit/when.ts';

const w = await fileWorld();
const reader = new MetricReader(w.context.clickhouse);

/** The windows are before this, and their days are over. */
const END = Date.parse('2027-03-10T00:00:00Z');
const DAYS = 2;
const FROM = END - DAYS * DAY_MS;
const NOW = Temporal.Instant.fromEpochMilliseconds(END + 12 * HOUR_MS);
const AT_ONCE = { insertMs: 0, queryMs: 0 };
const forEver = () => true;
const tiersOf = (serviceId: Id<'service'>) => [{ days: 30, serviceIds: [serviceId] }];

interface Given extends Sample {
  readonly series: number;
}

/** Points of three series, close together in some hours and hours apart in others, also before the window and behind it. */
const point = fc.record({
  series: fc.integer({ min: 0, max: 2 }),
  at: fc
    .oneof(
      fc.integer({ min: -20, max: DAYS * 24 * 60 + 5 }).map((minute) => minute * 60_000),
      fc.integer({ min: 100, max: 220 }).map((minute) => minute * 60_000),
      fc.constantFrom(HOUR_MS - 1, HOUR_MS, DAY_MS - 1, DAY_MS, DAYS * DAY_MS - 1, DAYS * DAY_MS),
    )
    .map((offset) => FROM + offset),
  value: fc.oneof(fc.integer({ min: 0, max: 6 }), fc.integer({ min: -1_000, max: 1_000 })),
  kind: fc.oneof({ weight: 3, arbitrary: fc.constant('counter' as const) }, fc.constantFrom(...POINT_KINDS)),
});
const points = (maxLength: number) => fc.array(point, { minLength: 1, maxLength });

let inserts = 0;
async function insert(serviceId: Id<'service'>, given: readonly Given[]): Promise<void> {
  const batch = new PointBatch();
  for (const { series, at, value, kind } of given) {
    const labels = ['le', String(series), 'zone', String(series % 2)];
    batch.add(batch.addSeries({ name: 'm', labels, key: seriesKey('m', labels) }), at, value, kind);
  }
  inserts += 1;
  await new MetricWriter(w.context.clickhouse).insert([{ serviceId, points: columnsOf(batch) }], `rollups-${inserts}`);
}

async function rollUp(serviceId: Id<'service'>, minutesLater = 0, client = w.context.clickhouse): Promise<void> {
  const writer = new RollupWriter(client, AT_ONCE);
  await writer.rollUp(tiersOf(serviceId), NOW.add({ minutes: minutesLater }), forEver);
}

const [BY_HOUR, BY_FIVE_HOURS, BY_DAY] = [HOUR_MS, 5 * HOUR_MS, DAY_MS].map((stepMs) => ({
  fromMs: Math.floor(FROM / stepMs) * stepMs,
  toMs: Math.ceil(END / stepMs) * stepMs,
  stepMs,
})) as [Buckets, Buckets, Buckets];
const ALWAYS = Temporal.Instant.fromEpochMilliseconds(0);

/** Expects from rollups what the reference computes from all points. */
async function expectExact(
  serviceId: Id<'service'>,
  given: readonly Given[],
  keptSince: Temporal.Instant,
  buckets: Buckets,
  aggregations: readonly (typeof AGGREGATIONS)[number][] = AGGREGATIONS,
): Promise<void> {
  const series = seriesOf(given.filter(({ at }) => at >= keptSince.epochMilliseconds));
  const ask = async (aggregation: (typeof AGGREGATIONS)[number]): Promise<void> => {
    const query = { serviceId, selector: { name: 'm', matchers: [] }, aggregation, buckets, keptSince };
    expectClose(await reader.query(query), aggregate(series, aggregation, buckets), aggregation);
  };
  await Promise.all(aggregations.map(ask));
}

/** Expects the same by label; the gate asks for what is computed from more than one rollup. */
async function expectExactByLabel(
  serviceId: Id<'service'>,
  given: readonly Given[],
  keptSince: Temporal.Instant,
  buckets: Buckets,
): Promise<void> {
  const kept = given.filter(({ at, series }) => at >= keptSince.epochMilliseconds && series % 2 === 0);
  const ofZone = { name: 'm', matchers: [{ label: 'zone', operator: '=' as const, value: '0' }] };
  const ask = async (aggregation: (typeof AGGREGATIONS)[number]): Promise<void> => {
    const query = { serviceId, selector: { name: 'm', matchers: [] }, aggregation, buckets, keptSince };
    const found = await reader.query({ ...query, selector: ofZone });
    expectClose(found, aggregate(seriesOf(kept), aggregation, buckets), aggregation);
    const chart = { ...query, split: { label: 'zone', values: ['1'] }, columnMs: null };
    const [parts, fromPoints] = [await reader.queryChart(chart), await reader.queryChart({ ...chart, rollups: null })];
    expect(parts.map(({ part }) => part)).toEqual(fromPoints.map(({ part }) => part));
    for (const [place, { points: own }] of parts.entries()) expectClose(own, fromPoints[place]!.points, aggregation);
    const ranked = await reader.rankValues(query, 'zone', 5);
    expect(ranked, aggregation).toEqual(await reader.rankValues({ ...query, rollups: null }, 'zone', 5));
  };
  await Promise.all(sweep(AGGREGATIONS, 3, 1).map(ask));
}

const seriesOf = (given: readonly Given[]) => [...Map.groupBy(given, ({ series }) => series).values()];

interface Value {
  readonly at: number;
  readonly value: number;
}

function expectClose(found: readonly Value[], meant: readonly Value[], about: string): void {
  expect(
    found.map(({ at }) => at),
    about,
  ).toEqual(meant.map(({ at }) => at));
  for (const [index, { value }] of found.entries()) expect(value, about).toBeCloseTo(meant[index]!.value, 9);
}

/** The starts of what is read from rollups of days and of hours, and from points. */
async function planOf(serviceId: Id<'service'>, stepMs: number) {
  const period = readPeriodOf({ fromMs: FROM, toMs: END, stepMs }, 0);
  const valid = await new RollupState(w.context.clickhouse).findValid(serviceId, period);
  const plan = planRollups(period, stepMs, valid);
  if (plan === null) return null;
  const [days, hours] = [startsIn(plan.days, DAY_MS), startsIn(plan.hours, HOUR_MS)];
  return { valid, days, hours, rawHours: startsIn(plan.raw, HOUR_MS) };
}

const asked = fc.record({
  kept: fc.constantFrom(0, FROM + 7 * HOUR_MS + 1_234, FROM + 20 * HOUR_MS, FROM - 60_000),
  buckets: fc.constantFrom(BY_HOUR, BY_FIVE_HOURS, BY_DAY),
});

const WAYS = [
  ['as they come', 'in all', expectExact],
  ['and are rolled up again', 'by label', expectExactByLabel],
  ['as they come', 'by label', expectExactByLabel],
  ['and are rolled up again', 'in all', expectExact],
] as const;

test.each(sweep(WAYS, 2))(
  'rollups answer as the points do, also when points come late, twice, or with another value: %s, %s',
  async (how, what, expectSame) => {
    await fc.assert(
      fc.asyncProperty(points(60), points(10), points(5), asked, async (first, late, later, { kept, buckets }) => {
        const serviceId = newId('service');
        const keptSince = Temporal.Instant.fromEpochMilliseconds(kept);
        const ask = (given: readonly Given[]) => expectSame(serviceId, given, keptSince, buckets);
        await insert(serviceId, first);
        await expect(rollUp(serviceId)).resolves.toBeUndefined();
        if (how === 'as they come') await ask(first);
        // The same series and times have other values, too.
        const second = [...late, ...first.slice(0, 3).map((one) => ({ ...one, value: one.value + 1 }))];
        await insert(serviceId, second);
        if (how === 'and are rolled up again') await rollUp(serviceId, 1);
        if (what === 'in all') await ask([...first, ...second]);
        if (how === 'as they come') return;
        await insert(serviceId, later);
        for (const minute of [2, 3, 4]) await rollUp(serviceId, minute);
        await ask([...first, ...second, ...later]);
      }),
      { numRuns: slowRuns(8) },
    );
  },
);

const everyHour = (value: number): Given[] =>
  Array.from({ length: DAYS * 24 }, (_, hour) => {
    return { series: 0, at: FROM + hour * HOUR_MS + 60_000, value: value + hour, kind: 'counter' };
  });

test('hours and days that came to rest are read from rollups, and an hour that gets more from its points until it is rolled up again', async () => {
  const serviceId = newId('service');
  await insert(serviceId, everyHour(5));
  expect(await planOf(serviceId, HOUR_MS)).toBe(null);
  // Hours that still get points are left alone.
  const restless = new RollupWriter(w.context.clickhouse, { insertMs: 60_000, queryMs: 0 });
  await restless.rollUp(tiersOf(serviceId), NOW, forEver);
  expect(await planOf(serviceId, HOUR_MS)).toBe(null);
  await rollUp(serviceId);
  expect(await planOf(serviceId, DAY_MS)).toMatchObject({ days: [FROM, FROM + DAY_MS], hours: [] });
  // The hour before is what the first counter may have grown from.
  expect(await planOf(serviceId, HOUR_MS)).toMatchObject({ days: [], rawHours: [FROM - HOUR_MS] });
  await insert(serviceId, [{ series: 1, at: FROM + 30 * HOUR_MS, value: 1, kind: 'gauge' }]);
  const outdated = [FROM - HOUR_MS, FROM + 30 * HOUR_MS];
  expect((await planOf(serviceId, HOUR_MS))?.rawHours).toEqual(outdated);
  expect((await planOf(serviceId, DAY_MS))?.days).toEqual([FROM]);
  // What queries may still be reading is declared invalid first.
  await rollUp(serviceId, 1);
  expect((await planOf(serviceId, HOUR_MS))?.rawHours).toEqual(outdated);
  await rollUp(serviceId, 2);
  expect((await planOf(serviceId, HOUR_MS))?.rawHours).toEqual([FROM - HOUR_MS]);
  await rollUp(serviceId, 3);
  expect((await planOf(serviceId, DAY_MS))?.days).toHaveLength(DAYS);
});

test('a point in the last second of an hour, which is alone in its part, is rolled up', async () => {
  const serviceId = newId('service');
  const given: Given[] = [{ series: 0, at: FROM + HOUR_MS - 1, value: 3, kind: 'gauge' }];
  await insert(serviceId, given);
  await rollUp(serviceId);
  expect((await planOf(serviceId, HOUR_MS))?.hours).toEqual([FROM]);
  await expectExact(serviceId, given, ALWAYS, BY_HOUR, ['max']);
});

test('hours that are not rolled up may be scattered over the whole window', async () => {
  const serviceId = newId('service');
  const given = everyHour(5);
  const late = given.filter((_, hour) => hour % 2 === 1).map((one) => ({ ...one, value: one.value + 3 }));
  await insert(serviceId, given);
  await rollUp(serviceId);
  await insert(serviceId, late);
  const plan = await planOf(serviceId, HOUR_MS);
  expect([plan?.hours.length, plan?.rawHours.length]).toEqual([late.length, late.length + 1]);
  await expectExact(serviceId, [...given, ...late], ALWAYS, BY_HOUR, ['sum', 'last']);
});

test('of points only those of hours that are not rolled up are read', async () => {
  const serviceId = newId('service');
  const batch = new PointBatch();
  for (let series = 0; series < 10; series += 1) {
    const labels = ['zone', String(series)];
    const place = batch.addSeries({ name: 'm', labels, key: seriesKey('m', labels) });
    for (let at = FROM; at < END; at += 120_000) batch.add(place, at, 1, 'gauge');
  }
  await new MetricWriter(w.context.clickhouse).insert([{ serviceId, points: columnsOf(batch) }], serviceId);
  await rollUp(serviceId);
  await insert(serviceId, [{ series: 1, at: FROM + 30 * HOUR_MS, value: 1, kind: 'gauge' }]);
  const buckets = { fromMs: FROM, toMs: END, stepMs: HOUR_MS };
  const rollups = (await planOf(serviceId, HOUR_MS))?.valid ?? null;
  const query = { serviceId, selector: { name: 'm', matchers: [] }, aggregation: 'avg' as const, buckets };
  const { sql, parameters } = bucketQueryOf({ ...query, keptSince: ALWAYS, rollups });
  const result = await w.context.clickhouse.query({
    query: `EXPLAIN ESTIMATE ${sql}`,
    query_params: parameters,
    format: 'JSONEachRow',
  });
  const read = await result.json<{ table: string; rows: string }>();
  const points = read.filter(({ table }) => table.startsWith('metric_points'));
  // Two days have 14,400 points, an hour 300, a granule 1,024.
  expect(points.reduce((sum, { rows }) => sum + Number(rows), 0)).toBeLessThan(5_000);
});

test('quantiles of histograms are those of their points', async () => {
  const serviceId = newId('service');
  const batch = new PointBatch();
  for (const [place, le] of ['0.1', '1', '+Inf'].entries()) {
    for (const zone of ['a', 'b']) {
      const labels = ['le', le, 'zone', zone];
      const series = batch.addSeries({ name: 'h_bucket', labels, key: seriesKey('h_bucket', labels) });
      for (let step = 0; step < DAYS * 48; step += 1) {
        const value = ((step * (place + 1) * (zone === 'a' ? 3 : 5)) % 700) + (step % 11) * place;
        batch.add(series, FROM + step * 1_800_000 + 1, value, 'counter');
      }
    }
  }
  await new MetricWriter(w.context.clickhouse).insert([{ serviceId, points: columnsOf(batch) }], serviceId);
  await rollUp(serviceId);
  expect((await planOf(serviceId, DAY_MS))?.days).toHaveLength(DAYS);
  for (const stepMs of [HOUR_MS, DAY_MS]) {
    const selector = { name: 'h', matchers: [{ label: 'quantile', operator: '=' as const, value: '0.9' }] };
    const buckets = { fromMs: FROM, toMs: END, stepMs };
    const query = { serviceId, selector, aggregation: 'avg' as const, buckets, keptSince: ALWAYS };
    const chart = { ...query, split: { label: 'zone', values: ['b'] }, columnMs: 4 * stepMs };
    const [own, meant] = await Promise.all([reader.queryChart(chart), reader.queryChart({ ...chart, rollups: null })]);
    expect(own).toEqual(meant);
    expect(own).toHaveLength(2);
    if (!sweep([DAY_MS, HOUR_MS], 2).includes(stepMs)) continue;
    expect(await reader.rankValues(query, 'zone', 2)).toEqual(
      await reader.rankValues({ ...query, rollups: null }, 'zone', 2),
    );
  }
});

test('an installation without services asks ClickHouse for nothing', async () => {
  const nowhere = openClickHouse({ clickhouseUrl: 'http://127.0.0.1:1' });
  const writer = new RollupWriter(nowhere, AT_ONCE);
  await expect(writer.rollUp(tiersOf(newId('service')), NOW, forEver)).rejects.toMatchObject({ code: 'unavailable' });
  expect(await writer.rollUp([], NOW, forEver)).toEqual({ serviceIds: [], failures: [] });
  await nowhere.close();
});

test('points from before there were rollups are rolled up, too', async () => {
  const serviceId = newId('service');
  const { clickhouse } = w.context;
  await insert(serviceId, everyHour(1));
  // Of other services, too: no test goes on with those of another.
  for (const table of ['metric_hour_inserts', 'metric_rollups'] as const) {
    await clickhouse.command({ query: `TRUNCATE TABLE ${clickhouse.layout.stored(table)}` });
  }
  let steps = 0;
  const mayGoOn = () => (steps += 1) <= 5;
  const writer = new RollupWriter(clickhouse, AT_ONCE);
  await writer.rollUp(tiersOf(serviceId), NOW, mayGoOn);
  const plan = async () => await planOf(serviceId, DAY_MS);
  // The newest day first, as far as the time allows.
  expect((await plan())?.days).toEqual([END - DAY_MS]);
  await writer.rollUp(tiersOf(serviceId), NOW.add({ minutes: 1 }), forEver);
  expect((await plan())?.days).toHaveLength(DAYS);
});

describe.each(sweep([1, 2, 3, 4], 4, 1))('a run that is broken off after %i commands', (commandsMax) => {
  const serviceId = newId('service');
  // A day ends with another value than its last hour begins with.
  const given = [...everyHour(3), { series: 0, at: FROM + DAY_MS - 1, value: 26.5, kind: 'counter' as const }];
  const late = given.slice(20, 30).map((one) => ({ ...one, value: one.value * 2 }));
  const both = [...given, ...late];
  const expectSame = async (meant: readonly Given[]): Promise<void> => {
    const asked = { hourly: ['sum', BY_HOUR], last: ['last', BY_DAY], daily: ['sum', BY_DAY] } as const;
    for (const [aggregation, buckets] of Object.values(asked)) {
      const query = { serviceId, selector: { name: 'm', matchers: [] }, aggregation, buckets, keptSince: ALWAYS };
      expectClose(await reader.query(query), aggregate(seriesOf(meant), aggregation, buckets), aggregation);
    }
  };
  const brokenOff = (minute: number) => rollUp(serviceId, minute, brokenOffAfter(commandsMax)).catch(() => undefined);

  test('leaves nothing that is wrong', async () => {
    await insert(serviceId, given);
    await expect(brokenOff(0)).resolves.toBeUndefined();
    await expectSame(given);
    await insert(serviceId, late);
    for (const minute of [1, 2]) {
      await brokenOff(minute);
      await expectSame(both);
    }
  });

  test('leaves nothing that is wrong beside another, and others finish what it began', async () => {
    await Promise.all([rollUp(serviceId, 3), rollUp(serviceId, 3)]);
    await expectSame(both);
    for (const minute of [4, 5, 6]) await rollUp(serviceId, minute);
    expect((await planOf(serviceId, DAY_MS))?.days).toHaveLength(DAYS);
    await expectSame(both);
  });
});

test('rollups go with the retention of their service, what says that they are valid first, and with the service', async () => {
  const serviceId = newId('service');
  await insert(serviceId, everyHour(3));
  await rollUp(serviceId);
  const expired = new ExpiredRows(w.context.clickhouse);
  const tiers = [{ days: 2, serviceIds: [serviceId] }];
  await expired.remove(METRIC_POINTS, tiers, NOW);
  const oldest = NOW.epochMilliseconds - 2 * DAY_MS;
  const leftOf = async (table: string) =>
    await countOf(`${table} WHERE start < toDateTime(${oldest / 1_000}, 'UTC') AND`, serviceId);
  // One table after another.
  for (const _ of ROLLUP_TABLES) {
    await expired.removeRollups(tiers, NOW);
    await whenDeleted(w.context);
  }
  expect(await Promise.all(ROLLUP_TABLES.map(leftOf))).toEqual([0, 0, 0, 0]);
  // Longer retention again: what is left is what points say.
  const left = everyHour(3).filter(({ at }) => at >= oldest);
  await expectExact(serviceId, left, ALWAYS, BY_HOUR, ['sum', 'last']);
  expect((await planOf(serviceId, HOUR_MS))?.hours.length).toBeGreaterThan(0);
  await new MetricWriter(w.context.clickhouse).deleteService(serviceId);
  await whenDeleted(w.context);
  const rest = await Promise.all(ROLLUP_TABLES.map((table) => countOf(`${table} WHERE`, serviceId)));
  expect(rest).toEqual([0, 0, 0, 0]);
});

/** The store, which fails behind so many commands. */
function brokenOffAfter(commandsMax: number): ClickHouseClient {
  const client = w.context.clickhouse;
  let commands = 0;
  return {
    layout: client.layout,
    database: client.database,
    query: client.query.bind(client),
    command: async (params: Parameters<ClickHouseClient['command']>[0]) => {
      commands += 1;
      if (commands > commandsMax) throw new Error('broken off');
      return await client.command(params);
    },
  } as unknown as ClickHouseClient;
}

async function countOf(from: string, serviceId: Id<'service'>): Promise<number> {
  const result = await w.context.clickhouse.query({
    query: `SELECT count() FROM ${from} service_id = {service:UUID}`,
    query_params: { service: uuidOf(serviceId) },
    format: 'JSONCompactEachRow',
  });
  return Number((await result.json<[string]>())[0]?.[0]);
}
