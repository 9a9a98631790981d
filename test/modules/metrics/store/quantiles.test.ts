import { beforeAll, expect, test } from 'vitest';

import { toRanges } from '#modules/metrics/decide/exponential_buckets.ts';
import type { PointKind } from '#modules/metrics/decide/point.ts';
import { parseSelector } from '#modules/metrics/decide/selector.ts';
import { PointBatch } from '#ingest/admission/point_batch.ts';
import { newId } from '#kernel/ids.ts';
import { fromEpochMilliseconds, Temporal } from '#kernel/time.ts';
import { MetricReader } from '#modules/metrics/store/metric_reader.ts';
import { MetricWriter } from '#modules/metrics/store/metric_writer.ts';
import { RuleReader } from '#modules/rules/store/rule_reader.ts';
import { columnsOf, seriesKey } from '#test/kit/metrics/points.ts';
import { sweep } from '#test/kit/properties.ts';
import { fileWorld } from '#test/kit/world.ts';

const MINUTE = 60_000;
/** Windows that end here hold the samples of the minutes before and of this one. */
const END = Temporal.Instant.from('2027-03-10T12:20:00Z').epochMilliseconds;
const MINUTES = 20;
const BOUNDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, Infinity];
const ROUTES = ['/a', '/b', '/c'];
const WINDOW = 5;

/** Senders with bounds of their own, and what each of them always observes. */
const MIXED = [
  ['a', [1, 5], 3],
  ['b', [0.5, 2, 10], 8],
] as const;

const serviceId = newId('service');
const keptSince = fromEpochMilliseconds(END - 30 * 24 * 60 * MINUTE);
/** Observations of each route, by the minute at whose end they were sent. */
const observed = new Map(ROUTES.map((route, place) => [route, observations(place)]));

let reader: MetricReader;
let rules: RuleReader;
const w = await fileWorld();
beforeAll(async () => {
  reader = new MetricReader(w.context.clickhouse);
  rules = new RuleReader(w.context.clickhouse);
  const batch = new PointBatch();
  const add = (name: string, labels: string[], at: number, value: number, kind: PointKind) =>
    batch.add(batch.addSeries({ name, labels, key: seriesKey(name, labels) }), at, value, kind);
  for (const [route, minutes] of observed) {
    const soFar: number[] = [];
    const sentRanges = new Set<string>();
    for (const [minute, values] of minutes.entries()) {
      soFar.push(...values);
      const at = END - (MINUTES - 1 - minute) * MINUTE;
      for (const bound of BOUNDS) {
        const labels = ['le', bound === Infinity ? '+Inf' : String(bound), 'route', route];
        if (minute === 0) add('classic_bucket', labels, at - MINUTE, 0, 'start');
        add('classic_bucket', labels, at, soFar.filter((value) => value <= bound).length, 'counter');
        add('delta_bucket', labels, at, values.filter((value) => value <= bound).length, 'delta');
      }
      for (const { range, count } of rangesOf(soFar)) {
        const labels = ['route', route, 'vmrange', range];
        if (!sentRanges.has(range)) add('exponential_bucket', labels, at - MINUTE, 0, 'start');
        sentRanges.add(range);
        add('exponential_bucket', labels, at, count, 'counter');
      }
    }
  }
  add('memory', [], END, 7, 'gauge');
  for (const host of ['a', 'b']) {
    for (const minute of [0, 1, 2]) {
      const at = END - minute * MINUTE;
      const beside = (name: string, value: number, kind: PointKind) => add(name, ['host', host], at, value, kind);
      for (const name of ['bounded', 'half_bounded']) {
        for (const [le, share] of [
          ['0', 0],
          ['5', 0.75],
          ['+Inf', 1],
        ] as const) {
          add(`${name}_bucket`, ['host', host, 'le', le], at, share * (300 - minute * 100), 'counter');
        }
        beside(`${name}_count`, 300 - minute * 100, 'counter');
        if (host === 'b' && name === 'half_bounded') continue;
        beside(`${name}_max`, host === 'a' ? 8 : 9, 'gauge');
        beside(`${name}_min`, 4, 'gauge');
      }
    }
  }
  for (const [host, bounds, value] of MIXED) {
    for (const minute of [0, 1, 2]) {
      for (const bound of [...bounds, Infinity]) {
        const labels = ['host', host, 'le', bound === Infinity ? '+Inf' : String(bound)];
        add('mixed_bucket', labels, END - minute * MINUTE, value <= bound ? 300 - minute * 100 : 0, 'counter');
      }
    }
  }
  await new MetricWriter(w.context.clickhouse).insert([{ serviceId, points: columnsOf(batch) }], serviceId);
});

