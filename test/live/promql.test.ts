import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import type { Aggregation } from '#modules/metrics/decide/aggregation.ts';
import { parseSelector } from '#modules/metrics/decide/selector.ts';
import { selectorText } from '#modules/metrics/decide/selector_text.ts';
import type { Written } from '#infra/bench/metrics/write_request.ts';
import { prometheusVersion } from '#infra/bench/metrics/prometheus.ts';
import { type Id, newId } from '#kernel/ids.ts';
import { fromEpochMilliseconds } from '#kernel/time.ts';
import { MetricReader } from '#modules/metrics/store/metric_reader.ts';
import { MetricWriter } from '#modules/metrics/store/metric_writer.ts';
import { type RuleQuestion, RuleReader } from '#modules/rules/store/rule_reader.ts';
import { canRunWith } from '#test/kit/programs/debian_packages.ts';
import fc from '#test/kit/properties.ts';
import { type World, world } from '#test/kit/world.ts';
import { pointsOf, type PromQl, startPromQl } from '#test/live/promql.ts';

const CASES = 1_000;
const STEP_MS = 15_000;
/** Every sample stands on this grid; the newest is some minutes old, as the tests say all themselves. */
const NOW_MS = Math.floor(Date.now() / STEP_MS) * STEP_MS;
const STEPS = 200;

const canRun = canRunWith('prometheus', prometheusVersion() !== null);

