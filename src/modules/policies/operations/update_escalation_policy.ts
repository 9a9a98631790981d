import { Type } from 'typebox';

import { defineAction, defineOperation } from '#actions/action_context.ts';
import { EXAMPLE_IDS as IDS, EXAMPLE_STAMPS, IdText, Name, StrictObject } from '#actions/fields.ts';
import { AppError } from '#kernel/errors.ts';
import { checkPolicy } from '#modules/policies/check_references.ts';
import { type EscalationStep, keepDetails } from '#modules/policies/decide/escalation.ts';
import { POLICY_STEPS_MAX } from '#modules/policies/decide/policy_details.ts';
import { readSteps } from '#modules/policies/decide/stored_steps.ts';
import {
  POLICY_DETAILS,
  POLICY_DETAILS_EXAMPLE,
  POLICY_EXAMPLE,
  toPolicyDetails,
  toPolicyView,
} from '#modules/policies/view.ts';
import {
  DetailedStepInput,
  PolicyWithWarningsView,
  StepInput,
  toSteps,
  withWarnings,
} from './create_escalation_policy.ts';
import type { PolicyRow } from '#modules/policies/store.ts';

/** Returns the new steps with what those before them say beyond; throws `conflict` when that would be lost. */
function stepsFor({ steps, name }: Pick<PolicyRow, 'steps' | 'name'>, sent: readonly EscalationStep[]) {
  const kept = keepDetails(readSteps(steps), sent);
  if (kept !== null) return kept;
  throw new AppError(
    'conflict',
    `steps of "${name}" say more than this action can change (scheduleIds, turn, members, policyId, needsEverybody): give as many steps as it has, each with its useSchedule and without people where it names another policy, or edit the policy in the console`,
  );
}

export const updateEscalationPolicy = defineAction({
  name: 'update_escalation_policy',
  summary:
    'Rename an escalation policy or replace its steps; without steps it pages nobody. Open incidents keep the steps that they were triggered with.',
  guidance:
    'Steps are replaced as a whole; afterMinutes counts from the trigger. What the policy says beyond these fields stays.',
  conflict: 'its steps say more than this action can change',
  permission: 'oncall:edit',
  effect: 'write',
  input: StrictObject({
    policyId: IdText,
    name: Type.Optional(Name),
    steps: Type.Optional(Type.Array(StepInput, { maxItems: POLICY_STEPS_MAX })),
  }),
  result: PolicyWithWarningsView,
  example: {
    policyId: IDS.policyId,
    name: POLICY_EXAMPLE.name,
    steps: [{ afterMinutes: 0, channels: ['call'], useSchedule: true }],
  },
  exampleResult: {
    ...POLICY_EXAMPLE,
    steps: [{ afterMinutes: 0, channels: ['call'], targetUserIds: [], useSchedule: true }],
    updatedAt: '2027-02-01T13:20:11.046Z',
    warnings: [],
  },
  async handle({ policyId, name, steps }, context) {
    const { stores, caller, now, record } = context;
    const policy = await stores.policies.lock(caller.orgId, policyId);
    const before = toPolicyView(policy);
    if (name !== undefined) policy.name = name;
    if (steps !== undefined) policy.steps = stepsFor(policy, await toSteps(steps, context));
    await stores.policies.save(policy, now);
    const after = toPolicyView(policy);
    record({ target: policy.id, before, after });
    return await withWarnings(policy, context);
  },
});

/** Does what `update_escalation_policy` does, but refuses to overwrite a change made since the editor read it. */
export const replaceEscalationPolicy = defineOperation({
  name: 'replace_escalation_policy',
  summary:
    'Replace an escalation policy, with what it says beyond its steps, unless somebody has changed it since it was read.',
  permission: 'oncall:edit',
  effect: 'write',
  input: StrictObject({
    policyId: IdText,
    basedOn: Type.String({ maxLength: 40, description: 'the updatedAt of what was read' }),
    name: Name,
    steps: Type.Array(DetailedStepInput, { maxItems: POLICY_STEPS_MAX }),
    ...POLICY_DETAILS,
  }),
  result: PolicyWithWarningsView,
  conflict: 'somebody has changed the policy since it was read',
  example: {
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
