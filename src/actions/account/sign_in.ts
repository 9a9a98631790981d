import { type Static, Type } from 'typebox';

import { recordAccountChange } from '#actions/account/record_account_change.ts';
import {
  requireSecondFactor,
  type SecondFactorRuntime,
  type ShownFactor,
} from '#actions/account/show_second_factor.ts';
import { readSignedIn, type SignedInView } from '#actions/account/view.ts';
import { inUnitOfWork, type UnitOfWork, type UnitOfWorkRuntime } from '#storage/postgres/unit_of_work.ts';
import { isPasswordOfAnybody } from '#auth/passwords.ts';
import { hashSecret, isSecretText, newSecretText } from '#auth/secret_text.ts';
import { startSession, type Visitor } from '#auth/sessions.ts';
import { countSignInTry } from '#auth/sign_in_limiter.ts';
import { recordFailedSignIn } from '#jobs/record_failed_sign_in.ts';
import type { RequestOrigin } from '#kernel/caller.ts';
import { AppError } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import type { UserRow } from '#storage/postgres/people_store.ts';
import { type Stores, storesOf } from '#storage/postgres/stores.ts';

/** A session that has just begun: the token is for the cookie. */
interface Begun {
  readonly kind: 'begun';
  readonly token: string;
  readonly signedIn: Static<typeof SignedInView>;
}

/** A sign-in that waits for the second factor; the token says which. */
interface Pending {
  readonly kind: 'pending';
  readonly token: string;
  readonly methods: Static<typeof PendingSignInView>['secondFactor']['methods'];
}

export type SignInOutcome = Begun | Pending;

/** What is answered in place of the session while the second factor is missing. */
export const PendingSignInView = Type.Object({
  secondFactor: Type.Object({
    token: Type.String({ description: 'names this sign-in for ten minutes' }),
    methods: Type.Array(Type.Enum(['passkey', 'code', 'recovery_code'])),
  }),
});

const PENDING_PREFIX = 'tocsin_pen';
const PENDING_MINUTES = 10;

interface Credentials {
  readonly email: string;
  readonly password: string;
}

/** Throws `unauthenticated`, in the same time and words whether the account or the password is wrong, `rate_limited` or `unavailable`. */
export async function signIn(
  runtime: UnitOfWorkRuntime,
  credentials: Credentials,
  visitor: Visitor,
  origin: RequestOrigin,
): Promise<SignInOutcome> {
  const user = await requirePassword(runtime, credentials, visitor, origin);
  return await inUnitOfWork(runtime, async (unit) => {
    const locked = await unit.stores.people.lockUser(user.id);
    // Who has got a new password meanwhile has ended every session, and this must be one of them.
    if (locked?.passwordHash !== user.passwordHash) throw wrongCredentials();
    return await beginSession(unit, user.id, visitor, origin);
  });
}

/** Begins the session, and says so in the audit log; whoever has a second factor is asked for it first. */
export async function beginSession(
  unit: UnitOfWork,
  userId: Id<'user'>,
  visitor: Visitor,
  origin: RequestOrigin,
): Promise<SignInOutcome> {
  const { stores, now } = unit;
  const { passkeys, hasApp, recoveryCodesLeft } = await stores.secondFactors.summaryOf(userId);
  if (passkeys === 0 && !hasApp) return await openSession(unit, userId, { visitor, origin, hasShownFactor: false });
  const token = newSecretText(PENDING_PREFIX);
  await stores.secondFactors.insertPending(hashSecret(token), userId, now, now.add({ minutes: PENDING_MINUTES }));
  return {
    kind: 'pending',
    token,
    methods: [
      ...(passkeys > 0 ? (['passkey'] as const) : []),
      ...(hasApp ? (['code'] as const) : []),
      ...(recoveryCodesLeft > 0 ? (['recovery_code'] as const) : []),
    ],
  };
}

/** Whose sign-in waits under this token. Throws `unauthenticated`. */
export async function findPendingSignIn(
  { secondFactors }: Pick<Stores, 'secondFactors'>,
  token: string,
  now: Temporal.Instant,
): Promise<{ readonly userId: Id<'user'>; readonly holder: string }> {
  const hash = hashSecret(token);
  const userId = isSecretText(PENDING_PREFIX, token) ? await secondFactors.findPending(hash, now) : null;
  if (userId === null) throw new AppError('unauthenticated', 'this sign-in has expired; begin again');
  return { userId, holder: hash.toString('hex') };
}

/** Goes on with a sign-in once the second factor is shown. Throws as `requireSecondFactor` does. */
export async function completeSignIn(
  runtime: UnitOfWorkRuntime & SecondFactorRuntime,
  { token, ...shown }: ShownFactor & { readonly token: string },
  visitor: Visitor,
  origin: RequestOrigin,
): Promise<SignInOutcome> {
  const now = runtime.clock.now();
  const { userId, holder } = await findPendingSignIn(storesOf(runtime.db.session()), token, now);
  await requireSecondFactor(runtime, userId, shown, { holder, now });
  return await inUnitOfWork(runtime, async (unit) => {
    await unit.stores.people.lockUser(userId);
    if (!(await unit.stores.secondFactors.usePending(hashSecret(token)))) {
      throw new AppError('unauthenticated', 'this sign-in has expired; begin again');
    }
    return await openSession(unit, userId, { visitor, origin, hasShownFactor: true });
  });
}

async function openSession(
  unit: UnitOfWork,
  userId: Id<'user'>,
  opening: { readonly visitor: Visitor; readonly origin: RequestOrigin; readonly hasShownFactor: boolean },
): Promise<Begun> {
  const { stores, now } = unit;
  const { visitor, origin, hasShownFactor } = opening;
  const { sessionId, token } = await startSession(stores, userId, visitor, now);
  if (hasShownFactor) await stores.sessions.noteSecondFactor(sessionId, now);
  const after = { userAgent: visitor.userAgent, ...(hasShownFactor ? { secondFactor: true } : {}) };
  await recordAccountChange(unit, { userId, action: 'sign_in', target: sessionId, before: null, after, origin });
  return { kind: 'begun', token, signedIn: await readSignedIn(stores, userId, sessionId) };
}

/** Whose password this is; throws as `signIn` does. */
export async function requirePassword(
  runtime: UnitOfWorkRuntime,
  { email, password }: Credentials,
  { address, knownDeviceOf }: Visitor,
  origin: RequestOrigin,
): Promise<UserRow> {
  const { db, clock } = runtime;
  const stores = storesOf(db.session());
  const user = await stores.people.findUserByEmail(email);
  const isKnown = await stores.sessions.isKnownAddress(user?.id ?? NOBODY, address ?? '');
  const takeBack = await countSignInTry(stores, clock, {
    email,
    address: address ?? '',
    isKnown,
    device: knownDeviceOf(email),
  });
  const isRight = await isPasswordOfAnybody(user?.passwordHash ?? null, password).catch(async (error: unknown) => {
    // Nothing was tried.
    await takeBack();
    throw error;
  });
  if (user === null || !isRight) {
    // Whether there is such an account is looked up later, by a worker: the answer and its time are the same.
    await inUnitOfWork(runtime, async (unit) => unit.enqueue(recordFailedSignIn, { email, ...origin }));
    throw wrongCredentials();
  }
  await takeBack();
  return user;
}

const NOBODY = 'user_nobody' as Id<'user'>;

function wrongCredentials(): AppError {
  return new AppError('unauthenticated', 'the mail address or the password is wrong');
}
