import type { AccountContext } from '#actions/action_context.ts';
import { type AboutPerson, hashPassword, isPasswordOfAccount, passwordFault } from '#auth/passwords.ts';
import { countSignInAttempt } from '#auth/sign_in_limiter.ts';
import { AppError, invalidInput } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import type { UserRow } from '#modules/accounts/store/people_store.ts';
import { inUnitOfWork } from '#modules/stores.ts';
import { recordFailedSignIn } from '#storage/queue/jobs.ts';

const NOBODY = 'user_nobody' as Id<'user'>;

/**
 * Returns the user with this address and password. Throws `unauthenticated`, in the same time and words whether the
 * account or the password is wrong, `rate_limited` or `unavailable`. For `prepare`: a wrong try counts when the rest is
 * refused.
 */
export async function requirePassword(
  { stores, runtime, installation, browser: { address, knownDeviceOf }, origin }: AccountContext,
  { email, password }: { readonly email: string; readonly password: string },
): Promise<UserRow> {
  const user = await stores.people.findUserByEmail(email);
  const isKnown = await stores.sessions.isKnownAddress(user?.id ?? NOBODY, address ?? '');
  const attempt = { email, address: address ?? '', isKnown, device: knownDeviceOf(email) };
  const undoAttempt = await countSignInAttempt(stores, runtime.clock, attempt, installation.limits);
  const isRight = await isPasswordOfAccount(user?.passwordHash ?? null, password).catch(async (error: unknown) => {
    // The check itself failed, so no password was tried.
    await undoAttempt();
    throw error;
  });
  if (user === null || !isRight) {
    // Whether there is such an account is looked up later, by a worker: the answer and its time are the same.
    await inUnitOfWork(runtime, async (unit) => unit.enqueue(recordFailedSignIn, { email, ...origin }));
    throw wrongCredentials();
  }
  await undoAttempt();
  return user;
}

export function wrongCredentials(): AppError {
  return new AppError('unauthenticated', 'the mail address or the password is wrong');
}

/** Returns the hash of a new password; throws `invalid_input` at `path` with the reason for which it is refused. */
export async function hashNewPassword(path: string, password: string, about: AboutPerson): Promise<string> {
  const fault = await passwordFault(password, about);
  if (fault !== null) throw invalidInput([{ path, message: fault }]);
  return await hashPassword(password);
}
