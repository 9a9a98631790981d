import type { RuleKindDeclaration } from '#modules/rules/decide/rule_kind.ts';
import { type Aggregation, AGGREGATION_NOUNS, AGGREGATIONS } from '#modules/metrics/decide/aggregation.ts';
import { type Comparator, COMPARATORS } from '#modules/rules/decide/kind_settings.ts';
import { METRIC_NAME_LENGTH_MAX, WINDOW_MINUTES_MAX } from '#modules/metrics/decide/limits.ts';
import { measureOf, quantityText } from '#modules/metrics/decide/quantity.ts';

/** The config of a `metric_threshold` rule, complete. */
export interface MetricThreshold {
  /** Name of the metric, possibly with a selector, or a ratio of two: what `parseExpression` reads. */
  readonly metricName: string;
  readonly comparator: Comparator;
  readonly threshold: number;
  readonly windowMinutes: number;
  readonly aggregation: Aggregation;
}

/** Opens an incident when the aggregate of a metric over a window is beyond a threshold. */
export const METRIC_THRESHOLD: RuleKindDeclaration<MetricThreshold> = {
  title: 'A metric crosses a threshold',
  fedBy: 'metrics',
  ingests: 'points',
  causes: 'breaches',
  properties: {
    metricName: {
      type: 'string',
      maxLength: METRIC_NAME_LENGTH_MAX,
      description:
        'may carry a label selector: http_requests_total{status=~"5.."}, and may be a ratio of two with a factor: errors_total / requests_total * 100',
    },
    comparator: { enum: COMPARATORS },
    threshold: { type: 'number' },
    windowMinutes: { type: 'integer', minimum: 1, maximum: WINDOW_MINUTES_MAX, description: 'default 5' },
    aggregation: { enum: AGGREGATIONS, description: 'default avg' },
  },
  required: ['metricName', 'comparator', 'threshold'],
  propertiesText: 'metricName, comparator and threshold, windowMinutes, aggregation',
  defaults: { windowMinutes: 5, aggregation: 'avg' },
  labels: {
    metricName: 'Metric',
    comparator: 'Fires when the value is',
    threshold: 'Threshold',
    windowMinutes: 'Each value covers',
    aggregation: 'Aggregation',
  },
  selector: 'metricName',
  condition({ aggregation, metricName, windowMinutes, comparator, threshold }) {
    const limit = quantityText(threshold, measureOf(metricName, aggregation), { digits: 6 });
    return `When ${AGGREGATION_NOUNS[aggregation]} of ${metricName} over ${windowMinutes} min is ${comparator} ${limit}.`;
  },
};
