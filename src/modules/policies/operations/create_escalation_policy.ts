import { type Static, Type } from 'typebox';

import { type ActionContext, defineAction, defineOperation } from '#actions/action_context.ts';
import { EXAMPLE_IDS as IDS, IdText, Name } from '#actions/fields.ts';
import { StrictObject } from '#kernel/action.ts';
import { checkPolicy } from '#modules/policies/check_references.ts';
import { POLICY_STEPS_MAX } from '#modules/policies/decide/policy_details.ts';
import { POLICY_DETAILS, POLICY_DETAILS_EXAMPLE, toPolicyDetails } from '#modules/policies/details_fields.ts';
import { type PolicyRow, readPolicy } from '#modules/policies/store.ts';
import { POLICY_EXAMPLE, PolicyView, toPolicyView } from '#modules/policies/view.ts';
import { readAboutPolicies, readWarnings, WARNING_EXAMPLE, WarningView } from '#modules/teams/warnings.ts';
import { DetailedStepInput, StepInput, toSteps } from './steps.ts';

/** A policy that was just changed. */
export const PolicyWithWarningsView = Type.Object({
  ...PolicyView.properties,
  warnings: Type.Array(WarningView, {
    description:
      'steps that would reach nobody now, people who are on call twice, and people who may not answer; none when all is well',
  }),
});

const POLICY_WARNINGS_EXAMPLE = [WARNING_EXAMPLE];

const SHOWN: ReadonlySet<string> = new Set<Static<typeof WarningView>['kind']>([
  'policy_unreadable',
  'step_reaches_nobody',
  'on_call_twice',
  'cannot_answer',
]);

/** Adds the warnings of a policy: steps that cannot be read, or would reach nobody if they fired now. */
export async function withWarnings(
  stored: PolicyRow,
  context: ActionContext,
): Promise<Static<typeof PolicyWithWarningsView>> {
  const { stores, caller, now } = context;
  const policy = readPolicy(stored);
  const members = await stores.teams.listMembers(caller.orgId, [policy.teamId]);
  const onCall = await stores.onCall.ofTeam(caller.orgId, policy.teamId, now);
  const [warnings = []] = await readWarnings([{ members, policies: [policy], onCall }], context);
  const isAbout = await readAboutPolicies([policy], context);
  return {
    ...toPolicyView(policy),
    warnings: warnings.filter((warning) => isAbout(warning, policy) && SHOWN.has(warning.kind)),
  };
}

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
