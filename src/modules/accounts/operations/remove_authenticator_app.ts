import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { STRICT } from '#actions/fields.ts';

export const removeAuthenticatorApp = defineAction({
  name: 'remove_authenticator_app',
  consoleOnly: true,
  scope: 'signed_in',
  route: 'DELETE /me/authenticator-app',
  stepUp: true,
  summary: 'Remove your authenticator app.',
  effect: 'delete',
  input: Type.Object({}, STRICT),
  result: Type.Object({ deleted: Type.Literal(true) }),
  example: {},
  async handle(_input, { stores, session: { userId }, record }) {
    await stores.secondFactors.deleteApp(userId);
    record({ userId, target: userId, before: { confirmed: true }, after: null });
    return { deleted: true as const };
  },
});
