import type { Aggregation } from '#modules/metrics/decide/aggregation.ts';
import { type Buckets, cutWindow } from '#modules/metrics/decide/buckets.ts';
import { parseSelector } from '#modules/metrics/decide/selector.ts';
import { buildApp } from '#entry/http/app.ts';
import { type Id, uuidOf } from '#kernel/ids.ts';
import { silentLog } from '#kernel/log.ts';
import { MetricReader } from '#modules/metrics/store/metric_reader.ts';
import { duration, ratio, spreadOf } from './figures.ts';
import { type Bench, printInputs, printTable, timed } from './harness.ts';
import { type History, metricName, METRICS_A_SERVICE, SERVICES, withHistory } from './metrics/history.ts';

const TIMES = 60;
const SECONDS_MAX = 6;
const WARM_UP = 5;

/** One query. The metric changes from call to call. */
interface Question {
  readonly about: string;
  readonly windowMinutes: number;
  readonly aggregation: Aggregation;
  readonly isCounter?: boolean;
  /** The query of the action, and the same in handwritten SQL. */
  readonly selector?: readonly [selector: string, condition: string];
}

const HOST = ['{host=~"host-[0-4]"}', `match(tags['host'], '^host-[0-4]$')`] as const;
const ZONE = ['{zone="1"}', `tags['zone'] = '1'`] as const;

const QUESTIONS: readonly Question[] = [
  ...[60, 1_440, 10_080].flatMap((windowMinutes): Question[] => [
    { about: 'avg', windowMinutes, aggregation: 'avg' },
    { about: 'max, half of the series by a pattern', windowMinutes, aggregation: 'max', selector: HOST },
    { about: 'last', windowMinutes, aggregation: 'last' },
    { about: 'sum of a counter: its increase', windowMinutes, aggregation: 'sum', isCounter: true },
  ]),
  { about: 'avg, a third of the series', windowMinutes: 60, aggregation: 'avg', selector: ZONE },
  { about: 'count', windowMinutes: 60, aggregation: 'count' },
];

export const query: Bench = {
  name: 'query',
  about: 'query_metric and list_metric_names over 100 million points (goal: within 1.3 × the bare query by hand)',
  run: () =>
    withHistory(async (history) => {
      printInputs({
        ...history.inputs,
        'by hand': 'without regard to points sent twice, ends of series and retention, over the same client',
        turns: `one of each in turn, ${TIMES} times or for ${SECONDS_MAX} s, each time of another metric`,
      });
      const rows: Record<string, string>[] = [];
      for (const question of QUESTIONS) rows.push(await compare(history, question));
      printTable(rows);
      printTable([await names(history)]);
      printTable(await overRest(history));
    }),
};

async function compare(history: History, question: Question): Promise<Record<string, string>> {
  const { context, now } = history;
  const reader = new MetricReader(context.clickhouse);
  const { aggregation, windowMinutes, isCounter = false, selector: [selector, condition] = ['', null] } = question;
  const buckets = cutWindow(windowMinutes, now);
  const keptSince = now.subtract({ hours: 24 * 30 });
  const product = async (index: number): Promise<unknown> => {
    const { serviceId, metric } = metricFor(history, question, index);
    return await reader.query({
      serviceId,
      selector: parseSelector(`${metric}${selector}`),
      aggregation,
      buckets,
      keptSince,
    });
  };
  const byHand = async (index: number): Promise<unknown> => {
    const asked = { ...metricFor(history, question, index), condition, aggregation, isCounter, buckets };
    const result = await context.clickhouse.query({ query: queryByHand(asked), format: 'JSONCompactEachRow' });
    return await result.json();
  };
  const times = { product: [] as number[], byHand: [] as number[] };
  await timed((index) => Promise.all([product(index), byHand(index)]), { times: WARM_UP });
  await timed(
    async (index) => {
      times.product.push(...(await timed(() => product(index), { times: 1 })));
      times.byHand.push(...(await timed(() => byHand(index), { times: 1 })));
    },
    { times: TIMES, secondsMax: SECONDS_MAX },
  );
  const [own, bare] = [spreadOf(times.product), spreadOf(times.byHand)];
  return {
    question: question.about,
    window: windowText(windowMinutes),
    p50: duration(own.p50),
    p99: duration(own.p99),
    'by hand p50': duration(bare.p50),
    'by hand p99': duration(bare.p99),
    'of the bare query': ratio(own.p50, bare.p50),
  };
}

function metricFor({ services }: History, { isCounter = false }: Question, index: number) {
  const serviceId = services[index % SERVICES];
  if (serviceId === undefined) throw new Error('there are no services');
  return { serviceId, metric: metricName(((index * 2) % METRICS_A_SERVICE) + (isCounter ? 1 : 0)) };
}

function windowText(minutes: number): string {
  return minutes < 1_440 ? `${minutes} min` : `${minutes / 1_440} d`;
}

