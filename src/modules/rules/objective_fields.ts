import { Type } from 'typebox';

import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { IdText, MetricName, nullable } from '#actions/fields.ts';
import { invalidInput } from '#kernel/errors.ts';
import { parseSelector } from '#modules/metrics/decide/selector.ts';
import { type Objective, objectiveFaults } from '#modules/rules/decide/objective.ts';
import { OBJECTIVE_DAYS } from '#modules/rules/decide/objective_limits.ts';

/** Fields of an objective for the requests of a service. */
export const OBJECTIVE_FIELDS = {
  serviceId: IdText,
  badMetric: MetricName,
  totalMetric: MetricName,
  objectivePercent: Type.Number({ minimum: 50, maximum: 100, description: 'share of requests that should go well' }),
  days: Type.Integer({ minimum: OBJECTIVE_DAYS.min, maximum: OBJECTIVE_DAYS.max }),
  trafficAtLeast: nullable(
    Type.Number({ minimum: 0, description: 'requests in the long window below which no rule judges' }),
  ),
};

export const OBJECTIVE_EXAMPLE = {
  serviceId: EXAMPLE_IDS.serviceId,
  badMetric: 'http_requests_total{status=~"5.."}',
  totalMetric: 'http_requests_total',
  objectivePercent: 99.9,
  days: 30,
  trafficAtLeast: 100,
} as const;

/** Returns the objective; throws `invalid_input` for one that no rule can watch. */
export function checkedObjective(objective: Objective): Objective {
  const faults = objectiveFaults(objective);
  if (faults.length > 0) throw invalidInput(faults);
  parseSelector(objective.badMetric, 'badMetric');
  parseSelector(objective.totalMetric, 'totalMetric');
  return objective;
}
