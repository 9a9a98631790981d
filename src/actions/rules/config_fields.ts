import { Type } from 'typebox';

import { CLOSED, METRIC_NAME_LENGTH_MAX } from '#actions/fields.ts';
import { LEVELS } from '#core/exceptions/event.ts';
import { AGGREGATIONS } from '#core/metrics/aggregate.ts';
import { COMPARATORS } from '#core/metrics/metric_threshold.ts';

const FIELDS = {
  metricName: Type.String({
    maxLength: METRIC_NAME_LENGTH_MAX,
    description: 'may carry a label selector: http_requests_total{status=~"5.."}',
  }),
  comparator: Type.Enum([...COMPARATORS]),
  threshold: Type.Number(),
  windowMinutes: Type.Integer({ minimum: 1, maximum: 10_080, description: 'default 5' }),
  aggregation: Type.Enum([...AGGREGATIONS], { description: 'default avg' }),
  minSeverity: Type.Enum([...LEVELS], { description: 'default error' }),
};

const { minSeverity, ...METRIC_FIELDS } = FIELDS;

/** The properties of every kind; which of them a kind has, and which it must have, is judged with the kind. */
export const RuleConfigInput = Type.Partial(Type.Object(FIELDS), {
  ...CLOSED,
  description:
    'metric_threshold: metricName, comparator and threshold, windowMinutes, aggregation; exception: minSeverity',
});

export const MetricThresholdConfigView = Type.Object(METRIC_FIELDS);

export const ExceptionConfigView = Type.Object({ minSeverity });
