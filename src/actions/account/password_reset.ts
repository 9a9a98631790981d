import { endAccess } from '#actions/account/end_access.ts';
import { hashNewPassword } from '#actions/account/hash_new_password.ts';
import { recordAccountChange } from '#actions/account/record_account_change.ts';
import { type SignInOutcome, beginSession } from '#actions/account/sign_in.ts';
import { inUnitOfWork, type UnitOfWork, type UnitOfWorkRuntime } from '#storage/postgres/unit_of_work.ts';
import { linkTokenHash, linkUrl, newLinkToken } from '#auth/link_tokens.ts';
import type { Visitor } from '#auth/sessions.ts';
import { countTry } from '#auth/sign_in_limiter.ts';
import { networkOf } from '#auth/network.ts';
import { sendPasswordReset } from '#jobs/send_password_reset.ts';
import type { RequestOrigin } from '#kernel/caller.ts';
import { AppError } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import type { AuditEntry } from '#storage/postgres/audit_store.ts';
import type { OpenReset } from '#storage/postgres/password_reset_store.ts';
import { type Stores, storesOf } from '#storage/postgres/stores.ts';

const VALID_HOURS = 1;
/** Requests from one address within an hour. */
const REQUESTS_MAX = 20;

/**
 * Asks for a link by mail. Whether there is such an account is looked up later, by a worker: the answer and its time are
 * the same. Throws `conflict` when this server sends no mail, `rate_limited` to who asks too often.
 */
export async function requestPasswordReset(
  runtime: UnitOfWorkRuntime & { readonly hasMail: boolean },
  email: string,
  origin: RequestOrigin,
): Promise<{ sent: true }> {
  if (!runtime.hasMail) {
    throw new AppError(
      'conflict',
      'this server sends no mail; whoever runs it can print a link with: tocsin user password --email E',
    );
  }
  const key = `reset:${networkOf(origin.address ?? '')}`;
  const stores = storesOf(runtime.db.session());
  await countTry(stores, runtime.clock, { key, max: REQUESTS_MAX, windowSeconds: 3_600 });
  await inUnitOfWork(runtime, async (unit) => unit.enqueue(sendPasswordReset, { email, ...origin }));
  return { sent: true };
}

/** A link that sets a new password once, within an hour. */
export async function createReset(
  unit: Pick<UnitOfWork, 'stores' | 'now'>,
  userId: Id<'user'>,
  baseUrl: string,
  { origin, ...by }: Pick<AuditEntry, 'actor' | 'via'> & { readonly origin: RequestOrigin },
): Promise<{ resetId: Id<'reset'>; link: string }> {
  const { stores, now } = unit;
  const { token, tokenHash } = newLinkToken('reset');
  const resetId = await stores.passwordResets.insert(userId, tokenHash, {
    now,
    expiresAt: now.add({ hours: VALID_HOURS }),
  });
  const change = { action: 'request_password_reset', target: userId, before: null, after: { resetId } };
  await recordAccountChange(unit, { userId, ...change, by, origin });
  return { resetId, link: linkUrl(baseUrl, 'reset', token) };
}

/** Whose password the link sets. Throws `not_found`, in the same words for one that is unknown, used or expired. */
export async function getReset(
  stores: Pick<Stores, 'passwordResets'>,
  token: string,
  now: Temporal.Instant,
): Promise<OpenReset> {
  const hash = linkTokenHash('reset', token);
  const found = hash === null ? null : await stores.passwordResets.findOpen(hash, now);
  if (found === null) throw notValid();
  return found;
}

function notValid(): AppError {
  return new AppError('not_found', 'this link is not valid, or was used, or has expired; ask for another');
}

/**
 * Sets the password, ends every session and connected app of the person, and their API keys unless they keep them, and
 * signs them in here. Of several at once one succeeds.
 */
export async function redeemReset(
  runtime: UnitOfWorkRuntime,
  {
    token,
    password,
    revokeApiKeys = true,
  }: { readonly token: string; readonly password: string; readonly revokeApiKeys?: boolean },
  visitor: Visitor,
  origin: RequestOrigin,
): Promise<SignInOutcome> {
  const reset = await getReset(storesOf(runtime.db.session()), token, runtime.clock.now());
  const passwordHash = await hashNewPassword('password', password, reset);
  return await inUnitOfWork(runtime, async (unit, session) => {
    const { stores, now } = unit;
    const { userId } = reset;
    await stores.people.lockUser(userId);
    if (!(await stores.passwordResets.use(reset, now))) throw notValid();
    await stores.people.savePasswordHash(userId, passwordHash, now);
    await stores.secondFactors.endPendingOf(userId);
    const kept = { session: null, apps: false, apiKeys: !revokeApiKeys };
    const after = await endAccess(unit, session, userId, kept, origin);
    const change = { action: 'reset_password', target: userId, before: null, after };
    await recordAccountChange(unit, { userId, ...change, origin });
    return await beginSession(unit, userId, visitor, origin);
  });
}
