import { Type } from 'typebox';

import {
  addPasskey,
  beginApp,
  beginPasskey,
  challengeEnd,
  confirmApp,
  readSecondFactors,
  RecoveryCodes,
  removeApp,
  removePasskey,
  replaceRecoveryCodes,
  SecondFactorsView,
} from '#actions/account/second_factors.ts';
import { requireSecondFactor, type SecondFactorRuntime, SHOWN_FIELDS } from '#actions/account/show_second_factor.ts';
import { completeSignIn, findPendingSignIn } from '#actions/account/sign_in.ts';
import { CLOSED } from '#actions/fields.ts';
import { inUnitOfWork } from '#storage/postgres/unit_of_work.ts';
import { createCipher } from '#auth/cipher.ts';
import { authenticationOptions, relyingPartyOf } from '#auth/second_factor/passkeys.ts';
import type { House } from '#entry/compose.ts';
import { consoleRoute } from '#entry/http/console/route.ts';
import { giveSession, SignInView } from '#entry/http/console/session.ts';
import type { Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import { storesOf } from '#storage/postgres/stores.ts';

const Options = Type.Unknown({ description: 'options of WebAuthn in JSON, for the browser' });
const PendingToken = Type.String({ maxLength: 200 });
const PasskeyResponse = Type.Object({}, { additionalProperties: true, description: 'RegistrationResponseJSON' });

function runtimeOf({ config, db }: House): SecondFactorRuntime {
  return { db, cipher: createCipher(config.appSecret, 'second-factors'), party: relyingPartyOf(config.baseUrl) };
}

/** What the browser needs to show a passkey of this person. */
async function passkeyOptions(
  house: House,
  userId: Id<'user'>,
  holder: string,
  now: Temporal.Instant,
): Promise<object> {
  return await inUnitOfWork(house.actions, async ({ stores }) => {
    const passkeys = await stores.secondFactors.listPasskeys(userId);
    const options = await authenticationOptions(runtimeOf(house).party, passkeys);
    await stores.secondFactors.putChallenge(holder, options.challenge, now, challengeEnd(now));
    return options;
  });
}

export const SECOND_FACTOR_ROUTES = [
  consoleRoute({
    name: 'complete_sign_in',
    method: 'POST',
    path: '/session/second-factor',
    tag: 'Signing in',
    summary: 'Show the second factor that a sign-in waits for; the answer sets the cookie of the session.',
    access: 'anyone',
    body: Type.Object({ token: PendingToken, ...SHOWN_FIELDS }, CLOSED),
    result: SignInView,
    refusals: ['unauthenticated', 'rate_limited'],
    async handle(call) {
      const { house, body, visitor, origin } = call;
      return giveSession(call, await completeSignIn({ ...house.actions, ...runtimeOf(house) }, body, visitor, origin));
    },
  }),
  consoleRoute({
    name: 'begin_passkey_sign_in',
    method: 'POST',
    path: '/session/passkey-options',
    tag: 'Signing in',
    summary: 'Get what the browser needs to show a passkey for a sign-in that waits.',
    access: 'anyone',
    body: Type.Object({ token: PendingToken }, CLOSED),
    result: Options,
    refusals: ['unauthenticated'],
    async handle({ house, body, now }) {
      const { userId, holder } = await findPendingSignIn(storesOf(house.db.session()), body.token, now);
      return await passkeyOptions(house, userId, holder, now);
    },
  }),
  consoleRoute({
    name: 'get_second_factors',
    method: 'GET',
    path: '/me/second-factors',
    tag: 'Own account',
    summary: 'Tell which second factors you have set up.',
    access: 'signed_in',
    result: SecondFactorsView,
    handle: ({ house, session }) => readSecondFactors(storesOf(house.db.session()), session.userId, runtimeOf(house)),
  }),
  consoleRoute({
    name: 'begin_step_up',
    method: 'POST',
    path: '/me/step-up/passkey-options',
    tag: 'Own account',
    summary: 'Get what the browser needs to show a passkey of yours again.',
    access: 'signed_in',
    body: Type.Object({}, CLOSED),
    result: Options,
    handle: ({ house, session, now }) => passkeyOptions(house, session.userId, session.sessionId, now),
  }),
  consoleRoute({
    name: 'step_up',
    method: 'POST',
    path: '/me/step-up',
    tag: 'Own account',
    summary: 'Show your second factor again; for ten minutes you may change keys and roles, and delete.',
    access: 'signed_in',
    body: Type.Object(SHOWN_FIELDS, CLOSED),
    result: Type.Object({ shown: Type.Literal(true) }),
    refusals: ['rate_limited'],
    async handle({ house, session, body, now }) {
      await requireSecondFactor(runtimeOf(house), session.userId, body, { holder: session.sessionId, now });
      await storesOf(house.db.session()).sessions.noteSecondFactor(session.sessionId, now);
      return { shown: true as const };
    },
  }),
  consoleRoute({
    name: 'begin_passkey',
    method: 'POST',
    path: '/me/passkeys/options',
    tag: 'Own account',
    summary: 'Get what the browser needs to make a passkey of yours; it has five minutes.',
    access: 'signed_in',
    stepUp: true,
    body: Type.Object({}, CLOSED),
    result: Options,
    refusals: ['conflict'],
    handle: ({ house, session }) =>
      inUnitOfWork(house.actions, (unit) => beginPasskey(unit, session, runtimeOf(house))),
  }),
  consoleRoute({
    name: 'add_passkey',
    method: 'POST',
    path: '/me/passkeys',
    tag: 'Own account',
    summary: 'Keep the passkey that the browser has made. The first second factor brings recovery codes with it.',
    access: 'signed_in',
    stepUp: true,
    body: Type.Object(
      { name: Type.String({ minLength: 1, maxLength: 100, pattern: '\\S' }), response: PasskeyResponse },
      CLOSED,
    ),
    result: Type.Object({ recoveryCodes: RecoveryCodes }),
    refusals: ['conflict'],
    handle: ({ house, session, body, origin }) =>
      inUnitOfWork(house.actions, (unit) => addPasskey(unit, session, body, runtimeOf(house), origin)),
  }),
  consoleRoute({
    name: 'remove_passkey',
    method: 'POST',
    path: '/me/passkeys/removal',
    tag: 'Own account',
    summary: 'Remove a passkey of yours.',
    access: 'signed_in',
    stepUp: true,
    body: Type.Object({ passkeyId: Type.String({ maxLength: 2_000 }) }, CLOSED),
    result: Type.Object({ deleted: Type.Literal(true) }),
    refusals: ['not_found'],
    handle: ({ house, session, body, origin }) =>
      inUnitOfWork(house.actions, (unit) => removePasskey(unit, session, body.passkeyId, origin)),
  }),
  consoleRoute({
    name: 'begin_authenticator_app',
    method: 'POST',
    path: '/me/authenticator-app',
    tag: 'Own account',
    summary: 'Get a secret for an authenticator app; it counts once a code of it was shown.',
    access: 'signed_in',
    stepUp: true,
    body: Type.Object({}, CLOSED),
    result: Type.Object({ secret: Type.String(), uri: Type.String({ description: 'for a QR code' }) }),
    refusals: ['conflict'],
    handle: ({ house, session }) => inUnitOfWork(house.actions, (unit) => beginApp(unit, session, runtimeOf(house))),
  }),
  consoleRoute({
    name: 'confirm_authenticator_app',
    method: 'POST',
    path: '/me/authenticator-app/confirmation',
    tag: 'Own account',
    summary: 'Show a code of the app. The first second factor brings recovery codes with it.',
    access: 'signed_in',
    stepUp: true,
    body: Type.Object({ code: Type.String({ pattern: '^\\d{6}$', description: 'six digits' }) }, CLOSED),
    result: Type.Object({ recoveryCodes: RecoveryCodes }),
    refusals: ['conflict'],
    handle: ({ house, session, body, origin }) =>
      inUnitOfWork(house.actions, (unit) => confirmApp(unit, session, body.code, runtimeOf(house), origin)),
  }),
  consoleRoute({
    name: 'remove_authenticator_app',
    method: 'DELETE',
    path: '/me/authenticator-app',
    tag: 'Own account',
    summary: 'Remove your authenticator app.',
    access: 'signed_in',
    stepUp: true,
    result: Type.Object({ deleted: Type.Literal(true) }),
    handle: ({ house, session, origin }) => inUnitOfWork(house.actions, (unit) => removeApp(unit, session, origin)),
  }),
  consoleRoute({
    name: 'replace_recovery_codes',
    method: 'POST',
    path: '/me/recovery-codes',
    tag: 'Own account',
    summary: 'Get ten new recovery codes, shown once. The ones before are worthless.',
    access: 'signed_in',
    stepUp: true,
    body: Type.Object({}, CLOSED),
    result: Type.Object({ recoveryCodes: Type.Array(Type.String()) }),
    handle: ({ house, session, origin }) =>
      inUnitOfWork(house.actions, (unit) => replaceRecoveryCodes(unit, session, origin)),
  }),
];