describe.skipIf(!canRun)('the same samples in Prometheus', () => {
  let w: World;
  let promql: PromQl;
  let writer: MetricWriter;

  beforeAll(async () => {
    w = await world({ keepOpen: true });
    promql = await startPromQl();
    writer = new MetricWriter(w.context.clickhouse);
  }, 120_000);
  afterAll(async () => {
    await promql?.close();
    await w?.close();
  });

  async function send(serviceId: Id<'service'>, series: readonly Written[], kind: 'counter' | 'gauge'): Promise<void> {
    await promql.write(series);
    await writer.insert([{ serviceId, points: pointsOf(series, kind) }], newId('req'));
  }

  test(`${CASES} random ratios have the value that Prometheus gives, counters with resets and gaps included`, async () => {
    const seed = Number(process.env['PROMQL_SEED'] ?? 20_281_129);
    const cases = fc.sample(RATIO_CASE, { numRuns: CASES, seed });
    const serviceId = newId('service');
    for (const kind of ['counter', 'gauge'] as const) {
      const series = cases.flatMap((example, place) => (kindOf(example) === kind ? seriesOf(example, place) : []));
      for (let from = 0; from < series.length; from += 500) await send(serviceId, series.slice(from, from + 500), kind);
    }
    const reader = new RuleReader(w.context.clickhouse);
    const questions = cases.map((example, place): RuleQuestion => ({
      ruleId: newId('rule'),
      serviceId,
      metricName: `${nameOf('e', place)}${example.selector} / ${nameOf('r', place)} * ${example.factor}`,
      windowMinutes: example.windowMinutes,
      aggregation: example.aggregation,
      keptSince: fromEpochMilliseconds(NOW_MS - 86_400_000),
    }));
    const counts = { values: 0, 'without data': 0, 'divided by nothing': 0, 'by increase()': 0 };
    for (const ageSteps of AGES) {
      const atMs = NOW_MS - ageSteps * STEP_MS;
      const { values } = await reader.evaluate(questions, fromEpochMilliseconds(atMs));
      for (const [place, one] of cases.entries()) {
        const question = questions[place]!;
        const sides = [`${nameOf('e', place)}${one.selector}`, nameOf('r', place)];
        const expressions = [sides.map((side) => promqlOf(one, side)).join(' / ')];
        if (one.isWhole && one.aggregation === 'sum' && one.isCounter) {
          expressions.push(sides.map((side) => `sum(increase(${side}[${one.windowMinutes}m]))`).join(' / '));
          counts['by increase()'] += 1;
        }
        for (const expression of expressions) {
          const theirs = (await promql.evaluate(`${expression} * ${one.factor}`, atMs)).get('');
          const what = `seed ${seed}, case ${place}, ${ageSteps} steps ago: ${one.aggregation} of ${question.metricName} over ${one.windowMinutes} min`;
          if (theirs === undefined) counts['without data'] += 1;
          else if (Number.isFinite(theirs)) counts.values += 1;
          else counts['divided by nothing'] += 1;
          const expected = theirs === undefined || !Number.isFinite(theirs) ? null : theirs;
          expect(rounded(values.get(question.ruleId)), `${what}; ${expression}`).toBe(rounded(expected));
        }
      }
    }
    console.log(
      `Prometheus ${promql.version}, seed ${seed}, ${CASES} cases at ${AGES.length} times: ${JSON.stringify(counts)}`,
    );
  }, 600_000);

  test('selectors mean the series that they mean in Prometheus', async () => {
    const serviceId = newId('service');
    const series = SERIES.map((labels, place): Written => ({
      labels: { __name__: 'chosen', ...labels },
      samples: [{ at: NOW_MS, value: 2 ** place }],
    }));
    await send(serviceId, series, 'gauge');
    const selectors = SELECTORS.filter((text) => isReadable(text));
    const questions = selectors.map((metricName): RuleQuestion => ({
      ruleId: newId('rule'),
      serviceId,
      metricName,
      windowMinutes: 5,
      aggregation: 'last',
      keptSince: fromEpochMilliseconds(NOW_MS - 86_400_000),
    }));
    const { values, failed } = await new RuleReader(w.context.clickhouse).evaluate(
      questions,
      fromEpochMilliseconds(NOW_MS),
    );
    expect([...failed]).toEqual([]);
    const charts = new MetricReader(w.context.clickhouse);
    const buckets = { fromMs: NOW_MS, toMs: NOW_MS + 60_000, stepMs: 60_000 };
    const keptSince = fromEpochMilliseconds(NOW_MS - 86_400_000);
    for (const [place, text] of selectors.entries()) {
      const theirs = (await promql.evaluate(`sum(${text})`, NOW_MS)).get('') ?? null;
      expect(values.get(questions[place]!.ruleId), text).toBe(theirs);
      const selector = parseSelector(text);
      const [bucket] = await charts.query({ serviceId, selector, aggregation: 'last', buckets, keptSince });
      expect(bucket?.value ?? null, text).toBe(theirs);
    }
    for (const text of SELECTORS.filter((selector) => !isReadable(selector))) {
      await expect(promql.evaluate(`sum(${text})`, NOW_MS), text).rejects.toThrow(/parse error|invalid|error parsing/);
    }
    console.log(
      `Prometheus ${promql.version}: ${selectors.length} selectors mean the same, ${SELECTORS.length - selectors.length} are refused by both`,
    );
    expect(selectors.length).toBeGreaterThanOrEqual(249);
  }, 300_000);
});

const AGES = [0, 17, 60];

interface RatioCase {
  readonly isCounter: boolean;
  readonly aggregation: Aggregation;
  readonly windowMinutes: number;
  readonly factor: number;
  readonly selector: string;
  /** Whether every series has a sample at the ends of each window, so that `increase` extrapolates nothing. */
  readonly isWhole: boolean;
  readonly series: readonly { readonly isError: boolean; readonly status: string; readonly steps: readonly Step[] }[];
}

interface Step {
  readonly rise: number;
  readonly isReset: boolean;
  readonly isGap: boolean;
}

const step = fc.record({
  rise: fc.oneof({ weight: 1, arbitrary: fc.constant(0) }, { weight: 2, arbitrary: fc.integer({ min: 0, max: 40 }) }),
  isReset: fc.integer({ min: 0, max: 29 }).map((draw) => draw === 0),
  isGap: fc.integer({ min: 0, max: 5 }).map((draw) => draw === 0),
});

