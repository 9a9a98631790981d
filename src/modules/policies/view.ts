import { type Static, Type } from 'typebox';

import { EXAMPLE_IDS as IDS, EXAMPLE_STAMPS, IdText, Timestamp } from '#actions/fields.ts';
import { StrictObject } from '#kernel/action.ts';
import { asId } from '#kernel/ids.ts';
import { toTimestamp } from '#kernel/time.ts';
import { CHANNELS } from '#modules/contacts/decide/channel.ts';
import { LEVELS } from '#modules/exceptions/decide/level.ts';
import {
  PAUSE_MINUTES_MAX,
  type PolicyDetails,
  REPEAT_TIMES_MAX,
  type StepDetails,
  WINDOWS_MAX,
} from '#modules/policies/decide/policy_details.ts';
import { readDetails, readSteps } from '#modules/policies/decide/stored_steps.ts';
import type { PolicyRow } from './store.ts';

const SCHEDULES_MAX = 100;

/** Fields of a step beyond the contract's. */
export const STEP_DETAILS = {
  scheduleIds: Type.Optional(
    Type.Array(IdText, {
      minItems: 1,
      maxItems: SCHEDULES_MAX,
      description:
        'with useSchedule: only the people on call by these schedules of the team; all of them when left out',
    }),
  ),
  turn: Type.Optional(
    Type.Enum(['next'], { description: 'with useSchedule: those whose turn follows, instead of those on call' }),
  ),
  members: Type.Optional(
    StrictObject(
      {
        teamId: IdText,
        inTurn: Type.Optional(
          Type.Literal(true, { description: 'one of them, another with each incident; only in the first step' }),
        ),
      },
      { description: 'also the members of a team' },
    ),
  ),
  policyId: Type.Optional(
    Type.String({ description: 'the steps of this policy follow instead, and count their minutes from this step' }),
  ),
  needsEverybody: Type.Optional(
    Type.Literal(true, {
      description: 'everybody whom it pages must acknowledge; an acknowledgement stops the pages of one person only',
    }),
  ),
};

const Time = (pattern: string, description: string) => Type.String({ pattern, description });

/** Fields of a policy beyond the contract's. */
export const POLICY_DETAILS = {
  repeat: Type.Optional(
    StrictObject(
      {
        times: Type.Integer({ minimum: 1, maximum: REPEAT_TIMES_MAX }),
        pauseMinutes: Type.Integer({ minimum: 1, maximum: PAUSE_MINUTES_MAX }),
      },
      { description: 'how often the steps begin again, each time so many minutes after the last one' },
    ),
  ),
  hours: Type.Optional(
    StrictObject({
      timezone: Type.String({ maxLength: 100, description: 'IANA name' }),
      windows: Type.Array(
        StrictObject({
          days: Type.Array(Type.Integer({ minimum: 1, maximum: 7 }), {
            maxItems: 7,
            description: 'days on which it starts, 1 for Monday to 7 for Sunday',
          }),
          from: Time('^([01][0-9]|2[0-3]):[0-5][0-9]$', 'HH:MM'),
          to: Time('^([01][0-9]|2[0-3]):[0-5][0-9]$|^24:00$', 'HH:MM; over midnight when it is not after from'),
        }),
        { maxItems: WINDOWS_MAX },
      ),
      outside: Type.Union([Type.Literal('hold'), StrictObject({ policyId: IdText })], {
        description: 'hold: its minutes count only within the hours; or the policy that runs instead',
      }),
      exemptFrom: Type.Union([Type.Enum([...LEVELS]), Type.Null()], {
        description: 'incidents of this severity or a worse one page at any time; null for none',
      }),
    }),
  ),
};

const StepDetailsInput = Type.Object(STEP_DETAILS);
const PolicyDetailsInput = Type.Object(POLICY_DETAILS);

/** Example of what a policy may say beyond the contract. */
export const POLICY_DETAILS_EXAMPLE: Required<Static<typeof PolicyDetailsInput>> = {
  repeat: { times: 2, pauseMinutes: 15 },
  hours: {
    timezone: 'Europe/Amsterdam',
    windows: [{ days: [1, 2, 3, 4, 5], from: '09:00', to: '17:00' }],
    outside: 'hold',
    exemptFrom: 'fatal',
  },
};

