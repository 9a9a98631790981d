import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS, EXAMPLE_STAMPS } from '#actions/example_ids.ts';
import { STRICT, IdText, Name } from '#actions/fields.ts';
import { DetailedStepInput, toSteps } from '#modules/policies/operations/steps.ts';
import { POLICY_STEPS_MAX } from '#modules/policies/decide/limits.ts';
import { PolicyWithWarningsView, withWarnings } from '#modules/policies/operations/policy_warnings.ts';
import { POLICY_EXAMPLE, toPolicyView } from '#modules/policies/view.ts';
import { checkPolicy } from '#modules/policies/check_references.ts';
import { POLICY_DETAILS, POLICY_DETAILS_EXAMPLE, toPolicyDetails } from '#modules/policies/details_fields.ts';
import { AppError } from '#kernel/errors.ts';

/** Does what `update_escalation_policy` does, but refuses to overwrite a change made since the editor read it. */
export const replaceEscalationPolicy = defineAction({
  name: 'replace_escalation_policy',
  consoleOnly: true,
  summary:
    'Replace an escalation policy, with what it says beyond its steps, unless somebody has changed it since it was read.',
  permission: 'oncall:edit',
  effect: 'write',
  input: Type.Object(
    {
      policyId: IdText,
      basedOn: Type.String({ maxLength: 40, description: 'the updatedAt of what was read' }),
      name: Name,
      steps: Type.Array(DetailedStepInput, { maxItems: POLICY_STEPS_MAX }),
      ...POLICY_DETAILS,
    },
    STRICT,
  ),
  result: PolicyWithWarningsView,
  conflict: 'somebody has changed the policy since it was read',
  example: {
    policyId: EXAMPLE_IDS.policyId,
    basedOn: EXAMPLE_STAMPS.updatedAt,
    name: POLICY_EXAMPLE.name,
    steps: [{ afterMinutes: 0, channels: ['call'], useSchedule: true }],
    ...POLICY_DETAILS_EXAMPLE,
  },
  async handle({ policyId, basedOn, name, steps, repeat, hours }, context) {
    const { stores, caller, now, record } = context;
    const policy = await stores.policies.lock(caller.orgId, policyId);
    const before = toPolicyView(policy);
    if (before.updatedAt !== basedOn) {
      throw new AppError('conflict', 'somebody has changed this policy since you opened it');
    }
    policy.name = name;
    policy.steps = await toSteps(steps, context);
    policy.details = toPolicyDetails({ repeat, hours });
    await checkPolicy(policy, context);
    await stores.policies.save(policy, now);
    const after = toPolicyView(policy);
    record({ target: policy.id, before, after });
    return await withWarnings(policy, context);
  },
});
