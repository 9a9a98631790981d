import { type Static, Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS as IDS, IdText, MetricName, StrictObject } from '#actions/fields.ts';
import { AGGREGATION_NAMES, AGGREGATIONS } from '#modules/metrics/decide/aggregation.ts';
import { cutWindow } from '#modules/metrics/decide/buckets.ts';
import { WINDOW_MINUTES_MAX } from '#modules/metrics/decide/limits.ts';
import { expressionFaults, readCheckedExpression } from '#modules/metrics/decide/selector.ts';
import { queryExpression } from '#modules/metrics/expression_values.ts';
import { MetricSeriesView, toMetricSeriesView } from '#modules/metrics/operations/view.ts';
import { nearestToAsked } from '#modules/metrics/unmet_selectors.ts';

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
