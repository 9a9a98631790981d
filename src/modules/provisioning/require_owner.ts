import { findCallerRole } from '#modules/organizations/roles.ts';
import type { ActionContext } from '#actions/action_context.ts';
import { AppError } from '#kernel/errors.ts';

/** Throws `forbidden` unless the caller is an owner, once everybody who was changing roles has finished. */
export async function requireOwner({ stores, caller }: Pick<ActionContext, 'stores' | 'caller'>): Promise<void> {
  await stores.people.lockMemberships(caller.orgId);
  if ((await findCallerRole(stores, caller)) === 'owner') return;
  throw new AppError('forbidden', 'only an owner decides how the identity provider of the organization acts');
}
