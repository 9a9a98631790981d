import { inspect } from 'node:util';

import fc, { slowRuns, sweep } from '#test/kit/properties.ts';
import { RE2JS } from 're2js';
import { expect, test } from 'vitest';

import { AGGREGATIONS } from '#modules/metrics/decide/aggregation.ts';
import { ruleWindow } from '#modules/rules/decide/breach.ts';
import { type PointKind, POINT_KINDS } from '#modules/metrics/decide/point.ts';
import { anchoredPattern } from '#modules/metrics/decide/pattern_size.ts';
import { parseExpression } from '#modules/metrics/decide/selector.ts';
import type { LabelMatcher, MetricSelector } from '#modules/metrics/decide/read_selector.ts';
import { PointBatch } from '#ingest/admission/point_batch.ts';
import { AppError } from '#kernel/errors.ts';
import { type Id, newId } from '#kernel/ids.ts';
import { Temporal } from '#kernel/time.ts';
import type { ClickHouseClient } from '#storage/clickhouse/clickhouse.ts';
import { MetricWriter } from '#modules/metrics/store/metric_writer.ts';
import { type RuleQuestion, RuleReader } from '#modules/rules/store/rule_reader.ts';
import { aggregateOnce } from '#test/kit/metrics/aggregate_model.ts';
import { columnsOf, seriesKey } from '#test/kit/metrics/points.ts';
import { fileWorld } from '#test/kit/world.ts';

const w = await fileWorld();
const writer = new MetricWriter(w.context.clickhouse);

const NOW = Temporal.Instant.from('2027-03-10T00:02:30.500Z');

interface Point {
  readonly service: number;
  readonly metric: string;
  readonly labels: readonly [string, string][];
  readonly at: number;
  readonly value: number;
  readonly kind: PointKind;
}

/** Two services, metrics with several series, samples around midnight, some shortly ahead of now. */
const point: fc.Arbitrary<Point> = fc.record({
  service: fc.integer({ min: 0, max: 1 }),
  metric: fc.constantFrom('m', 'odd {"}\n'),
  labels: fc.constantFrom<[string, string][]>(
    [],
    [['code', '500']],
    [['code', '503']],
    [
      ['code', '200'],
      ['zone', "it's (\\"],
    ],
  ),
  at: fc
    .oneof(
      fc.integer({ min: -20 * 60, max: 60 }).map((second) => second * 1_000),
      fc.constantFrom(-60_000, -59_999, -60_001, -360_000, -359_999, 0, 1),
      fc.integer({ min: -20 * 60_000, max: 60_000 }),
    )
    .map((offset) => NOW.epochMilliseconds + offset),
  value: fc.oneof(fc.integer({ min: 0, max: 6 }), fc.integer({ min: -1_000, max: 1_000 })),
  kind: fc.oneof(fc.constant('counter' as const), fc.constantFrom(...POINT_KINDS)),
});

/** Batches as they arrive: disordered, and some a second time. */
const batches = fc
  .array(fc.array(point, { minLength: 1, maxLength: 40 }), { minLength: 1, maxLength: 3 })
  .chain((sent) => fc.subarray(sent).map((repeated) => [...sent, ...repeated]));

const SELECTORS = [
  'm',
  'm{code="500"}',
  'm{code!="500"}',
  'm{code=~"5.."}',
  'm{code!~"5..|2.."}',
  'm{missing=""}',
  'm{zone="it\'s (\\\\",code=~".*"}',
  '{"odd {\\"}\\n",code=~"5.*"}',
  '{"odd {\\"}\\n"}',
  'nothing{code="500"}',
  'm{code=~"5.."} / m * 100',
  'm / {"odd {\\"}\\n"}',
  'm{code="503"} / nothing',
];

/** Everything that rules can ask for, of both services: seven has no factor in common with the 36 questions of each selector. */
const ASKED = sweep(
  [0, 1].flatMap((service) =>
    SELECTORS.flatMap((metricName) =>
      [1, 5, 6, 12, 16, 10_080].flatMap((windowMinutes) =>
        AGGREGATIONS.map((aggregation) => ({ service, metricName, windowMinutes, aggregation })),
      ),
    ),
  ),
  7,
);

