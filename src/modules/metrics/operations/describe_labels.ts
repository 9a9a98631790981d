import { Type } from 'typebox';

import { searchInput } from '#actions/list_page.ts';
import { LABEL_VALUES_MAX } from '#modules/metrics/decide/limits.ts';
import { defineOperation } from '#actions/action_context.ts';
import { IdText, MetricName, nullable, StrictObject } from '#actions/fields.ts';
import { POINT_KINDS } from '#modules/metrics/decide/point.ts';
import { quantileQuestionOf } from '#modules/metrics/decide/quantile.ts';
import { parseExpression } from '#modules/metrics/decide/selector.ts';

const VALUES = 10;

/** Lists the labels by which the explorer splits and filters. */
export const describeLabels = defineOperation({
  name: 'describe_labels',
  summary: 'List the labels of a metric with their most frequent values, and how many series bear each.',
  permission: 'dashboards:view',
  effect: 'read',
  input: StrictObject({
    serviceId: IdText,
    metricName: MetricName,
    label: Type.Optional(Type.String({ maxLength: 200, description: 'only this one' })),
    labelText: searchInput('part of the names of the labels'),
    text: searchInput('part of the values'),
    valuesMax: Type.Optional(
      Type.Integer({ minimum: 1, maximum: LABEL_VALUES_MAX, description: `of each label; ${VALUES} when left out` }),
    ),
  }),
  result: Type.Object({
    kind: nullable(Type.Enum([...POINT_KINDS], { description: 'of its newest point; null without points' })),
    seriesCount: Type.Integer({ description: 'series of the last day that the selector means' }),
    labelCount: Type.Integer({ description: 'labels that match, those not listed too' }),
    labels: Type.Array(
      Type.Object({
        label: Type.String(),
        valueCount: Type.Integer(),
        seriesCount: Type.Integer({ description: 'series that bear the label' }),
        values: Type.Array(Type.Object({ value: Type.String(), seriesCount: Type.Integer() }), {
          description: 'the most frequent first; valueCount says how many there are',
        }),
      }),
      { description: 'by name, at most 100' },
    ),
  }),
  example: {
    metricName: 'http_request_duration_ms{route="/pay"}',
    label: 'status',
    labelText: 'stat',
    text: '5',
    valuesMax: 20,
  },
  async handle(
    { serviceId, metricName, label = null, labelText = '', text = '', valuesMax = VALUES },
    { caller, stores, metrics, now },
  ) {
    const service = await stores.services.get(caller.orgId, serviceId);
    const [selector] = parseExpression(metricName).sides;
    const since = now.subtract({ hours: 24 * Math.min(service.retentionMetrics, 1) });
    const wanted = { since, label, labelText, text, valuesMax };
    const labels = await metrics.catalog.describeLabels(service.id, { selector, ...wanted });
    const question = labels.seriesCount > 0 ? null : quantileQuestionOf(selector);
    if (question === null) {
      const keptSince = now.subtract({ hours: 24 * service.retentionMetrics });
      return { kind: await metrics.findKind({ serviceId: service.id, selector, keptSince }), ...labels };
    }
    // The quantile of a histogram has the same labels as its counts.
    const counts = { name: `${selector.name}_count`, matchers: question.buckets.matchers };
    const counted = await metrics.catalog.describeLabels(service.id, { selector: counts, ...wanted });
    if (counted.seriesCount > 0) return { kind: null, ...counted };
    const buckets = { selector: question.buckets, areBuckets: true, ...wanted };
    return { kind: null, ...(await metrics.catalog.describeLabels(service.id, buckets)) };
  },
});
