import type { Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import type { Stores } from '#modules/stores.ts';

/**
 * Whether whoever set up an account may be somebody else than who reads the mail of its address: the link of an invitation
 * is shown to the inviter, too, and an identity provider chooses the addresses of accounts that it made. Such an account must
 * become a member nowhere by its address alone. One that nobody has proven and nobody has set up is of nobody yet.
 */
export async function mayBeOfStranger(
  { addressProofs }: Pick<Stores, 'addressProofs'>,
  account: {
    readonly userId: Id<'user'>;
    readonly addressProvenAt: Temporal.Instant | null;
    readonly passwordHash: string | null;
  },
): Promise<boolean> {
  if (account.addressProvenAt !== null) return false;
  return account.passwordHash !== null || (await addressProofs.hasReach(account.userId));
}

export function unprovenText(email: string): string {
  return `the account of ${email} has never proven this address: its person sets a new password by "Forgot password" first, which ends what anybody set up before`;
}
