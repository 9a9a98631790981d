import { Type } from 'typebox';

import { endOwnSession } from '#modules/accounts/operations/own_sessions.ts';
import { defineAction } from '#actions/action_context.ts';
import { STRICT } from '#actions/fields.ts';

export const signOut = defineAction({
  name: 'sign_out',
  consoleOnly: true,
  scope: 'signed_in',
  route: 'DELETE /session',
  summary: 'Sign out: the session ends and its cookie is deleted.',
  effect: 'delete',
  input: Type.Object({}, STRICT),
  result: Type.Object({ deleted: Type.Literal(true) }),
  example: {},
  async handle(_input, context) {
    await endOwnSession(context, context.session.sessionId);
    context.browser.takeSessionAway();
    return { deleted: true as const };
  },
});
