import { recordAccountChange } from '#modules/accounts/operations/record_account_change.ts';
import { linkTokenHash, linkUrl, newLinkToken } from '#auth/secret_text.ts';
import { AppError } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import type { AuditedBy } from '#modules/audit/store/audit_store.ts';
import type { OpenReset } from '#modules/accounts/store/password_reset_store.ts';
import type { Stores, UnitOfWork } from '#modules/stores.ts';

const VALID_HOURS = 1;

/** Creates a link that sets a new password once, within an hour. `isMailed` if only the account's address gets it. */
export async function createReset(
  unit: Pick<UnitOfWork, 'stores' | 'now'>,
  userId: Id<'user'>,
  { baseUrl, isMailed }: { readonly baseUrl: string; readonly isMailed: boolean },
  { origin, ...by }: AuditedBy,
): Promise<{ resetId: Id<'reset'>; link: string }> {
  const { stores, now } = unit;
  const { token, tokenHash } = newLinkToken('reset');
  const resetId = await stores.passwordResets.insert(userId, tokenHash, {
    now,
    expiresAt: now.add({ hours: VALID_HOURS }),
    isMailed,
  });
  const change = { action: 'request_password_reset', target: userId, before: null, after: { resetId } };
  await recordAccountChange(unit, { userId, ...change, by, origin });
  return { resetId, link: linkUrl(baseUrl, 'reset', token) };
}

/** Returns the open reset of the link. Throws `not_found`, with the same words if it is unknown, used or expired. */
export async function getReset(
  stores: Pick<Stores, 'passwordResets'>,
  token: string,
  now: Temporal.Instant,
): Promise<OpenReset> {
  const hash = linkTokenHash('reset', token);
  const reset = hash === null ? null : await stores.passwordResets.findOpen(hash, now);
  if (reset === null) throw resetNotValid();
  return reset;
}

export function resetNotValid(): AppError {
  return new AppError('not_found', 'this link is not valid, or was used, or has expired; ask for another');
}
