import { Type } from 'typebox';

import { defineAction, defineOperation } from '#actions/action_context.ts';
import { EXAMPLE_IDS as IDS, IdText, Name, StrictObject } from '#actions/fields.ts';
import { checkPolicy } from '#modules/policies/check_references.ts';
import { POLICY_STEPS_MAX } from '#modules/policies/decide/policy_details.ts';
import { POLICY_DETAILS, POLICY_DETAILS_EXAMPLE, toPolicyDetails } from '#modules/policies/details_fields.ts';
import {
  POLICY_WARNINGS_EXAMPLE,
  PolicyWithWarningsView,
  withWarnings,
} from '#modules/policies/operations/policy_warnings.ts';
import { DetailedStepInput, StepInput, toSteps } from '#modules/policies/operations/steps.ts';
import { POLICY_EXAMPLE, toPolicyView } from '#modules/policies/view.ts';

export const createEscalationPolicy = defineAction({
  name: 'create_escalation_policy',
  summary:
    'Create an escalation policy for a team: who is paged, through which channels, and how many minutes after the trigger of an incident. Steps 0, 5, 15 fire at once, after 5 and after 15 minutes.',
  guidance: 'afterMinutes counts from the trigger. Then name it in create_alert_rule.',
  permission: 'oncall:edit',
  effect: 'write',
  input: StrictObject({
    teamId: IdText,
    name: Name,
    steps: Type.Array(StepInput, { minItems: 1, maxItems: POLICY_STEPS_MAX }),
  }),
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

/** Does what `create_escalation_policy` does, with what a policy may say beyond the contract. */
export const addEscalationPolicy = defineOperation({
  name: 'add_escalation_policy',
  summary: 'Create an escalation policy with named schedules, repetition, hours and other policies.',
  permission: 'oncall:edit',
  effect: 'write',
  input: StrictObject({
    teamId: IdText,
    name: Name,
    steps: Type.Array(DetailedStepInput, { minItems: 1, maxItems: POLICY_STEPS_MAX }),
    ...POLICY_DETAILS,
  }),
  result: PolicyWithWarningsView,
  example: {
    name: 'Primary, then secondary',
    steps: [
      { afterMinutes: 0, channels: ['push', 'sms'], useSchedule: true, scheduleIds: [IDS.scheduleId] },
      { afterMinutes: 10, channels: ['call'], useSchedule: true, turn: 'next' },
    ],
    ...POLICY_DETAILS_EXAMPLE,
  },
  async handle({ teamId, name, steps, repeat, hours }, context) {
    const { stores, caller, now, record } = context;
    const team = await stores.teams.lock(caller.orgId, teamId);
    const details = toPolicyDetails({ repeat, hours });
    const policy = await stores.policies.insert(team, { name, steps: await toSteps(steps, context), details }, now);
    await checkPolicy(policy, context);
    const after = toPolicyView(policy);
    record({ target: policy.id, before: null, after });
    return await withWarnings(policy, context);
  },
});
