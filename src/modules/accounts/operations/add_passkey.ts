import { Type } from 'typebox';

import { afterAdding, RecoveryCodes } from '#modules/accounts/operations/second_factors.ts';
import { defineAction } from '#actions/action_context.ts';
import { STRICT } from '#actions/fields.ts';
import { relyingPartyOf, verifyRegistration } from '#auth/second_factor/passkeys.ts';
import { AppError } from '#kernel/errors.ts';

const PasskeyName = Type.String({
  minLength: 1,
  maxLength: 100,
  pattern: '\\S',
  description: 'a name that is not blank',
});
const PasskeyResponse = Type.Object({}, { additionalProperties: true, description: 'RegistrationResponseJSON' });

export const addPasskey = defineAction({
  name: 'add_passkey',
  consoleOnly: true,
  scope: 'signed_in',
  route: 'POST /me/passkeys',
  stepUp: true,
  summary: 'Save the passkey that the browser has created. The first second factor comes with recovery codes.',
  effect: 'write',
  input: Type.Object({ name: PasskeyName, response: PasskeyResponse }, STRICT),
  result: Type.Object({ recoveryCodes: RecoveryCodes }),
  conflict: 'the challenge has expired, or the passkey is known already',
  example: { name: 'Laptop', response: {} },
  async handle({ name, response }, context) {
    const { stores, now, session, baseUrl, record } = context;
    const { userId, sessionId } = session;
    const challenge = await stores.secondFactors.takeChallenge(sessionId, now);
    if (challenge === null) throw new AppError('conflict', 'this took too long; start again');
    const made = await verifyRegistration(relyingPartyOf(baseUrl), response, challenge);
    if (!(await stores.secondFactors.insertPasskey({ ...made, userId, name, createdAt: now }))) {
      throw new AppError('conflict', 'this passkey is already registered');
    }
    record({ userId, target: userId, before: null, after: { name } });
    return await afterAdding(context);
  },
});
