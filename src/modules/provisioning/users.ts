import { admitByAddress, unprovenText } from '#modules/accounts/unproven_account.ts';
import { isDeepStrictEqual } from 'node:util';

import { endMembership, requireAnotherOwner, notifyOfLoweredRole } from '#modules/organizations/roles.ts';
import { roleByGroups } from '#modules/provisioning/decide/provisioned_role.ts';
import { ScimError } from '#modules/provisioning/decide/scim_values.ts';
import { addressOf, nameOf, type UserState } from '#modules/provisioning/decide/scim_user.ts';
import type { KeptContact, SuspendedMembership } from '#modules/provisioning/decide/suspended_membership.ts';
import type { ProvisioningChange, ProvisioningUnit } from '#modules/provisioning/provisioning_unit.ts';
import type { FoundUser, ProvisionedUser } from '#modules/provisioning/store/provisioning_store.ts';
import { AppError } from '#kernel/errors.ts';
import { newId } from '#kernel/ids.ts';
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
  const { userName, externalId, profile, isActive } = state;
  const { holder, account } = await stores.provisioning.findTaken(orgId, { userName, email });
  if (holder !== null) throw nameTaken(userName);
  if (account?.isKnown === true) {
    throw new ScimError('uniqueness', `the organization has a user with the address ${email} already`);
  }
  const admission = account === null ? null : await admitByAddress(stores, orgId, account);
  if (admission === 'refused') throw new ScimError('uniqueness', unprovenText(email));
  if (!(await room.users.take(orgId, 1, () => stores.provisioning.countNamed(orgId)))) {
    throw new ScimError('tooMany', `an organization has at most ${USERS_MAX} users`);
  }
  const name = nameOf(state);
  const row = {
    userId: account?.userId ?? newId('user'),
    userName,
    externalId,
    profile,
    isAccountMade: account === null,
    suspended: isActive ? null : { role, contact: null, teams: [] },
    createdAt: now,
    updatedAt: now,
  };
  const { userId } = row;
  const made = { account: account === null ? { email, name } : null, role: isActive ? role : null };
  await stores.provisioning.insert({ orgId, ...row }, made);
  // Nothing names an account that has just been made.
  if (isActive && account !== null) await notifyOfLoweredRole(unit, orgId, { userId, before: null, after: role });
  const after = {
    userName,
    email,
    name: account?.name ?? name,
    active: isActive,
    ...(isActive && { role }),
    ...(admission === 'emptied' && { endedSetUp: true }),
  };
  const action = account === null ? 'provision_user' : 'provision_member';
  provisioning.record([{ action, target: userId, before: null, after }]);
  return { ...row, email: account?.email ?? email, name: account?.name ?? name, role: isActive ? role : null };
}

/** Returns what is known of a person, for a PATCH to begin with. */
export function stateOf({ userName, externalId, email, name, profile, role }: ProvisionedUser): UserState {
  const names = { displayName: null, formatted: name, givenName: null, familyName: null };
  return { userName, externalId, email, isActive: role !== null, profile: profile ?? names };
}

/** Changes a person to what the identity provider says, and returns them. Throws `uniqueness`, `mutability`. */
export async function updateUser(provisioning: ProvisioningUnit, user: FoundUser, next: UserState): Promise<FoundUser> {
  const { unit, orgId } = provisioning;
  const { stores, now } = unit;
  const before = stateOf(user);
  // Without emails of its own, a user keeps the address it has.
  const wanted = { ...next, email: next.email ?? user.email };
  if (isDeepStrictEqual(before, wanted)) return user;
  const { userId } = user;
  const changes: ProvisioningChange[] = [];
  if (wanted.userName.toLowerCase() !== before.userName.toLowerCase()) {
    const holder = await stores.provisioning.findNamed(orgId, wanted.userName);
    if (holder !== null && holder !== userId) throw nameTaken(wanted.userName);
  }
  const account = await updateAccount(provisioning, user, wanted);
  let { suspended, role } = user;
  if (role !== null && !wanted.isActive) {
    suspended = await deactivate(provisioning, user, role);
    role = null;
    changes.push({ action: 'deactivate_member', target: userId, before: { role: suspended.role }, after: null });
  } else if (role === null && wanted.isActive) {
    role = await activate(provisioning, user);
    suspended = null;
    changes.push({ action: 'activate_member', target: userId, before: null, after: { role } });
  }
  const { userName, externalId, profile } = wanted;
  const isAccountMade = user.isAccountMade ?? false;
  const row = { orgId, userId, userName, externalId, profile, isAccountMade, suspended };
  const accountName = account.name === user.name ? null : account.name;
  await stores.provisioning.save({ ...row, createdAt: user.createdAt, updatedAt: now }, accountName);
  const audited = ({ userName: name, externalId: id, email, profile: names }: UserState) => {
    return { userName: name, externalId: id, email, ...names };
  };
  if (!isDeepStrictEqual(audited(before), audited(wanted))) {
    const target = { action: 'update_provisioned_user', target: userId };
    changes.push({ ...target, before: audited(before), after: audited(wanted) });
  }
  provisioning.record(changes);
  return { ...user, ...account, userName, externalId, profile, isAccountMade, suspended, role, updatedAt: now };
}