const RATIO_CASE: fc.Arbitrary<RatioCase> = fc.record({
  isCounter: fc.integer({ min: 0, max: 3 }).map((draw) => draw > 0),
  aggregation: fc.oneof(
    { weight: 4, arbitrary: fc.constant('sum' as const) },
    { weight: 1, arbitrary: fc.constantFrom<Aggregation>('avg', 'min', 'max', 'last', 'count') },
  ),
  windowMinutes: fc.constantFrom(1, 2, 5, 10, 20),
  factor: fc.constantFrom(1, 100, 0.25, -3),
  selector: fc.constantFrom(
    '',
    '{status=~"5.."}',
    '{status!="200"}',
    '{status="500"}',
    '{status=~"4..|5.."}',
    '{none="x"}',
  ),
  isWhole: fc.boolean(),
  series: fc.uniqueArray(
    fc.record({
      isError: fc.boolean(),
      status: fc.constantFrom('200', '404', '500', '503'),
      // A short list is drawn over and over: 200 steps of each series would be slow to draw.
      steps: fc.array(step, { minLength: 7, maxLength: 40 }),
    }),
    { minLength: 1, maxLength: 6, selector: ({ isError, status }) => `${isError} ${status}` },
  ),
});

const kindOf = ({ isCounter }: RatioCase) => (isCounter ? 'counter' : 'gauge');
const nameOf = (side: 'e' | 'r', place: number): string => `${side}_${place}_total`;

function seriesOf({ isCounter, isWhole, windowMinutes, series }: RatioCase, place: number): Written[] {
  const ends = new Set(AGES.flatMap((age) => [age, age + (windowMinutes * 60_000) / STEP_MS]));
  return series.flatMap(({ isError, status, steps }) => {
    let value = 5;
    let missing = 0;
    let sent = 0;
    const samples = Array.from({ length: STEPS }, (_, index) => {
      const { rise, isReset, isGap } = steps[index % steps.length]!;
      const age = STEPS - 1 - index;
      if (isCounter) value = isReset ? rise : value + rise;
      else value = rise - 20;
      // Some gaps last for minutes, but no longer than Prometheus looks back.
      missing = isGap && missing === 0 ? (rise % 17) + 1 : Math.max(0, missing - 1);
      if (missing > 0 && !(isWhole && ends.has(age))) return [];
      // A fall by less than an eighth is no restart here, while it is one to Prometheus.
      if (isCounter && value < sent && (sent - value) * 8 < sent) value = Math.floor(sent / 2);
      sent = value;
      return [{ at: NOW_MS - age * STEP_MS, value }];
    }).flat();
    return [{ labels: { __name__: nameOf(isError ? 'e' : 'r', place), status }, samples }];
  });
}

/** Returns the PromQL that means exactly what the product's aggregation does: windows hold their end, not their beginning. */
function promqlOf({ aggregation, windowMinutes, isCounter }: RatioCase, side: string): string {
  const range = `${side}[${windowMinutes * 60_000 - 1}ms]`;
  switch (aggregation) {
    case 'avg':
      return `(sum(sum_over_time(${range})) / sum(count_over_time(${range})))`;
    case 'min':
      return `min(min_over_time(${range}))`;
    case 'max':
      return `max(max_over_time(${range}))`;
    case 'count':
      return `sum(count_over_time(${range}))`;
    case 'last':
      return `sum(last_over_time(${range}))`;
    case 'sum': {
      if (!isCounter) return `sum(sum_over_time(${range}))`;
      // What each scrape adds: nothing is extrapolated, and a reset counts from zero, as `increase` does it.
      const before = `${side} offset ${STEP_MS / 1_000}s`;
      const rise = `((${side} - ${before}) >= 0 or (${side} + 0) < ${before})`;
      const grown = `sum(sum_over_time(${rise}[${windowMinutes * 60_000 - 1}ms:${STEP_MS / 1_000}s]))`;
      const hasSamples = `sum(count_over_time(${range}))`;
      return `((${grown} or ${hasSamples} * 0) and ${hasSamples})`;
    }
  }
}

function rounded(value: number | null | undefined): number | null | undefined {
  return typeof value === 'number' ? Number(value.toPrecision(9)) + 0 : value;
}

