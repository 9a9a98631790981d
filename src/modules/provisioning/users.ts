import { mayBeOfStranger, unprovenText } from '#modules/accounts/decide/unproven_account.ts';
import { isDeepStrictEqual } from 'node:util';

import { endMembership, requireAnotherOwner, tellOfLoweredRole } from '#modules/organizations/roles.ts';
import { roleByGroups } from '#modules/provisioning/decide/provisioned_role.ts';
import { ScimError } from '#modules/provisioning/decide/scim_error.ts';
import { addressOf, nameOf, type UserState } from '#modules/provisioning/decide/scim_user.ts';
import type { SuspendedMembership } from '#modules/provisioning/decide/suspended_membership.ts';
import {
  type ProvisioningChange,
  type ProvisioningUnit,
  recordProvisioning,
} from '#modules/provisioning/provisioning_unit.ts';
import type { ProvisionedUser } from '#modules/provisioning/store/provisioning_store.ts';
import { AppError, notFound } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import type { Role } from '#kernel/permissions.ts';
import { sendDeactivationNotice } from '#storage/queue/jobs.ts';

/** Limit on the people of one organization that an identity provider can make. */
export const USERS_MAX = 50_000;

/**
 * Makes a person a member. An account of the same address becomes one as it is: its name, its address and its password
 * stay what they are. Throws `uniqueness` for one whom the organization has already.
 */
export async function createUser(provisioning: ProvisioningUnit, state: UserState): Promise<ProvisionedUser> {
  const { unit, orgId, fallback: role, room } = provisioning;
  const { stores, now } = unit;
  const email = addressOf(state);
  await requireFreeName(provisioning, state.userName, null);
  const account = await stores.people.findUserByEmail(email);
  if (account !== null && (await stores.provisioning.find(orgId, account.id)) !== null) {
    throw new ScimError('uniqueness', `the organization has a user with the address ${email} already`);
  }
  if (account !== null && mayBeOfStranger(account) && (await stores.people.findRole(orgId, account.id)) === null) {
    throw new ScimError('uniqueness', unprovenText(email));
  }
  if (!(await room.users.take(orgId, 1, () => stores.provisioning.countNamed(orgId)))) {
    throw new ScimError('tooMany', `an organization has at most ${USERS_MAX} users`);
  }
  const name = nameOf(state);
  const userId =
    account?.id ??
    (await stores.people.insertUser({ email, name, passwordHash: null, isAddressProven: false }, now)).id;
  const { userName, externalId, profile, isActive } = state;
  const row = {
    userId,
    userName,
    externalId,
    profile,
    isAccountMade: account === null,
    suspended: isActive ? null : { role, contact: null, teams: [] },
    createdAt: now,
    updatedAt: now,
  };
  await stores.provisioning.insert({ orgId, ...row });
  if (isActive) {
    await stores.people.setMembership(orgId, userId, role, now);
    // Nothing names an account that has just been made.
    if (account !== null) await tellOfLoweredRole(unit, orgId, { userId, before: null, after: role });
  }
  const after = { userName, email, name: account?.name ?? name, active: isActive, ...(isActive && { role }) };
  const action = account === null ? 'provision_user' : 'provision_member';
  await recordProvisioning(provisioning, [{ action, target: userId, before: null, after }]);
  return { ...row, email: account?.email ?? email, name: account?.name ?? name, role: isActive ? role : null };
}

/** Returns what is known of a person, for a PATCH to begin with. */
export function stateOf({ userName, externalId, email, name, profile, role }: ProvisionedUser): UserState {
  const names = { displayName: null, formatted: name, givenName: null, familyName: null };
  return { userName, externalId, email, isActive: role !== null, profile: profile ?? names };
}

/** Changes a person to what the identity provider says, and returns them. Throws `uniqueness`, `mutability`. */
export async function updateUser(
  provisioning: ProvisioningUnit,
  user: ProvisionedUser,
  next: UserState,
): Promise<ProvisionedUser> {
  const { unit, orgId } = provisioning;
  const { stores, now } = unit;
  const before = stateOf(user);
  // Without emails of its own, a user keeps the address it has.
  const wanted = { ...next, email: next.email ?? user.email };
  if (isDeepStrictEqual(before, wanted)) return user;
  const { userId } = user;
  const changes: ProvisioningChange[] = [];
  if (wanted.userName.toLowerCase() !== before.userName.toLowerCase()) {
    await requireFreeName(provisioning, wanted.userName, userId);
  }
  const account = await updateAccount(provisioning, user, wanted);
  let { suspended, role } = user;
  if (before.isActive && !wanted.isActive) {
    suspended = await deactivate(provisioning, user);
    role = null;
    changes.push({ action: 'deactivate_member', target: userId, before: { role: suspended.role }, after: null });
  } else if (!before.isActive && wanted.isActive) {
    role = await activate(provisioning, user);
    suspended = null;
    changes.push({ action: 'activate_member', target: userId, before: null, after: { role } });
  }
  const { userName, externalId, profile } = wanted;
  const isAccountMade = user.isAccountMade ?? false;
  const row = { orgId, userId, userName, externalId, profile, isAccountMade, suspended };
  await stores.provisioning.save({ ...row, createdAt: user.createdAt, updatedAt: now });
  const audited = ({ userName: name, externalId: id, email, profile: names }: UserState) => {
    return { userName: name, externalId: id, email, ...names };
  };
  if (!isDeepStrictEqual(audited(before), audited(wanted))) {
    const target = { action: 'update_provisioned_user', target: userId };
    changes.push({ ...target, before: audited(before), after: audited(wanted) });
  }
  await recordProvisioning(provisioning, changes);
  return { ...user, ...account, userName, externalId, profile, isAccountMade, suspended, role, updatedAt: now };
}