/** Ends the membership and forgets what the identity provider has said; the account itself and its history stay. */
export async function deleteUser(provisioning: ProvisioningUnit, user: ProvisionedUser): Promise<void> {
  const { unit, orgId } = provisioning;
  if (user.role !== null) await deactivate(provisioning, user, user.role);
  await unit.stores.scimGroups.removeFromAll(orgId, user.userId);
  await unit.stores.provisioning.delete(orgId, user.userId);
  const before = { userName: user.userName, ...(user.role !== null && { role: user.role }) };
  provisioning.record([{ action: 'delete_provisioned_user', target: user.userId, before, after: null }]);
}

/**
 * Ends the membership as removing a member does, and keeps what is to come back with it. Sessions end, too, where the
 * person is a member of no other organization.
 */
async function deactivate(
  { unit, orgId, by }: ProvisioningUnit,
  { userId }: ProvisionedUser,
  role: Role,
): Promise<SuspendedMembership> {
  const { stores, now, enqueue } = unit;
  await requireAnotherOwner(stores, orgId, role).catch((error: unknown) => {
    throw error instanceof AppError ? new ScimError('mutability', `${error.message}; nothing was changed`) : error;
  });
  const teams = (await stores.teams.listPlacesOf(orgId, userId)).map((place) => ({
    teamId: place.teamId,
    ...contactOf(place),
  }));
  const { membership } = await endMembership(stores, orgId, userId, now);
  await stores.sessions.endAllOfFormer(userId);
  const named = await stores.schedules.listNaming(orgId, userId, { after: now, limit: 1 });
  if (named.length > 0) enqueue(sendDeactivationNotice, { orgId, userId, noticeId: by.origin.requestId });
  return { role, contact: contactOf(membership), teams };
}

function contactOf({ phone, smsEnabled, callEnabled, pushEnabled, emailEnabled }: KeptContact): KeptContact {
  return { phone, smsEnabled, callEnabled, pushEnabled, emailEnabled };
}

/** Makes the person a member again, as they were, and as their groups say. Returns the role. */
async function activate(
  { unit, orgId, fallback }: ProvisioningUnit,
  { userId, suspended, groups }: FoundUser,
): Promise<Role> {
  const { stores, now } = unit;
  const before = suspended?.role ?? fallback;
  await stores.provisioning.restoreMembership({ orgId, userId }, before, suspended?.contact ?? null, now);
  const places = suspended?.teams ?? [];
  const teamIds = [...places, ...groups].flatMap(({ teamId }) => teamId ?? []);
  const teams = teamIds.length === 0 ? [] : await stores.teams.findAll(orgId, teamIds);
  for (const { id } of teams) {
    const team = await stores.teams.lock(orgId, id);
    const { teamId: _, ...contact } = places.find(({ teamId }) => teamId === id) ?? { teamId: id };
    if ('phone' in contact) await stores.teams.insertMember(team, userId, contact, now);
    else await stores.scimGroups.addToTeam(orgId, id, [userId], now);
  }
  const [roles] = groups.length === 0 ? [] : await stores.scimGroups.listRoles(orgId, [userId]);
  const role = roleByGroups({ role: before, mapped: roles?.mapped ?? [], wasMapped: false, fallback });
  if (role !== before) await stores.scimGroups.setRole(orgId, [userId], role);
  // Schedules and policies that name the person go on paging them.
  await notifyOfLoweredRole(unit, orgId, { userId, before: null, after: role });
  return role;
}

/**
 * Returns the name and the address of the account, which belong to the person, as they are to be; the address is changed
 * here. An identity provider changes them only where its organization made the account and no other organization knows it.
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
  return { email: isOtherAddress ? wanted.email : user.email, name: isOtherName && isOwn ? name : user.name };
}

function nameTaken(userName: string): ScimError {
  return new ScimError('uniqueness', `the organization has a user with the userName ${userName} already`);
}
