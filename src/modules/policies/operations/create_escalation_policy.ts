import { type Static, Type } from 'typebox';

import { type ActionContext, defineAction, defineOperation } from '#actions/action_context.ts';
import { EXAMPLE_IDS as IDS, IdText, Name, USERS_MAX } from '#actions/fields.ts';
import { namedUsers, requireUsers } from '#actions/require_users.ts';
import { StrictObject } from '#kernel/action.ts';
import { asId } from '#kernel/ids.ts';
import { checkPolicy } from '#modules/policies/check_references.ts';
import type { EscalationStep } from '#modules/policies/decide/escalation.ts';
import { POLICY_STEPS_MAX } from '#modules/policies/decide/policy_details.ts';
import { type PolicyRow, readPolicy } from '#modules/policies/store.ts';
import {
  AfterMinutes,
  ChannelName,
  POLICY_DETAILS,
  POLICY_DETAILS_EXAMPLE,
  POLICY_EXAMPLE,
  PolicyView,
  STEP_DETAILS,
  toPolicyDetails,
  toPolicyView,
  toStepDetails,
} from '#modules/policies/view.ts';
import { readAboutPolicies, readWarnings, WARNING_EXAMPLE, WarningView } from '#modules/teams/warnings.ts';

/** Limit on the channels of a step; one that is named twice counts once. */
const CHANNELS_MAX = 20;

export const StepInput = StrictObject({
  afterMinutes: AfterMinutes,
  channels: Type.Array(ChannelName, { minItems: 1, maxItems: CHANNELS_MAX }),
  targetUserIds: Type.Optional(Type.Array(IdText, { maxItems: USERS_MAX })),
  useSchedule: Type.Optional(
    Type.Boolean({ description: 'also the people on call in the team of the policy when the step fires' }),
  ),
});

/** A step with what it may say beyond the contract. */
export const DetailedStepInput = StrictObject({ ...StepInput.properties, ...STEP_DETAILS });

/** Returns the steps with their defaults filled in; `not_found` with the paths of users not of the organization. */
export async function toSteps(
  input: readonly Static<typeof DetailedStepInput>[],
  context: Pick<ActionContext, 'caller' | 'stores'>,
): Promise<EscalationStep[]> {
  await requireUsers(
    input.flatMap(({ targetUserIds = [] }, index) => namedUsers(`steps[${index}].targetUserIds`, targetUserIds)),
    context,
  );
  return input.map(withDefaults);
}

/** Fills in defaults, without checking that the users are of the organization. */
export function withDefaults({
  afterMinutes,
  channels,
  targetUserIds = [],
  useSchedule = false,
  ...details
}: Static<typeof DetailedStepInput>): EscalationStep {
  const userIds = targetUserIds.map((userId) => asId('user', userId));
  return { afterMinutes, channels, targetUserIds: userIds, useSchedule, ...toStepDetails(details) };
}

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