/** Ends the membership and forgets what the identity provider has said; the account itself and its history stay. */
export async function deleteUser(provisioning: ProvisioningUnit, user: ProvisionedUser): Promise<void> {
  const { unit, orgId } = provisioning;
  if (user.role !== null) await deactivate(provisioning, user);
  await unit.stores.scimGroups.removeFromAll(orgId, user.userId);
  await unit.stores.provisioning.delete(orgId, user.userId);
  const before = { userName: user.userName, ...(user.role !== null && { role: user.role }) };
  await recordProvisioning(provisioning, [
    { action: 'delete_provisioned_user', target: user.userId, before, after: null },
  ]);
}

/**
 * Ends the membership as removing a member does, and keeps what is to come back with it. Sessions end, too, where the
 * person is a member of no other organization.
 */
async function deactivate(
  { unit, orgId, by }: ProvisioningUnit,
  { userId }: ProvisionedUser,
): Promise<SuspendedMembership> {
  const { stores, now, enqueue } = unit;
  const membership = await stores.people.lockMembership(orgId, userId);
  const { role, phone, smsEnabled, callEnabled, pushEnabled, emailEnabled } = membership;
  await requireAnotherOwner(stores, orgId, role).catch((error: unknown) => {
    throw error instanceof AppError ? new ScimError('mutability', `${error.message}; nothing was changed`) : error;
  });
  const teams = (await stores.teams.listPlacesOf(orgId, userId)).map((place) => ({
    teamId: place.teamId,
    phone: place.phone,
    smsEnabled: place.smsEnabled,
    callEnabled: place.callEnabled,
    pushEnabled: place.pushEnabled,
    emailEnabled: place.emailEnabled,
  }));
  await endMembership(stores, orgId, userId, now);
  if (!(await stores.provisioning.hasMembership(userId))) await stores.sessions.endAll(userId, null);
  const named = await stores.schedules.listNaming(orgId, userId, { after: now, limit: 1 });
  if (named.length > 0) enqueue(sendDeactivationNotice, { orgId, userId, noticeId: by.origin.requestId });
  return { role, contact: { phone, smsEnabled, callEnabled, pushEnabled, emailEnabled }, teams };
}

/** Makes the person a member again, as they were, and as their groups say. Returns the role. */
async function activate(
  { unit, orgId, fallback }: ProvisioningUnit,
  { userId, suspended }: ProvisionedUser,
): Promise<Role> {
  const { stores, now } = unit;
  await stores.people.setMembership(orgId, userId, suspended?.role ?? fallback, now);
  if (suspended?.contact) await stores.provisioning.restoreContact(orgId, userId, suspended.contact);
  const places = suspended?.teams ?? [];
  const mapped = (await stores.scimGroups.listOfUsers(orgId, [userId])).flatMap(({ teamId }) => teamId ?? []);
  const teams = await stores.teams.findAll(orgId, [...places.map(({ teamId }) => teamId), ...mapped]);
  for (const { id } of teams) {
    const team = await stores.teams.lock(orgId, id);
    const { teamId: _, ...contact } = places.find(({ teamId }) => teamId === id) ?? { teamId: id };
    if ('phone' in contact) await stores.teams.insertMember(team, userId, contact, now);
    else await stores.scimGroups.addToTeam(orgId, id, [userId], now);
  }
  const [roles] = await stores.scimGroups.listRoles(orgId, [userId]);
  if (roles === undefined) throw notFound('id', 'user');
  const role = roleByGroups({ ...roles, wasMapped: false, fallback });
  if (role !== roles.role) await stores.scimGroups.setRole(orgId, [userId], role);
  // What named them goes on paging them.
  await tellOfLoweredRole(unit, orgId, { userId, before: null, after: role });
  return role;
}

/**
 * Changes the name and the address of the account, which belong to the person. An identity provider changes them only
 * where its organization made the account and no other organization knows it. Returns what both are then.
 */
async function updateAccount(
  { unit, orgId }: ProvisioningUnit,
  user: ProvisionedUser,
  wanted: UserState & { readonly email: string },
): Promise<Pick<ProvisionedUser, 'email' | 'name'>> {
  const { stores, now } = unit;
  const name = nameOf(wanted);
  const isOtherAddress = wanted.email.toLowerCase() !== user.email.toLowerCase();
  const isOtherName = !isDeepStrictEqual(wanted.profile, stateOf(user).profile) && name !== user.name;
  if (!isOtherAddress && !isOtherName) return { email: user.email, name: user.name };
  const isOwn = user.isAccountMade === true && (await stores.provisioning.countElsewhere(orgId, user.userId)) === 0;
  if (isOtherAddress && !isOwn) {
    throw new ScimError(
      'mutability',
      'the mail address of this account is changed by the person: provisioning did not make the account, or another organization knows it too',
    );
  }
  if (isOtherAddress) {
    const other = await stores.people.findUserByEmail(wanted.email);
    if (other !== null) throw new ScimError('uniqueness', `another account has the address ${wanted.email}`);
    await stores.provisioning.saveEmail(user.userId, wanted.email, now);
  }
  if (isOtherName && isOwn) await stores.people.saveName(user.userId, name, now);
  return {
    email: isOtherAddress ? wanted.email : user.email,
    name: isOtherName && isOwn ? name : user.name,
  };
}

async function requireFreeName(
  { unit, orgId }: ProvisioningUnit,
  userName: string,
  except: Id<'user'> | null,
): Promise<void> {
  const [holder] = await unit.stores.provisioning.listNamed(orgId, userName);
  if (holder === undefined || holder === except) return;
  throw new ScimError('uniqueness', `the organization has a user with the userName ${userName} already`);
}
