import { AppError } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import type { Caller } from '#modules/accounts/decide/caller.ts';
import { callerUser } from '#modules/accounts/view.ts';
import { refusedSignIn } from '#modules/sign_in/decide/provider_rule.ts';
import type { Stores } from '#modules/stores.ts';

/**
 * Throws `forbidden` in a session that the provider of one organization began when another organization knows the account,
 * too: whoever runs that provider can sign in as any of its people. `providerOrgId` is null for a session by a password.
 * Locks the account until the transaction ends.
 */
export async function requireWholeSession(
  { provisioning }: Pick<Stores, 'provisioning'>,
  userId: Id<'user'>,
  providerOrgId: Id<'org'> | null,
): Promise<void> {
  if (providerOrgId === null || (await provisioning.countElsewhere(providerOrgId, userId)) === 0) return;
  throw new AppError(
    'forbidden',
    'this counts in every organization that knows your account, and the provider of one signed you in: sign in with your password to change it ("Forgot password" sets one)',
  );
}

/**
 * The same for the session of a caller within an organization, unless each organization of the person requires its
 * provider of them: no session by a password could do it instead.
 */
export async function requireWholeCaller(
  stores: Pick<Stores, 'people' | 'provisioning'>,
  caller: Caller,
): Promise<void> {
  if (caller.isByProvider !== true) return;
  const userId = callerUser(caller);
  for (const { orgId } of await stores.people.listMemberships(userId)) {
    const standing = await stores.people.findStanding(orgId, userId);
    if (standing !== null && refusedSignIn('password', standing) === null) {
      await requireWholeSession(stores, userId, caller.orgId);
      return;
    }
  }
}