test('every rule gets the value that the reference says, asked for together with all others', async () => {
  const reader = new RuleReader(w.context.clickhouse);
  await fc.assert(
    fc.asyncProperty(batches, fc.boolean(), async (sent, isShortlyKept) => {
      const services = [newId('service'), newId('service')];
      for (const [index, batch] of sent.entries()) {
        const deliveries = services.map((serviceId, service) => ({
          serviceId,
          points: columnsOf(toBatch(batch.filter((one) => one.service === service))),
        }));
        await writer.insert(deliveries, `${services[0]}-${index}`);
      }
      const keptSince = [NOW.subtract({ minutes: isShortlyKept ? 7 : 30_000 }), NOW.subtract({ minutes: 40_000 })];
      const questions = ASKED.map(({ service, ...asked }): RuleQuestion => ({
        ...asked,
        ruleId: newId('rule'),
        serviceId: services[service]!,
        keptSince: keptSince[service]!,
      }));
      const { values, failed } = await reader.evaluate(questions, NOW);
      expect([...failed]).toEqual([]);
      for (const [index, { ruleId, ...asked }] of questions.entries()) {
        const { service } = ASKED[index]!;
        const kept = keptSince[service]!.epochMilliseconds;
        const found = sent.flat().filter((one) => one.service === service && one.at >= kept);
        const { fromMs, toMs } = ruleWindow(asked.windowMinutes, NOW);
        const { sides, factor } = parseExpression(asked.metricName);
        const [own = null, divisor] = sides.map((side) =>
          aggregateOnce(seriesOf(found, side), asked.aggregation, fromMs, toMs),
        );
        const isRatio = divisor !== undefined;
        const hasRatio = own !== null && isRatio && divisor !== null && divisor !== 0;
        const meant = isRatio ? (hasRatio ? (own / divisor) * factor : null) : own;
        // All values are whole numbers but averages, which the store may add up in another order.
        expect(rounded(values.get(ruleId)), describe(asked)).toBe(rounded(meant));
      }
    }),
    { numRuns: slowRuns(12) },
  );
});

test('a late sample counts as long as the window holds its time', async () => {
  const reader = new RuleReader(w.context.clickhouse);
  const serviceId = newId('service');
  const question = questionOf(serviceId, { metricName: 'm', windowMinutes: 5, aggregation: 'max' });
  const at = NOW.subtract({ seconds: 200 }).epochMilliseconds;
  expect((await reader.evaluate([question], NOW)).values.get(question.ruleId)).toBeNull();
  await writer.insert([{ serviceId, points: columnsOf(toBatch([{ metric: 'm', at, value: 9 }])) }], serviceId);
  expect((await reader.evaluate([question], NOW)).values.get(question.ruleId)).toBe(9);
  const later = NOW.add({ seconds: 100 });
  expect((await reader.evaluate([question], later)).values.get(question.ruleId)).toBeNull();
});

test('a rule that cannot be evaluated holds up no other, and is left alone for a minute', async () => {
  const serviceId = newId('service');
  const points = toBatch([{ metric: 'm', at: NOW.epochMilliseconds, value: 9, labels: [['code', '500']] }]);
  await writer.insert([{ serviceId, points: columnsOf(points) }], serviceId);
  const asked: string[] = [];
  const reader = new RuleReader(refusing(w.context.clickhouse, 'poison', asked));
  const good = Array.from({ length: 6 }, (_, index) =>
    questionOf(serviceId, { metricName: `m{code=~"5.*",other!~"${index}."}` }),
  );
  const bad = questionOf(serviceId, { metricName: 'm{code=~"poison"}' });
  const unreadable = questionOf(serviceId, { metricName: 'm{' });
  const questions = [...good.slice(0, 3), bad, unreadable, ...good.slice(3)];

  const { values, failed } = await reader.evaluate(questions, NOW);
  expect([...failed.keys()].sort()).toEqual([bad.ruleId, unreadable.ruleId].sort());
  expect(good.map(({ ruleId }) => values.get(ruleId))).toEqual(good.map(() => 9));

  asked.length = 0;
  const again = await reader.evaluate(questions, NOW.add({ seconds: 5 }));
  expect([...again.failed]).toEqual([]);
  expect([again.values.size, asked.length]).toEqual([good.length, 1]);
  expect((await reader.evaluate(questions, NOW.add({ seconds: 65 }))).failed.size).toBe(2);
});

