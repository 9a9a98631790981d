import { Type } from 'typebox';

import { findPendingSignIn } from '#modules/accounts/begin_session.ts';
import { PasskeyOptions, passkeyOptions } from '#modules/accounts/operations/second_factors.ts';
import { PendingToken } from '#modules/accounts/operations/show_second_factor.ts';
import { defineAction } from '#actions/action_context.ts';
import { STRICT } from '#actions/fields.ts';

export const beginPasskeySignIn = defineAction({
  name: 'begin_passkey_sign_in',
  consoleOnly: true,
  scope: 'anyone',
  route: 'POST /session/passkey-options',
  summary: 'Get the options with which the browser confirms a pending sign-in by a passkey.',
  effect: 'write',
  input: Type.Object({ token: PendingToken }, STRICT),
  result: PasskeyOptions,
  refusals: ['unauthenticated'],
  example: { token: 'tocsin_pen_0' },
  async handle({ token }, context) {
    const { userId, holder } = await findPendingSignIn(context.stores, token, context.now);
    return await passkeyOptions(context, userId, holder);
  },
});
