import { endAccess } from '#modules/accounts/end_access.ts';
import type { AccountContext } from '#actions/action_context.ts';
import { forgetTries, secondFactorTriesOf } from '#auth/tries.ts';
import type { Id } from '#kernel/ids.ts';

/**
 * Records that a person has used a link that was mailed to the address of an account. The first time, everything that
 * was set up before ends: second factors, sessions, connected apps and API keys, for whoever made the account may have
 * been somebody else. Returns whether it was the first time.
 */
export async function proveAddress(context: AccountContext, userId: Id<'user'>): Promise<boolean> {
  const { stores, now, record } = context;
  if (!(await stores.addressProofs.prove(userId, now))) return false;
  await stores.secondFactors.deleteAll(userId);
  await stores.secondFactors.endPendingOf(userId);
  await forgetTries(stores, secondFactorTriesOf(userId));
  const ended = await endAccess(context, userId, { session: null, apps: false, apiKeys: false });
  record({ userId, action: 'prove_address', target: userId, before: null, after: ended });
  return true;
}