/** Returns the observations of the routes in the window that ends so many minutes before the end. */
function within(minutesBefore: number, routes: readonly string[] = ROUTES): number[] {
  const last = MINUTES - minutesBefore;
  return routes.flatMap((route) =>
    observed
      .get(route)!
      .slice(Math.max(0, last - WINDOW), last)
      .flat(),
  );
}

/** Computes a quantile as Prometheus does, of the observations themselves. */
function ofClassic(quantile: number, values: readonly number[]): number {
  const rank = quantile * values.length;
  const place = BOUNDS.findIndex((bound) => values.filter((value) => value <= bound).length >= rank);
  if (BOUNDS[place] === Infinity) return BOUNDS[place - 1]!;
  const from = BOUNDS[place - 1] ?? 0;
  const below = values.filter((value) => value <= from).length;
  const inside = values.filter((value) => value > from && value <= BOUNDS[place]!).length;
  return from + ((BOUNDS[place]! - from) * (rank - below)) / inside;
}

function exactly(quantile: number, values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(quantile * sorted.length) - 1)]!;
}

const QUANTILES = [0.5, 0.9, 0.95, 0.99];
const questionOf = (metricName: string) => ({
  ruleId: newId('rule'),
  serviceId,
  metricName,
  windowMinutes: WINDOW,
  aggregation: 'avg' as const,
  keptSince,
});

test.each(['classic', 'delta'])('rules get the quantile that the observations give over %s buckets', async (name) => {
  const asked = QUANTILES.flatMap((quantile) => [
    { quantile, routes: ROUTES, question: questionOf(`${name}{quantile="${quantile}"}`) },
    { quantile, routes: ['/b'], question: questionOf(`${name}{quantile="${quantile}",route="/b"}`) },
  ]);
  for (const minutesBefore of sweep([0, 7], 2, name === 'delta' ? 1 : 0)) {
    const now = fromEpochMilliseconds(END - minutesBefore * MINUTE);
    const { values, failed } = await rules.evaluate(
      asked.map(({ question }) => question),
      now,
    );
    expect([...failed]).toEqual([]);
    for (const { quantile, routes, question } of asked) {
      const meant = ofClassic(quantile, within(minutesBefore, routes));
      expect(values.get(question.ruleId), question.metricName).toBeCloseTo(meant, 9);
    }
  }
});

test.each([
  ['bounded', 'of all senders', { least: 4, greatest: 9, isMoreThan: false }],
  ['half_bounded', 'of some of them count for nothing', { least: 0, greatest: 5, isMoreThan: true }],
])('the least and greatest observations of %s %s', async (name, _, { least, greatest, isMoreThan }) => {
  const questions = [0, 1].map((quantile) => questionOf(`${name}{quantile="${quantile}"}`));
  const { values, moreThan } = await rules.evaluate(questions, fromEpochMilliseconds(END));
  for (const [place, meant] of [
    { value: least, isMoreThan: false },
    { value: greatest, isMoreThan },
  ].entries()) {
    const question = questions[place]!;
    const { metricName } = question;
    expect({ value: values.get(question.ruleId), isMoreThan: moreThan.has(question.ruleId) }).toEqual(meant);
    const window = {
      windowMinutes: WINDOW,
      firstMs: END - MINUTE,
      lastMs: END,
      aggregation: 'avg',
      keptSince,
    } as const;
    const history = await reader.readHistory({ serviceId, selector: parseSelector(metricName), ...window });
    expect(history.values).toEqual([meant.value, meant.value]);
    expect([...history.moreThan]).toEqual(meant.isMoreThan ? [0, 1] : []);
    // One of them is split by a label that no series has.
    const split = place === 0 ? null : { label: 'env', values: [] };
    const [shown] = await reader.queryChart({ ...chart(metricName), split, columnMs: null });
    expect(shown?.points.at(-1)).toEqual({
      at: END,
      value: meant.value,
      ...(meant.isMoreThan && { isMoreThan: true }),
    });
  }
});

