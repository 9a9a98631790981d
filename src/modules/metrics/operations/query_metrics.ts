import { type Static, Type } from 'typebox';

import { CHART_PIXELS_MAX, CHART_QUERIES_MAX } from '#modules/metrics/decide/limits.ts';
import { type ActionContext, defineOperation } from '#actions/action_context.ts';
import { IdText, MetricName, nullable, StrictObject, Timestamp } from '#actions/fields.ts';
import { ChartResultView, parsePeriod, type Period, readChart } from '#modules/metrics/chart.ts';
import { AGGREGATIONS } from '#modules/metrics/decide/aggregation.ts';
import { parseExpression } from '#modules/metrics/decide/selector.ts';
import { announcedOf, familiesOf, unitNameOf } from '#modules/metrics/decide/metric_type.ts';
import type { Id } from '#kernel/ids.ts';
import { CHART_MINUTES_MAX } from '#modules/metrics/decide/buckets.ts';
import { AppError, invalidInput } from '#kernel/errors.ts';
import { nextTurn } from '#kernel/cooperative_task.ts';
import { KeyedLimit } from '#kernel/keyed_limit.ts';
import { type Temporal, toTimestamp } from '#kernel/time.ts';

const PIXELS = 600;
const OFFSET_DAYS_MAX = 400;
const SPLIT_MAX = 20;
const SPLIT = 5;
const LABEL_LENGTH_MAX = 200;
/** Limit on the queries of one request that the store computes at the same time. */
const CONCURRENT = 4;

const ChartQueryInput = StrictObject({
  serviceId: IdText,
  metricName: MetricName,
  aggregation: Type.Optional(
    Type.Enum([...AGGREGATIONS], { description: 'when left out, sum of a counter, as its rate, and avg of others' }),
  ),
  isRate: Type.Optional(
    Type.Boolean({ description: 'a sum as its rate per second, over buckets no shorter than data arrives' }),
  ),
  isHeatmap: Type.Optional(
    Type.Boolean({
      description:
        'the observations of a histogram by their sizes: a series for each range, "0.1...0.25", the lowest first',
    }),
  ),
  splitBy: Type.Optional(
    Type.String({ minLength: 1, maxLength: LABEL_LENGTH_MAX, description: 'a label: one series for each value' }),
  ),
  top: Type.Optional(
    Type.Integer({ minimum: 1, maximum: SPLIT_MAX, description: `of a split; ${SPLIT} when left out` }),
  ),
  offsetDays: Type.Optional(
    Type.Integer({ minimum: 0, maximum: OFFSET_DAYS_MAX, description: 'so many days earlier, to compare with' }),
  ),
  pixels: Type.Optional(
    Type.Integer({
      minimum: 20,
      maximum: CHART_PIXELS_MAX,
      description: `the width of the chart; ${PIXELS} when left out`,
    }),
  ),
});

type ChartQueryInput = Static<typeof ChartQueryInput>;

const AnsweredChart = Type.Object({
  ...ChartResultView.properties,
  unit: nullable(
    Type.String({ description: 'of the values by its name, as the sender tells it; null for none or of a division' }),
  ),
  fault: nullable(Type.String({ description: 'why there is no answer, as a sentence' })),
});

/** Returns the charts of a page in one request. A query that fails leaves the others alone. */
export const queryMetrics = defineOperation({
  name: 'query_metrics',
  summary:
    'Return several charts of one period: at most two points a pixel, with the least and the greatest values kept.',
  permission: 'dashboards:view',
  effect: 'read',
  input: StrictObject({
    windowMinutes: Type.Optional(
      Type.Integer({ minimum: 1, maximum: CHART_MINUTES_MAX, description: 'the last so many; 60 when left out' }),
    ),
    from: Type.Optional(Timestamp),
    to: Type.Optional(Timestamp),
    queries: Type.Array(ChartQueryInput, { minItems: 1, maxItems: CHART_QUERIES_MAX }),
  }),
  result: Type.Object({
    from: Timestamp,
    to: Timestamp,
    results: Type.Array(AnsweredChart, { description: 'in the order of the queries' }),
  }),
  example: {
    windowMinutes: 60,
    // Used instead of windowMinutes when given.
    from: '2027-02-03T01:00:00.000Z',
    to: '2027-02-03T02:00:00.000Z',
    queries: [
      {
        // An unknown service is a fault of its query alone.
        serviceId: 'service_01k9z8e4rnf7ktv2x5m6w0abqe',
        metricName: 'http_requests_total',
        aggregation: 'sum',
        isRate: true,
        isHeatmap: false,
        splitBy: 'route',
        top: 3,
        offsetDays: 1,
        pixels: 640,
      },
    ],
  },
  async handle({ queries, ...period }, context) {
    const range = rangeOf(period, context.now);
    const names = new Map<string, Promise<string[]>>();
    const turns = new KeyedLimit({ concurrency: CONCURRENT, concurrencyPerKey: CONCURRENT });
    const results = await Promise.all(
      queries.map((query) => turns.run('', () => answer(query, range, context, names))),
    );
    return { from: toTimestamp(range.from), to: toTimestamp(range.to), results };
  },
});

interface AskedPeriod {
  readonly windowMinutes?: number;
  readonly from?: string;
  readonly to?: string;
}

function rangeOf({ windowMinutes = 60, from, to }: AskedPeriod, now: Temporal.Instant): Period {
  if ((from === undefined) !== (to === undefined)) {
    const path = from === undefined ? 'from' : 'to';
    throw invalidInput([{ path, message: 'from and to are given together' }]);
  }
  if (from === undefined || to === undefined) return { from: now.subtract({ minutes: windowMinutes }), to: now };
  return parsePeriod(from, to);
}

async function answer(
  query: ChartQueryInput,
  range: Period,
  context: ActionContext,
  names: Map<string, Promise<string[]>>,
): Promise<Static<typeof AnsweredChart>> {
  try {
    // Reading a selector with large patterns takes some milliseconds.
    await nextTurn();
    const wanted = {
      aggregation: null,
      isRate: false,
      splitBy: null,
      top: SPLIT,
      offsetDays: 0,
      pixels: PIXELS,
      ...query,
    } as const;
    const chart = await readChart(wanted, range, context, names);
    // Only a chart of one's own organization has an answer.
    return { ...chart, unit: await unitOf(query, context), fault: null };
  } catch (error) {
    // Without the store there is no answer at all.
    if (!(error instanceof AppError) || error.code === 'unavailable') throw error;
    return {
      aggregation: query.aggregation ?? 'avg',
      isRate: query.isRate ?? false,
      stepSeconds: 0,
      rateSeconds: null,
      isReduced: false,
      start: 0,
      series: [],
      valueCount: 0,
      nearest: [],
      unit: null,
      fault: sentenceOf(error),
    };
  }
}

async function unitOf({ serviceId, metricName }: ChartQueryInput, { stores }: ActionContext): Promise<string | null> {
  const [selector, divisor] = parseExpression(metricName).sides;
  if (divisor !== undefined) return null;
  const types = await stores.metricTypes.listNamed(serviceId as Id<'service'>, familiesOf(selector.name));
  return unitNameOf(announcedOf(types, selector.name).unit, selector.name);
}

/** Returns the sentence of an error, without the path `metricName`: a chart shows which metric it is of. */
function sentenceOf({ message, faults }: AppError): string {
  return faults.length === 0
    ? message
    : faults
        .map((fault) => (fault.path === 'metricName' ? fault.message : `${fault.path}: ${fault.message}`))
        .join('; ');
}
