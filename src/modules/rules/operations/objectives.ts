import { type Static, Type } from 'typebox';

import { defineOperation } from '#actions/action_context.ts';
import { EXAMPLE_IDS, IdText, MetricName, Name, nullable, StrictObject } from '#actions/fields.ts';
import { invalidInput } from '#kernel/errors.ts';
import { cutRange } from '#modules/metrics/decide/buckets.ts';
import { parseSelector } from '#modules/metrics/decide/selector.ts';
import { budgetOf, burnRateRules, type Objective, objectiveFaults } from '#modules/rules/decide/objective.ts';
import { OBJECTIVE_DAYS } from '#modules/rules/decide/rule_settings.ts';
import { insertRule } from '#modules/rules/operations/create_alert_rule.ts';
import { RuleConfigView, RuleSettingsView, RuleView } from '#modules/rules/view.ts';

const OBJECTIVE_FIELDS = {
  serviceId: IdText,
  badMetric: MetricName,
  totalMetric: MetricName,
  objectivePercent: Type.Number({ minimum: 50, maximum: 100, description: 'share of requests that should go well' }),
  days: Type.Integer({ minimum: OBJECTIVE_DAYS.min, maximum: OBJECTIVE_DAYS.max }),
  trafficAtLeast: nullable(
    Type.Number({ minimum: 0, description: 'requests in the long window below which no rule judges' }),
  ),
};

const OBJECTIVE_EXAMPLE = {
  serviceId: EXAMPLE_IDS.serviceId,
  badMetric: 'http_requests_total{status=~"5.."}',
  totalMetric: 'http_requests_total',
  objectivePercent: 99.9,
  days: 30,
  trafficAtLeast: 100,
} as const;

/** Returns the objective; throws `invalid_input` for one that no rule can watch. */
function checkedObjective(objective: Objective): Objective {
  const faults = objectiveFaults(objective);
  if (faults.length > 0) throw invalidInput(faults);
  parseSelector(objective.badMetric, 'badMetric');
  parseSelector(objective.totalMetric, 'totalMetric');
  return objective;
}

/** Makes both rules of an objective, or neither. */
export const createObjective = defineOperation({
  name: 'create_objective',
  summary: 'Create the two burn-rate rules of an objective.',
  permission: 'oncall:edit',
  effect: 'write',
  input: StrictObject({ ...OBJECTIVE_FIELDS, name: Name, escalationPolicyId: nullable(IdText) }),
  result: Type.Object({ rules: Type.Array(RuleView) }),
  example: { ...OBJECTIVE_EXAMPLE, name: 'Checkout', escalationPolicyId: EXAMPLE_IDS.policyId },
  async handle({ serviceId, name, escalationPolicyId, ...objective }, context) {
    const rules: Static<typeof RuleView>[] = [];
    for (const { title, config, settings } of burnRateRules(checkedObjective(objective))) {
      const rule = { serviceId, name: `${name} ${title}`, kind: 'metric_threshold', config } as const;
      const pages = escalationPolicyId === null ? {} : { escalationPolicyId };
      rules.push(await insertRule({ ...rule, ...pages }, settings, context));
    }
    return { rules };
  },
});

/** Hours of the longest objective: each is read by itself, from rollups. */
const HOURS_SHOWN = OBJECTIVE_DAYS.max * 24;

/** Shows what an objective would make, and how much of its budget is left. */
export const previewObjective = defineOperation({
  name: 'preview_objective',
  summary: 'Return the burn-rate rules that an objective makes, and how much of its budget the last days have left.',
  permission: 'oncall:view',
  effect: 'read',
  input: StrictObject(OBJECTIVE_FIELDS),
  result: Type.Object({
    rules: Type.Array(
      Type.Object({
        title: Type.String(),
        burnRate: Type.Number({ description: 'times faster than the budget allows' }),
        config: RuleConfigView,
        settings: RuleSettingsView,
      }),
    ),
    budget: nullable(
      Type.Object(
        { goodPercent: Type.Number(), leftPercent: Type.Number() },
        { description: 'null without requests in these days, or as far as they are kept' },
      ),
    ),
  }),
  example: OBJECTIVE_EXAMPLE,
  async handle({ serviceId, ...objective }, { caller, stores, metrics, now }) {
    const { badMetric, totalMetric, days } = checkedObjective(objective);
    const service = await stores.services.get(caller.orgId, serviceId);
    const to = now.epochMilliseconds;
    const { columnMs: _, ...buckets } = cutRange(to - days * 86_400_000, to, HOURS_SHOWN);
    const keptSince = now.subtract({ hours: 24 * service.retentionMetrics });
    const query = await metrics.withRollups({ serviceId: service.id, aggregation: 'sum' as const, buckets, keptSince });
    const [bad, total] = await Promise.all(
      [badMetric, totalMetric].map(async (metric) => {
        const values = await metrics.query({ ...query, selector: parseSelector(metric) });
        return values.reduce((sum, { value }) => sum + value, 0);
      }),
    );
    return { rules: burnRateRules(objective), budget: budgetOf(objective, { bad: bad ?? 0, total: total ?? 0 }) };
  },
});