test.each(
  sweep(
    [
      [0.25, 2 + 25 / 37.5],
      [0.75, 6],
    ],
    2,
  ),
)('of senders with different bounds the quantile %s is the same everywhere, %s', async (quantile, meant) => {
  const metricName = `mixed{quantile="${quantile}"}`;
  const question = questionOf(metricName);
  const { values } = await rules.evaluate([question], fromEpochMilliseconds(END));
  expect(values.get(question.ruleId)).toBeCloseTo(meant, 9);
  const window = { windowMinutes: WINDOW, firstMs: END, lastMs: END, aggregation: 'avg', keptSince } as const;
  const history = await reader.readHistory({ serviceId, selector: parseSelector(metricName), ...window });
  expect(history.values[0]).toBeCloseTo(meant, 9);
  const [shown] = await reader.queryChart({ ...chart(metricName), split: null, columnMs: null });
  expect(shown?.points.at(-1)?.value).toBeCloseTo(meant, 9);
  const parts = await reader.queryChart({
    ...chart(metricName),
    split: { label: 'host', values: ['a', 'b'] },
    columnMs: null,
  });
  expect(parts.map(({ points }) => points.at(-1)?.value)).toEqual([1 + 4 * quantile, 2 + 8 * quantile]);
  expect((await reader.rankValues(chart(metricName), 'host', 2)).values).toEqual(['b', 'a']);
});

test('split by a label, each part has its own greatest observation, and is ranked by it', async () => {
  const query = chart('bounded{quantile="1"}');
  const ranked = await reader.rankValues(query, 'host', 2);
  expect(ranked.values).toEqual(['b', 'a']);
  const parts = await reader.queryChart({ ...query, split: { label: 'host', values: ['a', 'b'] }, columnMs: null });
  expect(parts.map(({ points }) => points.at(-1)?.value)).toEqual([8, 9]);
});

test('over exponential buckets they differ from it by less than a bucket', async () => {
  const asked = QUANTILES.map((quantile) => ({
    quantile,
    question: questionOf(`exponential{quantile="${quantile}"}`),
  }));
  const { values } = await rules.evaluate(
    asked.map(({ question }) => question),
    fromEpochMilliseconds(END),
  );
  for (const { quantile, question } of asked) {
    const exact = exactly(quantile, within(0));
    expect(Math.abs(values.get(question.ruleId)! / exact - 1), question.metricName).toBeLessThan(0.091);
  }
});

test('a rule about a quantile without observations, or of a gauge, has no data', async () => {
  const asked = [questionOf('nothing{quantile="0.5"}'), questionOf('memory{quantile="0.5"}')];
  const { values, failed } = await rules.evaluate(asked, fromEpochMilliseconds(END));
  expect([[...values.values()], [...failed]]).toEqual([[null, null], []]);
});

test('the history of a rule over buckets of any kind is what its evaluation measures', async () => {
  const questions = ['classic', 'exponential', 'delta'].map((name) =>
    questionOf(`${name}{quantile="0.9",route!="/c"}`),
  );
  const window = { windowMinutes: WINDOW, firstMs: END - 12 * MINUTE, lastMs: END + 4 * MINUTE, keptSince };
  const asked = { serviceId, aggregation: 'avg' as const, ...window };
  const histories = await Promise.all(
    questions.map(({ metricName }) => reader.readHistory({ ...asked, selector: parseSelector(metricName) })),
  );
  for (const minute of sweep([-12, -11, -8, -1, 0, 1, 3, 4], 2)) {
    const { values } = await rules.evaluate(questions, fromEpochMilliseconds(END + minute * MINUTE));
    const found = histories.map((history) => history.values[minute + 12]?.toPrecision(9));
    expect(found, `minute ${minute}`).toEqual(questions.map(({ ruleId }) => values.get(ruleId)?.toPrecision(9)));
  }
});

