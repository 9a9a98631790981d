import type { Caller } from '#modules/accounts/decide/caller.ts';
import { AppError } from '#kernel/errors.ts';
import { asId, type Id } from '#kernel/ids.ts';
import { type Role, ROLE_CONSOLE_PERMISSIONS } from '#kernel/permissions.ts';
import type { Stores } from '#modules/stores.ts';

interface Roles {
  readonly id: Id<'user'>;
  readonly before: { readonly caller: Role; readonly target: Role };
}

/**
 * Returns the roles as they are once everybody who was changing them has finished: the caller's may no longer be what
 * it was when the request came.
 */
export async function lockRoles({ people }: Pick<Stores, 'people'>, caller: Caller, userId: string): Promise<Roles> {
  const id = asId('user', userId);
  await people.lockMemberships(caller.orgId);
  const ofCaller = await findCallerRole({ people }, caller);
  if (ofCaller === null) throw new AppError('not_found', 'you are not a member of an organization with this id');
  const target = await people.findRole(caller.orgId, id);
  if (target === null) throw new AppError('not_found', 'the organization has no member with this id');
  return { id, before: { caller: ofCaller, target } };
}

/** Returns the current role; a person who runs commands on this installation is an owner. */
export async function findCallerRole(
  { people }: Pick<Stores, 'people'>,
  { orgId, actor }: Caller,
): Promise<Role | null> {
  switch (actor.kind) {
    case 'system':
      return 'owner';
    case 'user':
      return await people.findRole(orgId, actor.userId);
    case 'api_key':
      return null;
  }
}

export function managesOrganization(role: Role): boolean {
  return ROLE_CONSOLE_PERMISSIONS[role].includes('organization:manage');
}

export async function requireAnotherOwner(
  { people }: Pick<Stores, 'people'>,
  orgId: Id<'org'>,
  role: Role,
): Promise<void> {
  if (role !== 'owner' || (await people.countOwners(orgId)) > 1) return;
  throw new AppError(
    'conflict',
    'the last owner can neither leave nor change to a lower role; make somebody else an owner first',
  );
}

export function forOwners(): AppError {
  return new AppError('forbidden', 'only an owner can make or remove owners');
}

export function forManagers(role: Role): AppError {
  return new AppError('forbidden', `only owners and admins do this; you are ${role}`);
}
