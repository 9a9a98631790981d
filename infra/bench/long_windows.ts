import type { Aggregation } from '#core/metrics/aggregation.ts';
import { cutRange } from '#core/metrics/buckets.ts';
import { DAY_MS } from '#core/metrics/rollup_plan.ts';
import { parseSelector } from '#core/metrics/selector.ts';
import { MetricReader } from '#storage/clickhouse/metric_reader.ts';

import { duration, ratio, spreadOf } from './figures.ts';
import { type Bench, printInputs, printTable, timed } from './harness.ts';
import {
  ASKED_METRIC,
  HISTORY_DAYS,
  type LongHistory,
  SERIES_A_METRIC,
  withLongHistory,
} from './metrics/long_history.ts';

const TIMES = 15;
const SECONDS_MAX = 15;
const PIXELS = 1_000;

interface Question {
  readonly series: 'one' | 'all' | 'all, by host';
  readonly days: number;
  readonly aggregation: Aggregation;
}

const QUESTIONS: readonly Question[] = [30, 100, 400].flatMap((days) =>
  (['one', 'all', 'all, by host'] as const).flatMap((series): Question[] => [
    { series, days, aggregation: 'avg' },
    { series, days, aggregation: 'last' },
    { series, days, aggregation: 'sum' },
  ]),
);

export const longWindows: Bench = {
  name: 'long_windows',
  about: 'charts of 30, 100 and 400 days over a billion points (goal: 300 ms)',
  minutesMax: 60,
  run: () =>
    withLongHistory(async (history) => {
      printInputs({
        ...history.inputs,
        charts: `of ${PIXELS} pixels, as the console asks for them: hours up to 100 days, then days; by host: the ten greatest and all others`,
        turns: `each ${TIMES} times or for ${SECONDS_MAX} s`,
      });
      const reader = new MetricReader(history.client);
      const rows: Record<string, string>[] = [];
      for (const question of QUESTIONS) {
        if (question.days > HISTORY_DAYS) continue;
        rows.push(await ask(reader, history, question));
      }
      printTable(rows);
    }),
};

async function ask(reader: MetricReader, history: LongHistory, question: Question): Promise<Record<string, string>> {
  const { series, days, aggregation } = question;
  const toMs = history.now.epochMilliseconds;
  const { columnMs, ...buckets } = cutRange(toMs - days * DAY_MS, toMs, PIXELS);
  const selector = parseSelector(series === 'one' ? `${ASKED_METRIC}{host="host-17"}` : ASKED_METRIC);
  const keptSince = history.now.subtract({ hours: 24 * 400 });
  const asked = { serviceId: history.serviceId, selector, aggregation, buckets, keptSince };
  const chart = async () => {
    const query = await reader.withRollups(asked);
    const ranked = series === 'all, by host' ? await reader.rankValues(query, 'host', 10) : null;
    const split = ranked === null ? null : { label: 'host', values: ranked.values };
    return await reader.queryChart({ ...query, split, columnMs });
  };
  try {
    const [first = 0] = await timed(chart, { times: 1 });
    const spread = spreadOf(await timed(chart, { times: TIMES, secondsMax: SECONDS_MAX }));
    const buckets = (await chart()).reduce((sum, { points }) => sum + points.length, 0);
    return {
      series: series === 'one' ? series : series.replace('all', String(SERIES_A_METRIC)),
      days: String(days),
      aggregation,
      first: duration(first),
      p50: duration(spread.p50),
      max: duration(spread.max),
      'of the goal': ratio(spread.p50, 300),
      values: String(buckets),
    };
  } catch (error) {
    return { series, days: String(days), aggregation, first: error instanceof Error ? error.message : String(error) };
  }
}
