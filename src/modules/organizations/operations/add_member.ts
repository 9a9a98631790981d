import { recordChange } from '#actions/action_context.ts';
import { AppError } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import type { Role } from '#kernel/permissions.ts';
import type { UserRow } from '#modules/accounts/store/people_store.ts';
import type { AuditedBy } from '#modules/audit/store/audit_store.ts';
import type { UnitOfWork } from '#modules/stores.ts';

interface NewAccount {
  readonly email: string;
  readonly name: string;
  readonly passwordHash: string;
}

/**
 * Makes somebody a member: a person who has an account, or one whose account is made with it, at an address that the
 * operator of the installation vouches for. Throws `conflict` for one who is a member already: their role changes by
 * `changeRole` alone, which keeps an owner.
 */
export async function addMember(
  unit: Pick<UnitOfWork, 'stores' | 'now'>,
  orgId: Id<'org'>,
  person: UserRow | NewAccount,
  role: Role,
  by: AuditedBy,
): Promise<Id<'user'>> {
  const { now } = unit;
  const { people } = unit.stores;
  await people.lockMemberships(orgId);
  const isNew = !('id' in person);
  const { id: userId } = isNew ? await people.insertUser({ ...person, isAddressProven: true }, now) : person;
  const present = await people.findRole(orgId, userId);
  if (present !== null) {
    throw new AppError('conflict', `${person.email} is a member of ${orgId} already, as ${present}`);
  }
  await people.setMembership(orgId, userId, role, now);
  const { email, name } = person;
  const action = isNew ? 'create_user' : 'add_member';
  await recordChange(unit, orgId, by, { action, target: userId, before: null, after: { email, name, role } });
  return userId;
}

/** Creates an organization nobody belongs to yet; its audit log begins with this. */
export async function createOrganization(
  unit: Pick<UnitOfWork, 'stores' | 'now'>,
  name: string,
  by: AuditedBy,
): Promise<Id<'org'>> {
  const { id: orgId } = await unit.stores.people.insertOrganization(name, unit.now);
  await recordChange(unit, orgId, by, { action: 'create_organization', target: orgId, before: null, after: { name } });
  return orgId;
}
