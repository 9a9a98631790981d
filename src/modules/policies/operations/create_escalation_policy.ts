import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS as IDS } from '#actions/example_ids.ts';
import { STRICT, IdText, Name } from '#actions/fields.ts';
import {
  POLICY_WARNINGS_EXAMPLE,
  PolicyWithWarningsView,
  withWarnings,
} from '#modules/policies/operations/policy_warnings.ts';
import { StepInput, toSteps } from '#modules/policies/operations/steps.ts';
import { POLICY_STEPS_MAX } from '#modules/policies/decide/limits.ts';
import { toPolicyView, POLICY_EXAMPLE } from '#modules/policies/view.ts';

export const createEscalationPolicy = defineAction({
  name: 'create_escalation_policy',
  summary:
    'Create an escalation policy for a team: who is paged, through which channels, and how many minutes after the trigger of an incident. Steps 0, 5, 15 fire at once, after 5 and after 15 minutes.',
  guidance: 'afterMinutes counts from the trigger. Then name it in create_alert_rule.',
  permission: 'oncall:edit',
  effect: 'write',
  input: Type.Object(
    { teamId: IdText, name: Name, steps: Type.Array(StepInput, { minItems: 1, maxItems: POLICY_STEPS_MAX }) },
    STRICT,
  ),
  result: PolicyWithWarningsView,
  example: { teamId: IDS.teamId, name: POLICY_EXAMPLE.name, steps: POLICY_EXAMPLE.steps },
  exampleResult: { ...POLICY_EXAMPLE, warnings: POLICY_WARNINGS_EXAMPLE },
  async handle(input, context) {
    const { stores, caller, now, record } = context;
    const team = await stores.teams.lock(caller.orgId, input.teamId);
    const steps = await toSteps(input.steps, context);
    const policy = await stores.policies.insert(team, { name: input.name, steps, details: null }, now);
    const after = toPolicyView(policy);
    record({ target: policy.id, before: null, after });
    return await withWarnings(policy, context);
  },
});
