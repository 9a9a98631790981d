import { forgetTries, secondFactorTriesOf } from '#auth/sign_in_limiter.ts';
import type { Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import type { Stores } from '#modules/stores.ts';

interface Account {
  readonly userId: Id<'user'>;
  readonly addressProvenAt: Temporal.Instant | null;
  readonly passwordHash: string | null;
}

/**
 * Whether whoever set up an account may be somebody else than who reads the mail of its address: the link of an invitation
 * is shown to the inviter, too, and an identity provider chooses the addresses of accounts that it made. Such an account must
 * become a member nowhere by its address alone. One that nobody has proven and nobody has set up is of nobody yet.
 */
export async function mayBeOfStranger(
  { addressProofs }: Pick<Stores, 'addressProofs'>,
  account: Account,
): Promise<boolean> {
  if (account.addressProvenAt !== null) return false;
  return account.passwordHash !== null || (await addressProofs.hasReach(account.userId));
}

/**
 * Returns whether the account may become a member of the organization by its address. One without a password that no other
 * organization knows may, even if a stranger set it up: what was set up ends, as by the first proof of the address. The
 * account is locked then until the transaction ends.
 */
export async function admitByAddress(
  stores: Stores,
  orgId: Id<'org'>,
  account: Account,
): Promise<'refused' | 'as_it_is' | 'emptied'> {
  if (!(await mayBeOfStranger(stores, account))) return 'as_it_is';
  const { userId, passwordHash } = account;
  if (passwordHash !== null || (await stores.provisioning.countElsewhere(orgId, userId)) > 0) return 'refused';
  await forgetSetUp(stores, userId);
  await stores.sessions.endAll(userId, null);
  return 'emptied';
}

/** Ends what was set up in an account but for its password: second factors, and where its messages go. */
export async function forgetSetUp(stores: Stores, userId: Id<'user'>): Promise<void> {
  await stores.secondFactors.deleteAll(userId);
  await stores.secondFactors.endPendingOf(userId);
  await forgetTries(stores, secondFactorTriesOf(userId));
  await stores.addressProofs.forgetReach(userId);
}

export function unprovenText(email: string): string {
  return `the account of ${email} has never proven this address: its person sets a new password by "Forgot password" first, which ends what anybody set up before`;
}
