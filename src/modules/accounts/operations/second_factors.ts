import { type Static, type TObject, Type } from 'typebox';

import { type AccountContext, defineOperation, type SignedInContext } from '#actions/action_context.ts';
import { nullable, StrictObject, Timestamp } from '#actions/fields.ts';
import { authenticationOptions, hasPasskeys, relyingPartyOf, verifyAuthentication } from '#auth/passkeys.ts';
import { newRecoveryCodes, newTotpSecret, periodOfCode, recoveryCodeHash, totpUri } from '#auth/second_factor_codes.ts';
import { countTry, forgetTries, secondFactorTriesOf } from '#auth/sign_in_limiter.ts';
import { AppError, type Fault, invalidInput } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import { type Temporal, toTimestamp, toTimestampOrNull } from '#kernel/time.ts';

/** Recovery codes, shown once; null when there were some before. */
export const RecoveryCodes = nullable(Type.Array(Type.String(), { description: 'shown this once; each works once' }));

export const PasskeyOptions = Type.Unknown({ description: 'options of WebAuthn in JSON, for the browser' });

const CHALLENGE_MINUTES = 5;

export function challengeEnd(now: Temporal.Instant): Temporal.Instant {
  return now.add({ minutes: CHALLENGE_MINUTES });
}

/** Returns the options with which the browser asks for a passkey of this person; the challenge is kept for `holder`. */
export async function passkeyOptions(
  { stores, now, baseUrl }: AccountContext,
  userId: Id<'user'>,
  holder: string,
): Promise<object> {
  const passkeys = await stores.secondFactors.listPasskeys(userId);
  const options = await authenticationOptions(relyingPartyOf(baseUrl), passkeys);
  await stores.secondFactors.putChallenge(holder, options.challenge, now, challengeEnd(now));
  return options;
}

/** Counts a second factor that was added as shown in this session; the first brings recovery codes with it. */
export async function afterAdding(context: SignedInContext): Promise<{ recoveryCodes: string[] | null }> {
  const { stores, now, session } = context;
  const { userId, sessionId } = session;
  await stores.sessions.noteSecondFactor(sessionId, now);
  const { recoveryCodesLeft } = await stores.secondFactors.summaryOf(userId);
  return { recoveryCodes: recoveryCodesLeft > 0 ? null : await replaceCodes(context) };
}

/** Creates new recovery codes; the ones before stop working. */
async function replaceCodes({ stores, session: { userId }, record }: SignedInContext): Promise<string[]> {
  const recoveryCodes = newRecoveryCodes();
  await stores.secondFactors.replaceRecoveryCodes(userId, recoveryCodes.map(recoveryCodeHash));
  record({ userId, action: 'replace_recovery_codes', target: userId, before: null, after: { replaced: true } });
  return recoveryCodes;
}

/** Fields for a second factor, one of which is given: the code of an app, a recovery code, or a passkey's signature. */
export const SHOWN_FIELDS = {
  code: Type.Optional(Type.String({ pattern: '^\\d{6}$', description: 'six digits of the authenticator app' })),
  recoveryCode: Type.Optional(Type.String({ minLength: 1, maxLength: 100, description: 'works once' })),
  passkey: Type.Optional(
    Type.Object({}, { additionalProperties: true, description: 'AuthenticationResponseJSON of WebAuthn' }),
  ),
};

type ShownFactor = Static<TObject<typeof SHOWN_FIELDS>>;

/** Token of a sign-in that waits for the second factor. */
export const PendingToken = Type.String({ maxLength: 200 });

const LOCKED_MINUTES = 15;

/**
 * Checks what a person shows besides the password; `holder` is what a passkey was challenged for. Throws
 * `invalid_input` when it is wrong, since `unauthenticated` would say that the session has ended, and `rate_limited`
 * after too many wrong ones, for 15 minutes. Each code and challenge works once. For `prepare`: a wrong try counts when
 * the rest is refused.
 */
export async function requireSecondFactor(
  context: AccountContext,
  userId: Id<'user'>,
  shown: ShownFactor,
  holder: string,
): Promise<void> {
  const { stores, now, installation } = context;
  const key = secondFactorTriesOf(userId);
  const tried = await countTry(
    stores,
    { key, max: installation.limits.secondFactorTriesMax, windowSeconds: LOCKED_MINUTES * 60 },
    now,
  );
  if (!tried.isAllowed) {
    throw new AppError('rate_limited', 'too many wrong codes; wait a quarter of an hour, then try again', {
      limit: 'secondFactorTriesMax',
      retryAfterSeconds: tried.retryAfterSeconds,
    });
  }
  if (!(await isRight(context, userId, shown, holder))) throw invalidInput([wrongOf(shown)]);
  await forgetTries(stores, key);
}

function wrongOf({ code, recoveryCode, passkey }: ShownFactor): Fault {
  if (code !== undefined) return { path: 'code', message: 'is wrong or was used before; try the next code' };
  if (recoveryCode !== undefined) return { path: 'recoveryCode', message: 'is wrong or was used before' };
  if (passkey !== undefined)
    return { path: 'passkey', message: 'is not one of yours, or this took too long; try again' };
  return { path: '', message: 'show a code, a recovery code or a passkey' };
}

