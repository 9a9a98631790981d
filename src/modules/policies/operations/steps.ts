import { type Static, Type } from 'typebox';

import type { ActionContext } from '#actions/action_context.ts';
import { IdText, StrictObject, USERS_MAX } from '#actions/fields.ts';
import { AfterMinutes, ChannelName } from '#modules/policies/view.ts';
import { namedUsers, requireUsers } from '#actions/require_users.ts';
import type { EscalationStep } from '#modules/policies/decide/escalation.ts';
import { STEP_DETAILS, toStepDetails } from '#modules/policies/details_fields.ts';
import { asId } from '#kernel/ids.ts';

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
