import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { STRICT } from '#actions/fields.ts';
import { callerUser } from '#modules/accounts/caller_user.ts';
import { AppError } from '#kernel/errors.ts';

export const revokeOwnCalendar = defineAction({
  name: 'revoke_own_calendar',
  consoleOnly: true,
  summary: 'Revoke the secret address of your shifts: it stops working from the next request on.',
  permission: 'organization:view',
  effect: 'delete',
  input: Type.Object({}, STRICT),
  result: Type.Object({ revoked: Type.Literal(true) }),
  example: {},
  async handle(_input, { caller, stores, record }) {
    const userId = callerUser(caller);
    if (!(await stores.ownCalendars.delete(caller.orgId, userId))) {
      throw new AppError('not_found', 'you have no calendar address');
    }
    record({ target: userId, before: { live: true }, after: null });
    return { revoked: true as const };
  },
});