async function names({ context, services, now }: History): Promise<Record<string, string>> {
  const reader = new MetricReader(context.clickhouse);
  const since = now.subtract({ hours: 24 * 30 });
  const serviceOf = (index: number) => services[index % SERVICES] ?? services[0];
  const durations: number[] = [];
  const bare: number[] = [];
  await timed(
    async (index) => {
      const serviceId = serviceOf(index);
      if (serviceId === undefined) throw new Error('there are no services');
      durations.push(...(await timed(() => reader.listNames(serviceId, since), { times: 1 })));
      const sql = `SELECT DISTINCT metric FROM metric_names WHERE service_id = '${uuidOf(serviceId)}' ORDER BY metric`;
      const ask = async () => (await context.clickhouse.query({ query: sql, format: 'JSONCompactEachRow' })).json();
      bare.push(...(await timed(ask, { times: 1 })));
    },
    { times: TIMES, secondsMax: SECONDS_MAX },
  );
  const spread = spreadOf(durations);
  return {
    question: 'list_metric_names',
    p50: duration(spread.p50),
    p99: duration(spread.p99),
    'by hand p50': duration(spreadOf(bare).p50),
    'of the bare query': ratio(spread.p50, spreadOf(bare).p50),
  };
}

/** The whole action: authentication, permission, and the answer as JSON. */
async function overRest(history: History): Promise<Record<string, string>[]> {
  const app = await buildApp({ ...history.context, log: silentLog });
  const url = await app.listen({ port: 0, host: '127.0.0.1' });
  const call = async (action: string, body: object): Promise<void> => {
    const response = await fetch(`${url}/api/rest/actions/${action}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${history.firstRun.apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    await response.text();
    if (!response.ok) throw new Error(`${action} was answered with ${response.status}`);
  };
  const rowOf = async (action: string, window: string, bodyOf: (index: number) => object) => {
    await timed((index) => call(action, bodyOf(index)), { times: WARM_UP });
    const spread = spreadOf(
      await timed((index) => call(action, bodyOf(index)), { times: TIMES, secondsMax: SECONDS_MAX }),
    );
    return { 'over REST': action, window, p50: duration(spread.p50), p99: duration(spread.p99) };
  };
  const asked = (index: number) => {
    const { serviceId, metric } = metricFor(history, { about: '', windowMinutes: 60, aggregation: 'avg' }, index);
    return { serviceId, metricName: metric };
  };
  try {
    return [
      await rowOf('query_metric', '60 min', (index) => ({ ...asked(index), windowMinutes: 60 })),
      await rowOf('query_metric', '7 d', (index) => ({ ...asked(index), windowMinutes: 10_080 })),
      await rowOf('list_metric_names', '', (index) => ({ serviceId: asked(index).serviceId })),
    ];
  } finally {
    await app.close();
  }
}

interface Asked {
  readonly serviceId: Id<'service'>;
  readonly metric: string;
  /** A condition on the map `tags`, in SQL; null for all series. */
  readonly condition: string | null;
  readonly aggregation: Aggregation;
  readonly isCounter: boolean;
  readonly buckets: Buckets;
}

/** The query that a person would write by hand who knows that there are no duplicates, ended series or expired points. */
function queryByHand({ serviceId, metric, condition, aggregation, isCounter, buckets }: Asked): string {
  const of = `service_id = '${uuidOf(serviceId)}' AND metric = '${metric}'`;
  const series =
    condition === null ? '' : ` AND series IN (SELECT series FROM metric_series WHERE ${of} AND ${condition})`;
  const points = `metric_points WHERE ${of} AND ts >= ${time(buckets.fromMs)} AND ts < ${time(buckets.toMs)}${series}`;
  const bucket = `toStartOfInterval(ts, INTERVAL ${buckets.stepMs / 1_000} SECOND) AS bucket`;
  const perBucket = 'GROUP BY bucket ORDER BY bucket';
  if (aggregation === 'last') {
    const newest = `SELECT ${bucket}, argMax(value, ts) AS newest FROM ${points} GROUP BY bucket, series`;
    return `SELECT bucket, sum(newest) FROM (${newest}) ${perBucket}`;
  }
  if (aggregation === 'sum' && isCounter) {
    const before = 'lagInFrame(value, 1, value) OVER (PARTITION BY series ORDER BY ts) AS before';
    const grown = 'sum(if(value < before, value, value - before))';
    return `SELECT bucket, ${grown} FROM (SELECT ${bucket}, value, ${before} FROM ${points}) ${perBucket}`;
  }
  const value = aggregation === 'count' ? 'count()' : `${aggregation}(value)`;
  return `SELECT ${bucket}, ${value} FROM ${points} ${perBucket}`;
}

function time(epochMs: number): string {
  return `fromUnixTimestamp64Milli(${epochMs}, 'UTC')`;
}
