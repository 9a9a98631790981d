import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { CLOSED, IdText, Name } from '#actions/fields.ts';
import { StepInput, STEPS_MAX, toSteps } from '#actions/policies/steps.ts';
import { PolicyView, toPolicyView } from '#actions/policies/view.ts';

export const updateEscalationPolicy = defineAction({
  name: 'update_escalation_policy',
  summary:
    'Rename an escalation policy or replace its steps; without steps it pages nobody. Open incidents keep the steps that they were triggered with.',
  permission: 'oncall:edit',
  effect: 'write',
  input: Type.Object(
    {
      policyId: IdText,
      name: Type.Optional(Name),
      steps: Type.Optional(Type.Array(StepInput, { maxItems: STEPS_MAX })),
    },
    CLOSED,
  ),
  result: PolicyView,
  async handle({ policyId, name, steps }, context) {
    const { stores, caller, now, record } = context;
    const policy = await stores.policies.lock(caller.orgId, policyId);
    const before = toPolicyView(policy);
    if (name !== undefined) policy.name = name;
    if (steps !== undefined) policy.steps = await toSteps(steps, context);
    await stores.policies.save(policy, now);
    const after = toPolicyView(policy);
    record({ target: policy.id, before, after });
    return after;
  },
});
