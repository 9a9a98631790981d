import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS as IDS, IdText, StrictObject } from '#actions/fields.ts';
import { requireUnnamed } from '#modules/policies/check_references.ts';
import { toPolicyView } from '#modules/policies/view.ts';

export const deleteEscalationPolicy = defineAction({
  name: 'delete_escalation_policy',
  summary:
    'Delete an escalation policy. Alert rules that used it stay, and page nobody until they get another: detachedRuleIds names them. Open incidents go on with the steps that they were triggered with.',
  guidance: 'Ask your user first.',
  permission: 'oncall:edit',
  effect: 'delete',
  stepUp: true,
  input: StrictObject({ policyId: IdText }),
  result: Type.Object({ deleted: Type.Literal(true), policyId: IdText, detachedRuleIds: Type.Array(IdText) }),
  conflict: 'another escalation policy names it',
  example: { policyId: IDS.policyId },
  exampleResult: { deleted: true, policyId: IDS.policyId, detachedRuleIds: [IDS.ruleId] },
  async handle({ policyId }, context) {
    const { stores, caller, now, record } = context;
    const policy = await stores.policies.lock(caller.orgId, policyId);
    await requireUnnamed({ noun: 'policy', ids: [policy.id] }, context);
    const detachedRuleIds = await stores.alertRules.detach(caller.orgId, [policy.id], now);
    record({ target: policy.id, before: { ...toPolicyView(policy), detachedRuleIds }, after: null });
    await stores.policies.delete(policy);
    return { deleted: true as const, policyId: policy.id, detachedRuleIds };
  },
});