const VALUES = [
  '',
  'a',
  'A',
  'ab',
  '500',
  '503',
  '200',
  '/pay',
  '/pay/1',
  'a b',
  'a.b',
  'a\\b',
  'a"b',
  'é',
  'ß',
  '日本',
  'x|y',
  '(',
  '$',
  '^a',
  'a*',
  '{}',
  '-',
  '😀',
];
/** Fifty-two series at most, so that a sum says which of them are meant. */
const SERIES = VALUES.flatMap((value, place) => [
  { code: value, zone: ['eu', 'us', ''][place % 3] ?? '' },
  ...(place % 3 === 0 ? [{ code: value, zone: 'ap', extra: 'x' }] : []),
]).map((labels) => Object.fromEntries(Object.entries(labels).filter(([, value]) => value !== '')));

const PATTERNS = [
  '',
  '.*',
  '.+',
  '.',
  '..',
  'a',
  'A',
  'a|A',
  '(?i)a',
  '(?i:A)b?',
  '5..',
  '5.*|2.*',
  '50[03]',
  '[45]..',
  '[^5].*',
  '\\d+',
  '\\D+',
  '\\w+',
  '\\W',
  '\\s',
  'a\\sb',
  'a.b',
  'a\\.b',
  'a\\\\b',
  'a"b',
  '[[:alpha:]]+',
  '[[:digit:]]{3}',
  '\\p{L}',
  '\\pL+',
  '\\p{Han}+',
  '\\PN+',
  '/pay',
  '/pay(/.*)?',
  '/pay/\\d',
  '(a|b)+',
  '(?:a|ab)',
  'a{1,2}',
  'a{2}',
  'a?b?',
  'a*',
  'a\\*',
  '\\^a',
  '^a',
  'a$',
  '^$',
  '$',
  '\\$',
  'x|y',
  'x\\|y',
  '\\(',
  '\\{\\}',
  '\\Qa.b\\E',
  '\\Qa*\\E',
  'é|ß',
  '日.',
  '[日本]+',
  '\\x{1F600}',
  '.{2}',
  '(?s).',
  '(?U)a+',
  '\\bab\\b',
  'ab|',
  '|',
  '-|é',
  '[a-]',
  '(?P<n>5)00',
  '5(0)(0|3)',
  '[\\d]+',
  '\\A500\\z',
  '.*0',
  '.*[^0]',
];
const REFUSED = ['(?=a)', '(?!a)', 'a(', 'a)(b', '[a', '*', 'a**', '\\1', 'a{1001}', '\\8', '(?<=a)b', '\\p{Nope}'];

const condition = (label: string, operator: '=' | '!=' | '=~' | '!~', value: string) => ({ label, operator, value });
const SELECTORS: readonly string[] = [
  'chosen',
  'chosen{}',
  ...VALUES.flatMap((value) => [
    selectorText('chosen', [condition('code', '=', value)]),
    selectorText('chosen', [condition('code', '!=', value), condition('zone', '!=', 'us')]),
  ]),
  ...[...PATTERNS, ...REFUSED].flatMap((pattern) => [
    selectorText('chosen', [condition('code', '=~', pattern)]),
    selectorText('chosen', [condition('code', '!~', pattern)]),
    selectorText('chosen', [condition('code', '=~', pattern), condition('zone', '!~', 'u.|')]),
  ]),
  ...['eu', 'eu|', '.*', 'x?', '.+'].flatMap((pattern) => [
    selectorText('chosen', [condition('extra', '=~', pattern)]),
    selectorText('chosen', [condition('nothing', '!~', pattern)]),
  ]),
  "chosen{code='a\"b'}",
  'chosen{code=`a\\b`}',
  'chosen{code="\\u00e9"}',
  'chosen{code="\\x61"}',
  'chosen{code=~`\\d+`,}',
  ' chosen { code = "a" , zone =~ "eu|ap" } ',
];

function isReadable(text: string): boolean {
  try {
    parseSelector(text);
    return true;
  } catch {
    return false;
  }
}
