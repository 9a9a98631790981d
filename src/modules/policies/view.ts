import { type Static, Type } from 'typebox';

import { EXAMPLE_IDS as IDS, EXAMPLE_STAMPS, IdText, Timestamp } from '#actions/fields.ts';
import { CHANNELS } from '#modules/contacts/decide/channel.ts';
import { readDetails, readSteps } from '#modules/policies/decide/stored_steps.ts';
import { toTimestamp } from '#kernel/time.ts';
import { POLICY_DETAILS, policyDetailsView, STEP_DETAILS, stepDetailsView } from '#modules/policies/details_fields.ts';
import type { PolicyRow } from '#modules/policies/store.ts';

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
