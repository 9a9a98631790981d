import { forgetTries, secondFactorTriesOf } from '#auth/sign_in_limiter.ts';
import { recordAccountChange } from '#modules/accounts/operations/record_account_change.ts';
import type { UnitOfWork } from '#modules/stores.ts';
import type { Id } from '#kernel/ids.ts';
import type { AuditedBy } from '#modules/audit/store/audit_store.ts';

/** Takes every second factor from somebody who has lost them, and ends their sessions: the password signs in again. */
export async function resetSecondFactor(
  unit: Pick<UnitOfWork, 'stores' | 'now'>,
  userId: Id<'user'>,
  { origin, ...by }: AuditedBy,
): Promise<void> {
  await unit.stores.secondFactors.deleteAll(userId);
  await forgetTries(unit.stores, secondFactorTriesOf(userId));
  await unit.stores.sessions.endAll(userId, null);
  const change = { action: 'reset_second_factor', target: userId, before: null, after: { reset: true } };
  await recordAccountChange(unit, { userId, ...change, by, origin });
}
