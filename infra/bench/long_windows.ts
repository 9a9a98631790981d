import { type Aggregation, AGGREGATIONS } from '#modules/metrics/decide/aggregation.ts';
import { cutRange, cutWindow } from '#modules/metrics/decide/buckets.ts';
import { WINDOW_MINUTES_MAX } from '#modules/metrics/decide/limits.ts';
import { DAY_MS } from '#modules/metrics/decide/rollup_plan.ts';
import { parseSelector } from '#modules/metrics/decide/selector.ts';
import { MetricReader } from '#modules/metrics/store/metric_reader.ts';

import { duration, ratio, spreadOf } from './figures.ts';
import { type Bench, printInputs, printTable, timed } from './harness.ts';
import {
  ASKED_METRIC,
  HISTORY_DAYS,
  type LongHistory,
  SERIES_A_METRIC,
  withLongHistory,
} from './metrics/long_history.ts';

const TIMES = 20;
const SECONDS_MAX = 15;
const PIXELS = 1_000;
const GOAL_MS = 300;
const DAYS = (process.env['BENCH_DAYS'] ?? '30,100,400')
  .split(',')
  .map(Number)
  .filter((days) => days <= HISTORY_DAYS);
const SERIES = { one: 'one', all: String(SERIES_A_METRIC), 'all, by host': `${SERIES_A_METRIC}, by host` } as const;

interface Question {
  readonly series: keyof typeof SERIES;
  readonly days: number;
  readonly aggregation: Aggregation;
}

const KINDS = Object.keys(SERIES) as (keyof typeof SERIES)[];
const QUESTIONS: readonly Question[] = DAYS.flatMap((days) =>
  KINDS.flatMap((series) => AGGREGATIONS.map((aggregation) => ({ series, days, aggregation }))),
);

export const longWindows: Bench = {
  name: 'long_windows',
  about: 'charts of 30, 100 and 400 days, and query_metric, over a billion points (goal: 300 ms)',
  minutesMax: 60,
  run: () =>
    withLongHistory(async (history) => {
      printInputs({
        ...history.inputs,
        charts: `of ${PIXELS} pixels, as the console asks for them: hours up to 100 days, then days; by host: the ten greatest and all others`,
        query_metric: `${WINDOW_MINUTES_MAX / 1_440} days, the longest that it answers; a counter: sum is what it grew by`,
        turns: `each ${TIMES} times or for ${SECONDS_MAX} s`,
      });
      const reader = new MetricReader(history.client);
      const charts: Record<string, string>[] = [];
      for (const question of QUESTIONS) charts.push(await askChart(reader, history, question));
      if (charts.length > 0) printTable(charts);
      const series: Record<string, string>[] = [];
      for (const kind of ['one', 'all'] as const) {
        for (const aggregation of AGGREGATIONS) series.push(await askSeries(reader, history, kind, aggregation));
      }
      printTable(series);
    }),
};

async function askChart(
  reader: MetricReader,
  history: LongHistory,
  { series, days, aggregation }: Question,
): Promise<Record<string, string>> {
  const toMs = history.now.epochMilliseconds;
  const { columnMs, ...buckets } = cutRange(toMs - days * DAY_MS, toMs, PIXELS);
  const asked = { ...questionOf(history, series, aggregation), buckets };
  return await measure({ 'chart of series': SERIES[series], days: String(days), aggregation }, async () => {
    const query = await reader.withRollups(asked);
    const ranked = series === 'all, by host' ? await reader.rankValues(query, 'host', 10) : null;
    const split = ranked === null ? null : { label: 'host', values: ranked.values };
    const parts = await reader.queryChart({ ...query, split, columnMs });
    return parts.reduce((sum, { points }) => sum + points.length, 0);
  });
}

async function askSeries(
  reader: MetricReader,
  history: LongHistory,
  series: 'one' | 'all',
  aggregation: Aggregation,
): Promise<Record<string, string>> {
  const asked = { ...questionOf(history, series, aggregation), buckets: cutWindow(WINDOW_MINUTES_MAX, history.now) };
  return await measure(
    { 'query_metric of series': SERIES[series], aggregation },
    async () => (await reader.query(asked)).length,
  );
}

function questionOf(history: LongHistory, series: keyof typeof SERIES, aggregation: Aggregation) {
  const selector = parseSelector(series === 'one' ? `${ASKED_METRIC}{host="host-17"}` : ASKED_METRIC);
  return { serviceId: history.serviceId, selector, aggregation, keptSince: history.now.subtract({ hours: 24 * 400 }) };
}

/** `ask` says how many values it was answered with. */
async function measure(
  question: Readonly<Record<string, string>>,
  ask: () => Promise<number>,
): Promise<Record<string, string>> {
  try {
    const [first = 0] = await timed(ask, { times: 1 });
    const { p50, p95, max } = spreadOf(await timed(ask, { times: TIMES, secondsMax: SECONDS_MAX }));
    return {
      ...question,
      first: duration(first),
      p50: duration(p50),
      p95: duration(p95),
      max: duration(max),
      'of the goal': ratio(p50, GOAL_MS),
      values: String(await ask()),
    };
  } catch (error) {
    return { ...question, first: error instanceof Error ? error.message : String(error) };
  }
}
