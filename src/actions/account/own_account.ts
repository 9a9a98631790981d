import { endAccess } from '#actions/account/end_access.ts';
import { hashNewPassword } from '#actions/account/hash_new_password.ts';
import { recordAccountChange } from '#actions/account/record_account_change.ts';
import { requirePassword } from '#actions/account/sign_in.ts';
import { inUnitOfWork, type UnitOfWork, type UnitOfWorkRuntime } from '#storage/postgres/unit_of_work.ts';
import type { Visitor } from '#auth/sessions.ts';
import type { RequestOrigin } from '#kernel/caller.ts';
import { AppError, invalidInput } from '#kernel/errors.ts';
import type { SessionOfPerson } from '#storage/postgres/session_store.ts';

interface PasswordChange {
  readonly currentPassword: string;
  readonly newPassword: string;
  readonly disconnectApps?: boolean;
  readonly revokeApiKeys?: boolean;
}

/** The person changes how others see their name. */
export async function changeOwnName(
  unit: UnitOfWork,
  { userId }: Pick<SessionOfPerson, 'userId'>,
  name: string,
  origin: RequestOrigin,
): Promise<void> {
  const { stores, now } = unit;
  const before = await stores.people.lockUser(userId);
  if (before === null || before.name === name) return;
  await stores.people.saveName(userId, name, now);
  const change = { action: 'update_me', target: userId, before: { name: before.name }, after: { name } };
  await recordAccountChange(unit, { userId, ...change, origin });
}

/**
 * Every other session ends, and links to set a new one are void; connected apps and API keys of the person end, too, unless
 * they keep them. Throws `invalid_input` when the current one
 * is wrong: not `unauthenticated`, for the session is good.
 */
export async function changeOwnPassword(
  runtime: UnitOfWorkRuntime,
  { userId, sessionId, email, name }: SessionOfPerson,
  { currentPassword, newPassword, disconnectApps = true, revokeApiKeys = true }: PasswordChange,
  visitor: Visitor,
  origin: RequestOrigin,
): Promise<{ changed: true }> {
  const known = await requirePassword(runtime, { email, password: currentPassword }, visitor, origin).catch(
    (error: unknown) => {
      if (error instanceof AppError && error.code === 'unauthenticated') {
        throw wrongPassword();
      }
      throw error;
    },
  );
  const passwordHash = await hashNewPassword('newPassword', newPassword, { email, name });
  return await inUnitOfWork(runtime, async (unit, session) => {
    const { stores, now } = unit;
    const locked = await stores.people.lockUser(userId);
    if (locked?.passwordHash !== known.passwordHash) throw wrongPassword();
    await stores.people.savePasswordHash(userId, passwordHash, now);
    await stores.passwordResets.closeAll(userId, now);
    await stores.secondFactors.endPendingOf(userId);
    const kept = { session: sessionId, apps: !disconnectApps, apiKeys: !revokeApiKeys };
    const after = await endAccess(unit, session, userId, kept, origin);
    const change = { action: 'change_password', target: userId, before: null, after };
    await recordAccountChange(unit, { userId, ...change, origin });
    return { changed: true as const };
  });
}

function wrongPassword(): AppError {
  return invalidInput([{ path: 'currentPassword', message: 'is not your password' }]);
}