test('ratios cost no more queries, rows and bytes than twice as many rules on their sides', async () => {
  const services = Array.from({ length: 5 }, () => newId('service'));
  const points = [0, 1, 2, 3].flatMap((minutes) =>
    ['500', '503', '200'].flatMap((code) =>
      ['errors', 'requests'].map((metric) => {
        const at = NOW.epochMilliseconds - minutes * 60_000;
        return {
          metric,
          labels: [['code', code]] as [string, string][],
          at,
          value: 10 - minutes,
          kind: 'counter' as const,
        };
      }),
    ),
  );
  await writer.insert(
    services.map((serviceId) => ({ serviceId, points: columnsOf(toBatch(points)) })),
    newId('req'),
  );
  const sides = ['errors{code=~"5.."}', 'requests'];
  const costOf = async (expressions: readonly string[]) => {
    const store = counted(w.context.clickhouse);
    const reader = new RuleReader(store.client);
    const asked = services.flatMap((serviceId) =>
      expressions.map((metricName) => questionOf(serviceId, { metricName, aggregation: 'sum' })),
    );
    // The labels of a series are looked up once, when it is seen for the first time.
    await reader.evaluate(asked, NOW);
    const before = { ...store.cost };
    const { values } = await reader.evaluate(asked, NOW);
    expect([...values.values()].every((value) => value !== null && value > 0)).toBe(true);
    const { queries, rows, bytes } = store.cost;
    return { queries: queries - before.queries, rows: rows - before.rows, bytes: bytes - before.bytes };
  };
  const [ratios, rules] = [await costOf([sides.join(' / ')]), await costOf(sides)];
  console.info(`5 ratios: ${JSON.stringify(ratios)}; 10 rules on their sides: ${JSON.stringify(rules)}`);
  expect(ratios).toEqual(rules);
  expect(ratios.rows).toBeGreaterThan(0);
});

test('an evaluation of which nothing is known throws', async () => {
  const questions = [questionOf(newId('service'), {}), questionOf(newId('service'), {})];
  const broken = new RuleReader(refusing(w.context.clickhouse, '', []));
  await expect(broken.evaluate(questions, NOW)).rejects.toThrow('refused');
  const away = new RuleReader({
    query: () => Promise.reject(Object.assign(new Error('gone'), { code: 'ECONNREFUSED' })),
  } as unknown as ClickHouseClient);
  await expect(away.evaluate(questions, NOW)).rejects.toBeInstanceOf(AppError);
});

function rounded(value: number | null | undefined): number | null | undefined {
  return value === null || value === undefined ? value : Number(value.toPrecision(9));
}

function questionOf(
  serviceId: Id<'service'>,
  asked: Partial<Pick<RuleQuestion, 'metricName' | 'windowMinutes' | 'aggregation'>>,
): RuleQuestion {
  return {
    ruleId: newId('rule'),
    serviceId,
    metricName: 'm',
    windowMinutes: 5,
    aggregation: 'avg',
    keptSince: NOW.subtract({ hours: 720 }),
    ...asked,
  };
}

/** The store, with the numbers of queries, and of rows and bytes that it has read for them. */
function counted(client: ClickHouseClient) {
  const cost = { queries: 0, rows: 0, bytes: 0 };
  const query = async (parameters: Parameters<ClickHouseClient['query']>[0]) => {
    const { statistics } = await (await client.query({ ...parameters, format: 'JSON' })).json();
    cost.queries += 1;
    cost.rows += statistics?.rows_read ?? 0;
    cost.bytes += statistics?.bytes_read ?? 0;
    return await client.query(parameters);
  };
  return { cost, client: { query } as unknown as ClickHouseClient };
}

/** The store, refusing every query whose parameters hold the text; `asked` counts them all. */
function refusing(client: ClickHouseClient, text: string, asked: string[]): ClickHouseClient {
  return {
    query: (parameters: Parameters<ClickHouseClient['query']>[0]) => {
      const said = inspect(parameters.query_params, { depth: null, maxArrayLength: null });
      asked.push(said);
      return said.includes(text) ? Promise.reject(new Error('refused')) : client.query(parameters);
    },
  } as unknown as ClickHouseClient;
}

/** The samples of each series that the selector means. */
function seriesOf(points: readonly Point[], { name, matchers }: MetricSelector): Point[][] {
  const meant = points.filter(
    ({ metric, labels }) => metric === name && matchers.every((matcher) => meets(labels, matcher)),
  );
  return [...Map.groupBy(meant, ({ labels }) => JSON.stringify(labels)).values()];
}

function meets(labels: Point['labels'], { label, operator, value }: LabelMatcher): boolean {
  const found = labels.find(([name]) => name === label)?.[1] ?? '';
  const isMatch = () => RE2JS.compile(anchoredPattern(value)).matcher(found).find();
  switch (operator) {
    case '=':
      return found === value;
    case '!=':
      return found !== value;
    case '=~':
      return isMatch();
    case '!~':
      return !isMatch();
  }
}

function toBatch(points: readonly (Partial<Point> & Pick<Point, 'metric' | 'at' | 'value'>)[]): PointBatch {
  const batch = new PointBatch();
  for (const { metric, labels = [], at, value, kind = 'gauge' } of points) {
    const series = { name: metric, labels: labels.flat(), key: seriesKey(metric, labels.flat()) };
    batch.add(batch.addSeries(series), at, value, kind);
  }
  return batch;
}

function describe({ metricName, aggregation, windowMinutes }: Omit<RuleQuestion, 'ruleId'>): string {
  return `${aggregation} of ${metricName} over ${windowMinutes} min`;
}
