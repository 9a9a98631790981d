import { type Static, Type } from 'typebox';

import type { ActionContext } from '#actions/action_context.ts';
import { IdText, SafeInteger, StrictObject, USERS_MAX } from '#actions/fields.ts';
import { namedUsers, requireUsers } from '#actions/require_users.ts';
import type { RotationConfig } from '#storage/postgres/entities/oncall.ts';

export const RotationConfigInput = StrictObject({
  userIds: Type.Array(IdText, {
    maxItems: USERS_MAX,
    description: 'in order of their turns; a user listed twice has two turns',
  }),
  shiftHours: Type.Optional(SafeInteger),
});

/** Throws `not_found` with the paths of users who do not belong to the organization. */
export async function toRotationConfig(
  input: Static<typeof RotationConfigInput>,
  context: Pick<ActionContext, 'caller' | 'stores'>,
): Promise<RotationConfig> {
  const userIds = await requireUsers(namedUsers('rotationConfig.userIds', input.userIds), context);
  return { userIds, ...(input.shiftHours === undefined ? {} : { shiftHours: input.shiftHours }) };
}
