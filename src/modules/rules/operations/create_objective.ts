import { type Static, Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { STRICT, IdText, Name, nullable } from '#actions/fields.ts';
import { burnRateRules } from '#modules/rules/decide/objective.ts';
import { checkedObjective, OBJECTIVE_EXAMPLE, OBJECTIVE_FIELDS } from '#modules/rules/objective_fields.ts';
import { insertRule } from '#modules/rules/operations/create_alert_rule.ts';
import { RuleView } from '#modules/rules/view.ts';

/** Makes both rules of an objective, or neither. */
export const createObjective = defineAction({
  name: 'create_objective',
  consoleOnly: true,
  summary: 'Create the two burn-rate rules of an objective.',
  permission: 'oncall:edit',
  effect: 'write',
  input: Type.Object({ ...OBJECTIVE_FIELDS, name: Name, escalationPolicyId: nullable(IdText) }, STRICT),
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