/** Returns the fields of a step beyond the contract's, without those that are absent. */
export function toStepDetails(input: Static<typeof StepDetailsInput>): StepDetails {
  const { scheduleIds, turn, members, policyId, needsEverybody } = input;
  return {
    ...(scheduleIds && { scheduleIds: scheduleIds.map((id) => asId('schedule', id)) }),
    ...(turn && { turn }),
    ...(members && {
      members: { teamId: asId('team', members.teamId), ...(members.inTurn && { inTurn: members.inTurn }) },
    }),
    ...(policyId !== undefined && { policyId: asId('policy', policyId) }),
    ...(needsEverybody && { needsEverybody }),
  };
}

type GivenDetails = { readonly [Name in keyof PolicyFields]: PolicyFields[Name] | undefined };
type PolicyFields = Required<Static<typeof PolicyDetailsInput>>;

/** Returns the details of a policy; null when it says nothing beyond its steps. */
export function toPolicyDetails({ repeat, hours }: GivenDetails): PolicyDetails | null {
  if (repeat === undefined && hours === undefined) return null;
  if (hours === undefined) return { ...(repeat && { repeat }) };
  const { outside } = hours;
  const then = outside === 'hold' ? outside : { policyId: asId('policy', outside.policyId) };
  return { ...(repeat && { repeat }), hours: { ...hours, outside: then } };
}

/** Returns the fields of a step as they leave the product. */
export function stepDetailsView(step: StepDetails): Static<typeof StepDetailsInput> {
  const { scheduleIds, turn, members, policyId, needsEverybody } = step;
  return {
    ...(scheduleIds && { scheduleIds: [...scheduleIds] }),
    ...(turn && { turn }),
    ...(members && { members: { ...members } }),
    ...(policyId !== undefined && { policyId }),
    ...(needsEverybody && { needsEverybody }),
  };
}

/** Returns the details of a policy as they leave the product. */
function policyDetailsView(details: PolicyDetails | null): Static<typeof PolicyDetailsInput> {
  const { repeat, hours } = details ?? {};
  return {
    ...(repeat && { repeat: { ...repeat } }),
    ...(hours && {
      hours: {
        ...hours,
        windows: hours.windows.map((window) => ({ ...window, days: [...window.days] })),
        exemptFrom: LEVELS.find((level) => level === hours.exemptFrom) ?? null,
      },
    }),
  };
}

export const ChannelName = Type.Enum([...CHANNELS]);

export const AfterMinutes = Type.Integer({
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
  description: 'after the trigger of the incident, not after the step before',
});

export const PolicyView = Type.Object({
  policyId: IdText,
  teamId: IdText,
  name: Type.String(),
  steps: Type.Array(
    Type.Object({
      afterMinutes: AfterMinutes,
      channels: Type.Array(ChannelName),
      targetUserIds: Type.Array(IdText),
      useSchedule: Type.Boolean(),
      ...STEP_DETAILS,
    }),
  ),
  ...POLICY_DETAILS,
  createdAt: Timestamp,
  updatedAt: Timestamp,
});

export const POLICY_EXAMPLE: Static<typeof PolicyView> = {
  policyId: IDS.policyId,
  teamId: IDS.teamId,
  name: 'Wake somebody',
  steps: [
    { afterMinutes: 0, channels: ['push', 'sms'], targetUserIds: [], useSchedule: true },
    { afterMinutes: 10, channels: ['call'], targetUserIds: [IDS.otherUserId], useSchedule: false },
  ],
  ...EXAMPLE_STAMPS,
};

export function toPolicyView(policy: PolicyRow): Static<typeof PolicyView> {
  return {
    policyId: policy.id,
    teamId: policy.teamId,
    name: policy.name,
    steps: readSteps(policy.steps).map((step) => ({
      afterMinutes: step.afterMinutes,
      channels: [...step.channels],
      targetUserIds: [...step.targetUserIds],
      useSchedule: step.useSchedule,
      ...stepDetailsView(step),
    })),
    ...policyDetailsView(readDetails(policy.details)),
    createdAt: toTimestamp(policy.createdAt),
    updatedAt: toTimestamp(policy.updatedAt),
  };
}
