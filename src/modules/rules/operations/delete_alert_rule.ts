import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS as IDS, IdText, StrictObject } from '#actions/fields.ts';
import { toRuleView } from '#modules/rules/view.ts';

export const deleteAlertRule = defineAction({
  name: 'delete_alert_rule',
  summary: 'Delete an alert rule. An incident that it left open stays, for people to resolve.',
  guidance: 'Nobody is paged by it any more: ask your user first.',
  permission: 'oncall:edit',
  effect: 'delete',
  stepUp: true,
  input: StrictObject({ ruleId: IdText }),
  result: Type.Object({ deleted: Type.Literal(true), ruleId: IdText }),
  example: { ruleId: IDS.ruleId },
  exampleResult: { deleted: true, ruleId: IDS.ruleId },
  async handle({ ruleId }, { stores, caller, record }) {
    const { serviceId } = await stores.alertRules.get(caller.orgId, ruleId);
    const rule = await stores.alertRules.lock(caller.orgId, ruleId);
    const service = await stores.services.get(caller.orgId, serviceId, 'ruleId');
    record({ target: rule.id, before: toRuleView(rule, service), after: null });
    await stores.alertRules.delete(rule);
    return { deleted: true as const, ruleId: rule.id };
  },
});
