import { type Static, Type } from 'typebox';

import { IdText, Timestamp } from '#actions/fields.ts';
import { CHANNELS } from '#core/oncall/channel.ts';
import { toTimestamp } from '#kernel/time.ts';
import type { PolicyRow } from '#storage/postgres/policy_store.ts';

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
    }),
  ),
  createdAt: Timestamp,
  updatedAt: Timestamp,
});

export function toPolicyView(policy: PolicyRow): Static<typeof PolicyView> {
  return {
    policyId: policy.id,
    teamId: policy.teamId,
    name: policy.name,
    steps: policy.steps.map((step) => ({
      afterMinutes: step.afterMinutes,
      channels: [...step.channels],
      targetUserIds: [...step.targetUserIds],
      useSchedule: step.useSchedule,
    })),
    createdAt: toTimestamp(policy.createdAt),
    updatedAt: toTimestamp(policy.updatedAt),
  };
}
