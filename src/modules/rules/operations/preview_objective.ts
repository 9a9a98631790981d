import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { nullable, STRICT } from '#actions/fields.ts';
import { cutRange } from '#modules/metrics/decide/buckets.ts';
import { parseSelector } from '#modules/metrics/decide/selector.ts';
import { budgetOf, burnRateRules } from '#modules/rules/decide/objective.ts';
import { OBJECTIVE_DAYS } from '#modules/rules/decide/objective_limits.ts';
import { RuleConfigView, RuleSettingsView } from '#modules/rules/view.ts';
import { checkedObjective, OBJECTIVE_EXAMPLE, OBJECTIVE_FIELDS } from '#modules/rules/objective_fields.ts';

/** Hours of the longest objective: each is read by itself, from rollups. */
const HOURS_SHOWN = OBJECTIVE_DAYS.max * 24;

/** Shows what an objective would make, and how much of its budget is left. */
export const previewObjective = defineAction({
  name: 'preview_objective',
  consoleOnly: true,
  summary: 'Return the burn-rate rules that an objective makes, and how much of its budget the last days have left.',
  permission: 'oncall:view',
  effect: 'read',
  input: Type.Object(OBJECTIVE_FIELDS, STRICT),
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
