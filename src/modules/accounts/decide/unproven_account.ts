import type { Temporal } from '#kernel/time.ts';

/**
 * Whether whoever set the password of an account may be somebody else than who reads the mail of its address: the link
 * of an invitation is shown to the inviter, too. Such an account must become a member nowhere by its address alone.
 */
export function mayBeOfStranger(account: {
  readonly addressProvenAt: Temporal.Instant | null;
  readonly passwordHash: string | null;
}): boolean {
  return account.addressProvenAt === null && account.passwordHash !== null;
}

export function unprovenText(email: string): string {
  return `the account of ${email} has never proven this address: its person sets a new password by "Forgot password" first, which ends what anybody set up before`;
}
