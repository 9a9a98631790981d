import { type Static, Type } from 'typebox';

import { type ActionContext, defineAction, defineOperation } from '#actions/action_context.ts';
import { EXAMPLE_IDS as IDS, IdText, MetricName, nullable, Timestamp } from '#actions/fields.ts';
import { StrictObject } from '#kernel/action.ts';
import { nextTurn } from '#kernel/cooperative_task.ts';
import { AppError, invalidInput } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import { KeyedLimit } from '#kernel/keyed_limit.ts';
import { type Temporal, toTimestamp } from '#kernel/time.ts';
import { ChartResultView, parsePeriod, type Period, readChart } from '#modules/metrics/chart.ts';
import { AGGREGATION_NAMES, AGGREGATIONS } from '#modules/metrics/decide/aggregation.ts';
import { CHART_MINUTES_MAX, cutWindow } from '#modules/metrics/decide/buckets.ts';
import { CHART_PIXELS_MAX, CHART_QUERIES_MAX, WINDOW_MINUTES_MAX } from '#modules/metrics/decide/limits.ts';
import { announcedOf, familiesOf, unitNameOf } from '#modules/metrics/decide/metric_type.ts';
import { expressionFaults, parseExpression, readCheckedExpression } from '#modules/metrics/decide/selector.ts';
import { queryExpression } from '#modules/metrics/expression_values.ts';
import { nearestToAsked } from '#modules/metrics/unmet_selectors.ts';
import { MetricSeriesView, toMetricSeriesView } from './view.ts';

/** Meaning of each aggregation, in the words of the console. */
const AGGREGATION_MEANINGS = AGGREGATIONS.map((asked) => `${asked}: ${AGGREGATION_NAMES[asked].toLowerCase()}`).join(
  '; ',
);

export const queryMetric = defineAction({
  name: 'query_metric',
  summary:
    'Return the time series of a metric over the last windowMinutes, cut in at most 300 buckets and aggregated in each. ' +
    'metricName may carry a label selector: http_requests_total{status=~"5..",route!="/health"}, or be a ratio of two: ' +
    'errors_total / requests_total * 100.',
  guidance:
    'Use it to see how a service does, or to choose a threshold. Values are in the unit of the metric, times in UTC.',
  permission: 'dashboards:view',
  effect: 'read',
  input: StrictObject({
    serviceId: IdText,
    metricName: MetricName,
    windowMinutes: Type.Optional(Type.Integer({ minimum: 1, maximum: WINDOW_MINUTES_MAX, default: 60 })),
    aggregation: Type.Optional(Type.Enum([...AGGREGATIONS], { default: 'avg', description: AGGREGATION_MEANINGS })),
  }),
  result: MetricSeriesView,
  untrustedText: ['nearestNames'],
  validate: ({ metricName }) => (typeof metricName === 'string' ? expressionFaults(metricName) : []),
  aliases: ['get_metric', 'query_metrics', 'get_metric_data', 'get_timeseries', 'query_timeseries'],
  digest: digestOfSeries,
  example: {
    serviceId: IDS.serviceId,
    metricName: 'http_request_duration_ms{route="/pay"}',
    windowMinutes: 60,
    aggregation: 'avg',
  },
  exampleResult: {
    serviceId: IDS.serviceId,
    metricName: 'http_request_duration_ms{route="/pay"}',
    aggregation: 'avg',
    windowMinutes: 60,
    from: '2027-02-03T01:05:00.000Z',
    to: '2027-02-03T02:05:00.000Z',
    stepSeconds: 60,
    points: [
      { at: '2027-02-03T02:03:00.000Z', value: 412.5 },
      { at: '2027-02-03T02:04:00.000Z', value: 1240 },
    ],
    summary: { min: 412.5, p50: 412.5, p95: 1240, max: 1240, last: 1240 },
    nearestNames: [],
  },
  async handle(input, { caller, stores, metrics, now }) {
    const { metricName, windowMinutes = 60, aggregation = 'avg' } = input;
    const expression = readCheckedExpression(metricName);
    const service = await stores.services.get(caller.orgId, input.serviceId);
    const query = {
      serviceId: service.id,
      aggregation,
      buckets: cutWindow(windowMinutes, now),
      keptSince: now.subtract({ hours: 24 * service.retentionMetrics }),
    };
    const values = await queryExpression(metrics, query, expression);
    const nearest = values.length > 0 ? [] : await findNearest();
    return toMetricSeriesView(query, { metricName, windowMinutes }, values, nearest);

    async function findNearest(): Promise<string[]> {
      const names = await metrics.listNames(service.id, query.keptSince);
      return await nearestToAsked(metrics.catalog, service.id, { metricName, names, since: query.keptSince });
    }
  },
});

/** Returns the summary before the points. */
function digestOfSeries({ points, summary, ...series }: Static<typeof MetricSeriesView>): object {
  return { ...series, summary, points };
}

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
