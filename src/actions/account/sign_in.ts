import type { Static } from 'typebox';

import { recordAccountChange } from '#actions/account/record_account_change.ts';
import { readSignedIn, type SignedInView } from '#actions/account/view.ts';
import { inUnitOfWork, type UnitOfWork, type UnitOfWorkRuntime } from '#actions/unit_of_work.ts';
import { isPasswordOfAnybody } from '#auth/passwords.ts';
import { startSession, type Visitor } from '#auth/sessions.ts';
import { countSignInTry } from '#auth/sign_in_brake.ts';
import type { RequestOrigin } from '#kernel/caller.ts';
import { AppError } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import type { UserRow } from '#storage/postgres/people_store.ts';
import { storesOf } from '#storage/postgres/stores.ts';

/** A session that has just begun: the token is for the cookie. */
export interface Begun {
  readonly token: string;
  readonly signedIn: Static<typeof SignedInView>;
}

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
): Promise<Begun> {
  const user = await requirePassword(runtime, credentials, visitor);
  return await inUnitOfWork(runtime, async (unit) => {
    const locked = await unit.stores.people.lockUser(user.id);
    // Who has got a new password meanwhile has ended every session, and this must be one of them.
    if (locked?.passwordHash !== user.passwordHash) throw wrongCredentials();
    return await beginSession(unit, user.id, visitor, origin);
  });
}

/** Begins the session, and says so in the audit log. */
export async function beginSession(
  unit: UnitOfWork,
  userId: Id<'user'>,
  visitor: Visitor,
  origin: RequestOrigin,
): Promise<Begun> {
  const { stores, now } = unit;
  const { sessionId, token } = await startSession(stores, userId, visitor, now);
  const change = { action: 'sign_in', target: sessionId, before: null, after: { userAgent: visitor.userAgent } };
  await recordAccountChange(unit, { userId, ...change, origin });
  return { token, signedIn: await readSignedIn(stores, userId, sessionId) };
}

/** Whose password this is; throws as `signIn` does. */
export async function requirePassword(
  { db, clock }: Pick<UnitOfWorkRuntime, 'db' | 'clock'>,
  { email, password }: Credentials,
  { address }: Visitor,
): Promise<UserRow> {
  const stores = storesOf(db.session());
  const user = await stores.people.findUserByEmail(email);
  const isKnown = await stores.sessions.isKnownAddress(user?.id ?? NOBODY, address ?? '');
  const takeBack = await countSignInTry(stores, clock, { email, address: address ?? '', isKnown });
  const isRight = await isPasswordOfAnybody(user?.passwordHash ?? null, password).catch(async (error: unknown) => {
    // Nothing was tried.
    await takeBack();
    throw error;
  });
  if (user === null || !isRight) throw wrongCredentials();
  await takeBack();
  return user;
}

const NOBODY = 'user_nobody' as Id<'user'>;

function wrongCredentials(): AppError {
  return new AppError('unauthenticated', 'the mail address or the password is wrong');
}
