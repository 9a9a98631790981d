import { type Static, Type } from 'typebox';

import { recordAccountChange } from '#actions/account/record_account_change.ts';
import type { SecondFactorRuntime } from '#actions/account/show_second_factor.ts';
import { nullable, Timestamp } from '#actions/fields.ts';
import type { UnitOfWork } from '#storage/postgres/unit_of_work.ts';
import { hasPasskeys, registrationOptions, verifyRegistration } from '#auth/second_factor/passkeys.ts';
import { newRecoveryCodes, recoveryCodeHash } from '#auth/second_factor/recovery_codes.ts';
import { newTotpSecret, periodOfCode, totpUri } from '#auth/second_factor/totp.ts';
import type { RequestOrigin } from '#kernel/caller.ts';
import { AppError, invalidInput, notFound } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import { type Temporal, toTimestamp } from '#kernel/time.ts';
import type { SessionOfPerson } from '#storage/postgres/session_store.ts';
import type { Stores } from '#storage/postgres/stores.ts';

export const SecondFactorsView = Type.Object({
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

/** Shown once; null when there were some before. */
export const RecoveryCodes = nullable(Type.Array(Type.String(), { description: 'shown this once; each works once' }));

const CHALLENGE_MINUTES = 5;
const PASSKEYS_MAX = 20;

export async function readSecondFactors(
  { secondFactors }: Stores,
  userId: Id<'user'>,
  { party }: Pick<SecondFactorRuntime, 'party'>,
): Promise<Static<typeof SecondFactorsView>> {
  const passkeys = await secondFactors.listPasskeys(userId);
  const { hasApp, recoveryCodesLeft } = await secondFactors.summaryOf(userId);
  return {
    passkeys: passkeys.map(({ id, name, createdAt, lastUsedAt }) => ({
      passkeyId: id,
      name,
      createdAt: toTimestamp(createdAt),
      lastUsedAt: lastUsedAt === null ? null : toTimestamp(lastUsedAt),
    })),
    canAddPasskeys: hasPasskeys(party),
    hasApp,
    recoveryCodesLeft,
  };
}

/** What the browser needs to make a passkey of this person; it has five minutes. */
export async function beginPasskey(
  { stores, now }: UnitOfWork,
  { userId, sessionId, email, name }: SessionOfPerson,
  { party }: SecondFactorRuntime,
): Promise<object> {
  if (!hasPasskeys(party)) {
    throw new AppError('conflict', 'passkeys need a base address with a host name; use an authenticator app');
  }
  const present = await stores.secondFactors.listPasskeys(userId);
  if (present.length >= PASSKEYS_MAX) throw new AppError('conflict', `you have ${PASSKEYS_MAX} passkeys; remove one`);
  const options = await registrationOptions(party, { userId, email, name }, present);
  await stores.secondFactors.putChallenge(sessionId, options.challenge, now, challengeEnd(now));
  return options;
}

/** Keeps the passkey that the browser has made. */
export async function addPasskey(
  unit: UnitOfWork,
  { userId, sessionId }: SessionOfPerson,
  { name, response }: { readonly name: string; readonly response: unknown },
  { party }: SecondFactorRuntime,
  origin: RequestOrigin,
): Promise<{ recoveryCodes: string[] | null }> {
  const { stores, now } = unit;
  const challenge = await stores.secondFactors.takeChallenge(sessionId, now);
  if (challenge === null) throw new AppError('conflict', 'this took too long; begin again');
  const made = await verifyRegistration(party, response, challenge);
  if (!(await stores.secondFactors.insertPasskey({ ...made, userId, name, createdAt: now }))) {
    throw new AppError('conflict', 'this passkey is known already');
  }
  const change = { action: 'add_passkey', target: userId, before: null, after: { name } };
  return await afterAdding(unit, { userId, sessionId }, change, origin);
}

export async function removePasskey(
  unit: UnitOfWork,
  { userId }: Pick<SessionOfPerson, 'userId'>,
  passkeyId: string,
  origin: RequestOrigin,
): Promise<{ deleted: true }> {
  if (!(await unit.stores.secondFactors.deletePasskey(userId, passkeyId))) throw notFound('passkeyId', 'passkey');
  const change = { action: 'remove_passkey', target: userId, before: { passkeyId }, after: null };
  await recordAccountChange(unit, { userId, ...change, origin });
  return { deleted: true };
}

/** A secret for an authenticator app, which counts once a code of it was shown. */
export async function beginApp(
  { stores }: UnitOfWork,
  { userId, email }: SessionOfPerson,
  { cipher }: SecondFactorRuntime,
): Promise<{ secret: string; uri: string }> {
  const present = await stores.secondFactors.findApp(userId);
  if (present?.confirmedAt != null) throw new AppError('conflict', 'remove the app that is set up first');
  const secret = newTotpSecret();
  await stores.secondFactors.replaceApp(userId, cipher.encrypt(secret));
  return { secret, uri: totpUri(secret, email) };
}

export async function confirmApp(
  unit: UnitOfWork,
  session: Pick<SessionOfPerson, 'userId' | 'sessionId'>,
  code: string,
  { cipher }: SecondFactorRuntime,
  origin: RequestOrigin,
): Promise<{ recoveryCodes: string[] | null }> {
  const { stores, now } = unit;
  const { userId } = session;
  const app = await stores.secondFactors.findApp(userId);
  if (app === null || app.confirmedAt !== null)
    throw new AppError('conflict', 'no app waits to be confirmed; begin again');
  const period = periodOfCode(cipher.decrypt(app.secretSealed), code, now);
  if (period === null) throw invalidInput([{ path: 'code', message: 'is not the code that the app shows now' }]);
  await stores.secondFactors.confirmApp(userId, now);
  await stores.secondFactors.takePeriod(userId, period);
  const change = { action: 'add_authenticator_app', target: userId, before: null, after: { confirmed: true } };
  return await afterAdding(unit, session, change, origin);
}

export async function removeApp(
  unit: UnitOfWork,
  { userId }: Pick<SessionOfPerson, 'userId'>,
  origin: RequestOrigin,
): Promise<{ deleted: true }> {
  await unit.stores.secondFactors.deleteApp(userId);
  const change = { action: 'remove_authenticator_app', target: userId, before: { confirmed: true }, after: null };
  await recordAccountChange(unit, { userId, ...change, origin });
  return { deleted: true };
}

/** New recovery codes; the ones before are worthless. */
export async function replaceRecoveryCodes(
  unit: UnitOfWork,
  { userId }: Pick<SessionOfPerson, 'userId'>,
  origin: RequestOrigin,
): Promise<{ recoveryCodes: string[] }> {
  const recoveryCodes = newRecoveryCodes();
  await unit.stores.secondFactors.replaceRecoveryCodes(userId, recoveryCodes.map(recoveryCodeHash));
  const change = { action: 'replace_recovery_codes', target: userId, before: null, after: { replaced: true } };
  await recordAccountChange(unit, { userId, ...change, origin });
  return { recoveryCodes };
}

/** The first second factor brings recovery codes with it, and counts as shown in this session. */
async function afterAdding(
  unit: UnitOfWork,
  { userId, sessionId }: Pick<SessionOfPerson, 'userId' | 'sessionId'>,
  change: { action: string; target: string; before: object | null; after: object | null },
  origin: RequestOrigin,
): Promise<{ recoveryCodes: string[] | null }> {
  const { stores, now } = unit;
  await recordAccountChange(unit, { userId, ...change, origin });
  await stores.sessions.noteSecondFactor(sessionId, now);
  const { recoveryCodesLeft } = await stores.secondFactors.summaryOf(userId);
  return recoveryCodesLeft > 0 ? { recoveryCodes: null } : await replaceRecoveryCodes(unit, { userId }, origin);
}

export function challengeEnd(now: Temporal.Instant): Temporal.Instant {
  return now.add({ minutes: CHALLENGE_MINUTES });
}
