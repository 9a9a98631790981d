import { type Static, Type } from 'typebox';

import { CLOSED } from '#actions/fields.ts';
import type { Cipher } from '#auth/cipher.ts';
import { type RelyingParty, verifyAuthentication } from '#auth/second_factor/passkeys.ts';
import { recoveryCodeHash } from '#auth/second_factor/recovery_codes.ts';
import { periodOfCode } from '#auth/second_factor/totp.ts';
import { AppError } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import type { Database } from '#storage/postgres/database.ts';
import { type Stores, storesOf } from '#storage/postgres/stores.ts';

/** One of them: the code of an app, a recovery code, or what a passkey signed. */
export const SHOWN_FIELDS = {
  code: Type.Optional(Type.String({ pattern: '^\\d{6}$', description: 'six digits of the authenticator app' })),
  recoveryCode: Type.Optional(Type.String({ minLength: 1, maxLength: 100, description: 'works once' })),
  passkey: Type.Optional(
    Type.Object({}, { additionalProperties: true, description: 'AuthenticationResponseJSON of WebAuthn' }),
  ),
};

const ShownFactor = Type.Object(SHOWN_FIELDS, CLOSED);
export type ShownFactor = Static<typeof ShownFactor>;

/** What second factors are checked with. */
export interface SecondFactorRuntime {
  readonly db: Database;
  readonly cipher: Cipher;
  readonly party: RelyingParty;
}

const WRONG_TRIES_MAX = 10;
const LOCKED_MINUTES = 15;

/**
 * Checks what a person shows beside the password; `holder` is what a passkey was challenged for. Throws `unauthenticated`
 * when it is wrong, and `rate_limited` after ten wrong ones, for 15 minutes. Each code and challenge works once.
 */
export async function requireSecondFactor(
  { db, cipher, party }: SecondFactorRuntime,
  userId: Id<'user'>,
  shown: ShownFactor,
  { holder, now }: { readonly holder: string; readonly now: Temporal.Instant },
): Promise<void> {
  // Not within the caller's transaction: a wrong try counts whatever becomes of the rest.
  const stores = storesOf(db.session());
  const { secondFactors } = stores;
  const lock = await secondFactors.findLock(userId);
  if (lock?.lockedUntil != null && lock.lockedUntil.epochMilliseconds > now.epochMilliseconds) {
    throw new AppError('rate_limited', 'too many wrong codes; wait a quarter of an hour, then try again', {
      retryAfterSeconds: Math.ceil((lock.lockedUntil.epochMilliseconds - now.epochMilliseconds) / 1_000),
    });
  }
  if (await isRight(stores, { cipher, party }, userId, shown, { holder, now })) {
    if (lock !== null) await secondFactors.removeLock(userId);
    return;
  }
  const wrongTries = (lock?.wrongTries ?? 0) + 1;
  const isLocked = wrongTries >= WRONG_TRIES_MAX;
  await secondFactors.setLock(userId, {
    wrongTries: isLocked ? 0 : wrongTries,
    lockedUntil: isLocked ? now.add({ minutes: LOCKED_MINUTES }) : null,
  });
  throw new AppError('unauthenticated', 'this is not right, or was used already; try the next code');
}

async function isRight(
  { secondFactors }: Stores,
  { cipher, party }: Omit<SecondFactorRuntime, 'db'>,
  userId: Id<'user'>,
  { code, recoveryCode, passkey }: ShownFactor,
  { holder, now }: { readonly holder: string; readonly now: Temporal.Instant },
): Promise<boolean> {
  if (code !== undefined) {
    const app = await secondFactors.findApp(userId);
    if (app === null || app.confirmedAt === null) return false;
    const period = periodOfCode(cipher.decrypt(app.secretSealed), code, now);
    return period !== null && (await secondFactors.takePeriod(userId, period));
  }
  if (recoveryCode !== undefined) {
    return await secondFactors.useRecoveryCode(userId, recoveryCodeHash(recoveryCode), now);
  }
  if (passkey === undefined) return false;
  const challenge = await secondFactors.takeChallenge(holder, now);
  const known = (await secondFactors.listPasskeys(userId)).find(({ id }) => id === idOf(passkey));
  if (challenge === null || known === undefined) return false;
  const counter = await verifyAuthentication(party, passkey, challenge, known);
  if (counter === null) return false;
  await secondFactors.notePasskeyUse(known.id, counter, now);
  return true;
}

function idOf(passkey: object): unknown {
  return 'id' in passkey ? passkey.id : null;
}
