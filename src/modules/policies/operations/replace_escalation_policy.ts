import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { EXAMPLE_STAMPS } from '#actions/example_stamps.ts';
import { CLOSED, IdText, Name } from '#actions/fields.ts';
import { StepInput, toSteps } from '#modules/policies/operations/steps.ts';
import { POLICY_STEPS_MAX } from '#modules/policies/decide/limits.ts';
import { PolicyView, POLICY_EXAMPLE, toPolicyView } from '#modules/policies/view.ts';
import { AppError } from '#kernel/errors.ts';

/** Does what `update_escalation_policy` does, but refuses to overwrite a change made since the editor read it. */
export const replaceEscalationPolicy = defineAction({
  name: 'replace_escalation_policy',
  consoleOnly: true,
  summary: 'Replace the name and the steps of an escalation policy, unless somebody has changed it since it was read.',
  permission: 'oncall:edit',
  effect: 'write',
  input: Type.Object(
    {
      policyId: IdText,
      basedOn: Type.String({ maxLength: 40, description: 'the updatedAt of what was read' }),
      name: Name,
      steps: Type.Array(StepInput, { maxItems: POLICY_STEPS_MAX }),
    },
    CLOSED,
  ),
  result: PolicyView,
  conflict: 'somebody has changed the policy since it was read',
  example: {
    policyId: EXAMPLE_IDS.policyId,
    basedOn: EXAMPLE_STAMPS.updatedAt,
    name: POLICY_EXAMPLE.name,
    steps: [{ afterMinutes: 0, channels: ['call'], useSchedule: true }],
  },
  async handle({ policyId, basedOn, name, steps }, context) {
    const { stores, caller, now, record } = context;
    const policy = await stores.policies.lock(caller.orgId, policyId);
    const before = toPolicyView(policy);
    if (before.updatedAt !== basedOn) {
      throw new AppError('conflict', 'somebody has changed this policy since you opened it');
    }
    policy.name = name;
    policy.steps = await toSteps(steps, context);
    await stores.policies.save(policy, now);
    const after = toPolicyView(policy);
    record({ target: policy.id, before, after });
    return after;
  },
});
