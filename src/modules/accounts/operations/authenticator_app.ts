import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { newTotpSecret, periodOfCode, totpUri } from '#auth/second_factor/codes.ts';
import { StrictObject } from '#kernel/action.ts';
import { AppError, invalidInput } from '#kernel/errors.ts';
import { afterAdding, RecoveryCodes } from '#modules/accounts/operations/second_factors.ts';

export const beginAuthenticatorApp = defineAction({
  name: 'begin_authenticator_app',
  consoleOnly: true,
  scope: 'signed_in',
  route: 'POST /me/authenticator-app',
  stepUp: true,
  summary: 'Get a secret for an authenticator app. It takes effect once you confirm a code of the app.',
  effect: 'write',
  input: StrictObject({}),
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

export const confirmAuthenticatorApp = defineAction({
  name: 'confirm_authenticator_app',
  consoleOnly: true,
  scope: 'signed_in',
  route: 'POST /me/authenticator-app/confirmation',
  stepUp: true,
  summary: 'Confirm the authenticator app with a code of it. The first second factor comes with recovery codes.',
  effect: 'write',
  input: StrictObject({ code: Type.String({ pattern: '^\\d{6}$', description: 'six digits' }) }),
  result: Type.Object({ recoveryCodes: RecoveryCodes }),
  conflict: 'no app waits to be confirmed',
  example: { code: '123456' },
  async handle({ code }, context) {
    const { stores, now, session, installation, record } = context;
    const { userId } = session;
    const app = await stores.secondFactors.findApp(userId);
    if (app === null || app.confirmedAt !== null) {
      throw new AppError('conflict', 'no authenticator app is waiting to be confirmed; start again');
    }
    const period = periodOfCode(installation.ciphers.secondFactors.decrypt(app.secretSealed), code, now);
    if (period === null) throw invalidInput([{ path: 'code', message: 'is not the current code of the app' }]);
    await stores.secondFactors.confirmApp(userId, now);
    await stores.secondFactors.takePeriod(userId, period);
    record({ userId, action: 'add_authenticator_app', target: userId, before: null, after: { confirmed: true } });
    return await afterAdding(context);
  },
});

export const removeAuthenticatorApp = defineAction({
  name: 'remove_authenticator_app',
  consoleOnly: true,
  scope: 'signed_in',
  route: 'DELETE /me/authenticator-app',
  stepUp: true,
  summary: 'Remove your authenticator app.',
  effect: 'delete',
  input: StrictObject({}),
  result: Type.Object({ deleted: Type.Literal(true) }),
  example: {},
  async handle(_input, { stores, session: { userId }, record }) {
    await stores.secondFactors.deleteApp(userId);
    record({ userId, target: userId, before: { confirmed: true }, after: null });
    return { deleted: true as const };
  },
});
