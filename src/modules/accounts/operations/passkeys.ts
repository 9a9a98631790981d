import { Type } from 'typebox';

import { defineOperation } from '#actions/action_context.ts';
import { hasPasskeys, registrationOptions, relyingPartyOf, verifyRegistration } from '#auth/passkeys.ts';
import { StrictObject } from '#kernel/action.ts';
import { AppError, notFound } from '#kernel/errors.ts';
import { findPendingSignIn } from '#modules/accounts/begin_session.ts';
import {
  afterAdding,
  challengeEnd,
  PasskeyOptions,
  passkeyOptions,
  PendingToken,
  RecoveryCodes,
} from '#modules/accounts/operations/second_factors.ts';

const PasskeyName = Type.String({
  minLength: 1,
  maxLength: 100,
  pattern: '\\S',
  description: 'a name that is not blank',
});
const PasskeyResponse = Type.Object({}, { additionalProperties: true, description: 'RegistrationResponseJSON' });

export const addPasskey = defineOperation({
  name: 'add_passkey',
  scope: 'signed_in',
  route: 'POST /me/passkeys',
  stepUp: true,
  countsEverywhere: true,
  summary: 'Save the passkey that the browser has created. The first second factor comes with recovery codes.',
  effect: 'write',
  input: StrictObject({ name: PasskeyName, response: PasskeyResponse }),
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

const PASSKEYS_MAX = 20;

export const beginPasskey = defineOperation({
  name: 'begin_passkey',
  scope: 'signed_in',
  route: 'POST /me/passkeys/options',
  stepUp: true,
  countsEverywhere: true,
  summary: 'Get the options with which the browser creates a passkey of yours. They expire after five minutes.',
  effect: 'write',
  result: PasskeyOptions,
  conflict: `the base address has no host name, or you have ${PASSKEYS_MAX} passkeys`,
  async handle(_input, { stores, now, session, baseUrl }) {
    const party = relyingPartyOf(baseUrl);
    if (!hasPasskeys(party)) {
      throw new AppError('conflict', 'passkeys need a base address with a host name; use an authenticator app');
    }
    const present = await stores.secondFactors.listPasskeys(session.userId);
    if (present.length >= PASSKEYS_MAX) throw new AppError('conflict', `you have ${PASSKEYS_MAX} passkeys; remove one`);
    const options = await registrationOptions(party, session, present);
    await stores.secondFactors.putChallenge(session.sessionId, options.challenge, now, challengeEnd(now));
    return options;
  },
});

export const removePasskey = defineOperation({
  name: 'remove_passkey',
  scope: 'signed_in',
  route: 'POST /me/passkeys/removal',
  stepUp: true,
  countsEverywhere: true,
  summary: 'Remove a passkey of yours.',
  effect: 'delete',
  input: StrictObject({ passkeyId: Type.String({ maxLength: 2_000 }) }),
  result: Type.Object({ deleted: Type.Literal(true) }),
  refusals: ['not_found'],
  example: { passkeyId: 'c0ffee' },
  async handle({ passkeyId }, { stores, session: { userId }, record }) {
    if (!(await stores.secondFactors.deletePasskey(userId, passkeyId))) throw notFound('passkeyId', 'passkey');
    record({ userId, target: userId, before: { passkeyId }, after: null });
    return { deleted: true as const };
  },
});

export const beginPasskeySignIn = defineOperation({
  name: 'begin_passkey_sign_in',
  scope: 'anyone',
  route: 'POST /session/passkey-options',
  summary: 'Get the options with which the browser confirms a pending sign-in by a passkey.',
  effect: 'write',
  input: StrictObject({ token: PendingToken }),
  result: PasskeyOptions,
  refusals: ['unauthenticated'],
  example: { token: 'tocsin_pen_0' },
  async handle({ token }, context) {
    const { userId, holder } = await findPendingSignIn(context.stores, token, context.now);
    return await passkeyOptions(context, userId, holder);
  },
});
