import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { STRICT } from '#actions/fields.ts';
import { newTotpSecret, totpUri } from '#auth/second_factor/totp.ts';
import { AppError } from '#kernel/errors.ts';

export const beginAuthenticatorApp = defineAction({
  name: 'begin_authenticator_app',
  consoleOnly: true,
  scope: 'signed_in',
  route: 'POST /me/authenticator-app',
  stepUp: true,
  summary: 'Get a secret for an authenticator app. It takes effect once you confirm a code of the app.',
  effect: 'write',
  input: Type.Object({}, STRICT),
  result: Type.Object({ secret: Type.String(), uri: Type.String({ description: 'for a QR code' }) }),
  conflict: 'an app is set up already',
  example: {},
  async handle(_input, { stores, session: { userId, email }, installation }) {
    const present = await stores.secondFactors.findApp(userId);
    if (present?.confirmedAt != null) throw new AppError('conflict', 'remove the app that is set up first');
    const secret = newTotpSecret();
    await stores.secondFactors.replaceApp(userId, installation.ciphers.secondFactors.encrypt(secret));
    return { secret, uri: totpUri(secret, email) };
  },
});
