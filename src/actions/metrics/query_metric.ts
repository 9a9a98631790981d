import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { CLOSED, IdText, MetricName } from '#actions/fields.ts';
import { MetricSeriesView, toMetricSeriesView } from '#actions/metrics/view.ts';
import { AGGREGATIONS } from '#core/metrics/aggregate.ts';
import { cutWindow } from '#core/metrics/buckets.ts';
import { parseSelector, selectorFaults } from '#core/metrics/selector.ts';

export const queryMetric = defineAction({
  name: 'query_metric',
  summary:
    'Return the time series of a metric over the last windowMinutes, cut in at most 300 buckets and aggregated in each. ' +
    'metricName may carry a label selector: http_requests_total{status=~"5..",route!="/health"}. sum over a counter ' +
    "is its increase; last adds up each series' newest value.",
  permission: 'dashboards:view',
  effect: 'read',
  input: Type.Object(
    {
      serviceId: IdText,
      metricName: MetricName,
      windowMinutes: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_080, default: 60 })),
      aggregation: Type.Optional(Type.Enum([...AGGREGATIONS], { default: 'avg' })),
    },
    CLOSED,
  ),
  result: MetricSeriesView,
  meaning: ({ metricName }) => (typeof metricName === 'string' ? selectorFaults(metricName) : []),
  async handle(input, { caller, stores, metrics, now }) {
    const { metricName, windowMinutes = 60, aggregation = 'avg' } = input;
    const selector = parseSelector(metricName);
    const service = await stores.services.get(caller.orgId, input.serviceId);
    const query = {
      serviceId: service.id,
      selector,
      aggregation,
      buckets: cutWindow(windowMinutes, now),
      keptSince: now.subtract({ hours: 24 * service.retentionMetrics }),
    };
    return toMetricSeriesView(query, { metricName, windowMinutes }, await metrics.query(query));
  },
});