async function isRight(
  { stores: { secondFactors }, now, installation, baseUrl }: AccountContext,
  userId: Id<'user'>,
  { code, recoveryCode, passkey }: ShownFactor,
  holder: string,
): Promise<boolean> {
  if (code !== undefined) {
    const app = await secondFactors.findApp(userId);
    if (app === null || app.confirmedAt === null) return false;
    const period = periodOfCode(installation.ciphers.secondFactors.decrypt(app.secretSealed), code, now);
    return period !== null && (await secondFactors.takePeriod(userId, period));
  }
  if (recoveryCode !== undefined) {
    return await secondFactors.useRecoveryCode(userId, recoveryCodeHash(recoveryCode), now);
  }
  if (passkey === undefined) return false;
  const challenge = await secondFactors.takeChallenge(holder, now);
  const stored = (await secondFactors.listPasskeys(userId)).find(({ id }) => id === idOf(passkey));
  if (challenge === null || stored === undefined) return false;
  const counter = await verifyAuthentication(relyingPartyOf(baseUrl), passkey, challenge, stored);
  if (counter === null) return false;
  await secondFactors.notePasskeyUse(stored.id, counter, now);
  return true;
}

function idOf(passkey: object): unknown {
  return 'id' in passkey ? passkey.id : null;
}

const SecondFactorsView = Type.Object({
  passkeys: Type.Array(
    Type.Object({
      passkeyId: Type.String(),
      name: Type.String(),
      createdAt: Timestamp,
      lastUsedAt: nullable(Timestamp),
    }),
    { description: 'oldest first' },
  ),
  canAddPasskeys: Type.Boolean({ description: 'false where the base address has no host name' }),
  hasApp: Type.Boolean({ description: 'whether an authenticator app is set up' }),
  recoveryCodesLeft: Type.Integer(),
});

export const getSecondFactors = defineOperation({
  name: 'get_second_factors',
  scope: 'signed_in',
  route: 'GET /me/second-factors',
  summary: 'Show which second factors you have set up.',
  effect: 'read',
  result: SecondFactorsView,
  async handle(_input, { stores: { secondFactors }, session: { userId }, baseUrl }) {
    const passkeys = await secondFactors.listPasskeys(userId);
    const { hasApp, recoveryCodesLeft } = await secondFactors.summaryOf(userId);
    return {
      passkeys: passkeys.map(({ id, name, createdAt, lastUsedAt }) => ({
        passkeyId: id,
        name,
        createdAt: toTimestamp(createdAt),
        lastUsedAt: toTimestampOrNull(lastUsedAt),
      })),
      canAddPasskeys: hasPasskeys(relyingPartyOf(baseUrl)),
      hasApp,
      recoveryCodesLeft,
    };
  },
});

export const replaceRecoveryCodes = defineOperation({
  name: 'replace_recovery_codes',
  scope: 'signed_in',
  route: 'POST /me/recovery-codes',
  stepUp: true,
  countsEverywhere: true,
  summary: 'Get ten new recovery codes, shown once. The previous ones stop working.',
  effect: 'delete',
  result: Type.Object({ recoveryCodes: Type.Array(Type.String()) }),
  handle: async (_input, context) => ({ recoveryCodes: await replaceCodes(context) }),
});

export const beginAuthenticatorApp = defineOperation({
  name: 'begin_authenticator_app',
  scope: 'signed_in',
  route: 'POST /me/authenticator-app',
  stepUp: true,
  countsEverywhere: true,
  summary: 'Get a secret for an authenticator app. It takes effect once you confirm a code of the app.',
  effect: 'write',
  result: Type.Object({ secret: Type.String(), uri: Type.String({ description: 'for a QR code' }) }),
  conflict: 'an app is set up already',
  async handle(_input, { stores, session: { userId, email }, installation }) {
    const present = await stores.secondFactors.findApp(userId);
    if (present?.confirmedAt != null) throw new AppError('conflict', 'remove the app that is set up first');
    const secret = newTotpSecret();
    await stores.secondFactors.replaceApp(userId, installation.ciphers.secondFactors.encrypt(secret));
    return { secret, uri: totpUri(secret, email) };
  },
});

export const confirmAuthenticatorApp = defineOperation({
  name: 'confirm_authenticator_app',
  scope: 'signed_in',
  route: 'POST /me/authenticator-app/confirmation',
  stepUp: true,
  countsEverywhere: true,
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

export const removeAuthenticatorApp = defineOperation({
  name: 'remove_authenticator_app',
  scope: 'signed_in',
  route: 'DELETE /me/authenticator-app',
  stepUp: true,
  countsEverywhere: true,
  summary: 'Remove your authenticator app.',
  effect: 'delete',
  result: Type.Object({ deleted: Type.Literal(true) }),
  async handle(_input, { stores, session: { userId }, record }) {
    await stores.secondFactors.deleteApp(userId);
    record({ userId, target: userId, before: { confirmed: true }, after: null });
    return { deleted: true as const };
  },
});