test('a history of a quantile of a gauge is refused and says why', async () => {
  const selector = parseSelector('memory{quantile="0.5"}');
  const asked = {
    serviceId,
    selector,
    aggregation: 'avg',
    windowMinutes: 5,
    firstMs: END,
    lastMs: END,
    keptSince,
  } as const;
  await expect(reader.readHistory(asked)).rejects.toMatchObject({ code: 'invalid_input' });
});

const chart = (metricName: string) => ({
  serviceId,
  selector: parseSelector(metricName),
  aggregation: 'avg' as const,
  buckets: { fromMs: END - (MINUTES - 1) * MINUTE, toMs: END + MINUTE, stepMs: MINUTE },
  keptSince,
});

test('a chart of a quantile is split by a label, the greatest first and the others together', async () => {
  const query = chart('classic{quantile="0.9"}');
  const { values, count } = await reader.rankValues(query, 'route', 2);
  const byQuantile = ROUTES.toSorted(
    (a, b) => ofClassic(0.9, observed.get(b)!.flat()) - ofClassic(0.9, observed.get(a)!.flat()),
  );
  expect([values, count]).toEqual([byQuantile.slice(0, 2), 3]);
  const parts = await reader.queryChart({ ...query, split: { label: 'route', values }, columnMs: null });
  expect(parts.map(({ part }) => part)).toEqual([0, 1, 2]);
  for (const { part, points } of parts) {
    const route = part === 0 ? byQuantile[2]! : values[part - 1]!;
    expect(points.map(({ at }) => at)).toEqual(
      observed.get(route)!.map((_, minute) => END - (MINUTES - 1 - minute) * MINUTE),
    );
    for (const [minute, { value }] of points.entries()) {
      expect(value).toBeCloseTo(ofClassic(0.9, observed.get(route)![minute]!), 9);
    }
  }
});

test('of a long chart each column keeps its least and its greatest quantile', async () => {
  const query = chart('exponential{quantile="0.9"}');
  const [all] = await reader.queryChart({ ...query, split: null, columnMs: null });
  const columnMs = 4 * MINUTE;
  const [reduced] = await reader.queryChart({ ...query, split: null, columnMs });
  const columns = Map.groupBy(all!.points, ({ at }) => Math.floor(at / columnMs));
  const meant = [...columns.values()].flatMap((points) => {
    const values = points.map(({ value }) => value);
    return [Math.min(...values), Math.max(...values)];
  });
  expect(new Set(reduced!.points.map(({ value }) => value))).toEqual(new Set([...meant, all!.points.at(-1)!.value]));
});

/** Skewed, as durations are, and different for each route and minute. */
function observations(place: number): number[][] {
  let state = 7 + place;
  const next = (): number => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
  return Array.from({ length: MINUTES }, (_, minute) =>
    Array.from(
      { length: 40 },
      () => 0.02 * (place + 1) * (1 + (minute % 4)) * Math.exp(1.2 * (next() + next() + next() - 1.5)),
    ),
  );
}

function rangesOf(values: readonly number[]) {
  const scale = 6;
  const base = 2 ** (2 ** -scale);
  const indexes = values.map((value) => Math.ceil(Math.log(value) / Math.log(base)) - 1);
  const offset = Math.min(...indexes);
  const counts = Array.from({ length: Math.max(...indexes) - offset + 1 }, () => 0);
  for (const index of indexes) counts[index - offset]! += 1;
  const nothing = { offset: 0, counts: [] };
  return toRanges({ scale, zeroCount: 0, zeroThreshold: 0, positive: { offset, counts }, negative: nothing })!;
}
