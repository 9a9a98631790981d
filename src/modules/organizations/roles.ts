import { AppError } from '#kernel/errors.ts';
import { asId, type Id } from '#kernel/ids.ts';
import { mayAnswer, type Role, ROLE_CONSOLE_PERMISSIONS } from '#kernel/permissions.ts';
import { recordOf } from '#kernel/records.ts';
import type { Temporal } from '#kernel/time.ts';
import type { Caller } from '#modules/accounts/decide/caller.ts';
import type { MembershipRow } from '#modules/accounts/store/people_store.ts';
import { callerUser } from '#modules/accounts/view.ts';
import { CHANNEL_PREFERENCES } from '#modules/contacts/decide/channel.ts';
import type { InvitationRow } from '#modules/organizations/store.ts';
import type { Stores, UnitOfWork } from '#modules/stores.ts';
import { sendDeactivationNotice } from '#storage/queue/jobs.ts';

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

interface PagedBy {
  readonly teamId: Id<'team'>;
  readonly name: string;
}

/** Lists what pages a person now or later: schedules, with overrides, and policies that name them or their team. */
export async function listPagedBy(
  stores: Pick<Stores, 'schedules' | 'policies' | 'teams'>,
  orgId: Id<'org'>,
  userId: Id<'user'>,
  now: Temporal.Instant,
): Promise<readonly PagedBy[]> {
  const schedules = await stores.schedules.listNaming(orgId, userId, { after: now });
  const policies = await stores.policies.listNaming(orgId, userId);
  const teams = new Set((await stores.teams.listPlacesOf(orgId, userId)).map(({ teamId }) => teamId));
  const byTeam = teams.size === 0 ? [] : await stores.policies.listNamingAny(orgId, [...teams]);
  const ofMembers = byTeam.filter(({ steps }) =>
    steps.some(({ members }) => members !== undefined && teams.has(members.teamId)),
  );
  return [...new Map([...schedules, ...policies, ...ofMembers].map((row) => [row.id, row] as const)).values()];
}

/**
 * Tells owners, admins and teams by mail that somebody is paged whose role may not answer any more, where no person has
 * changed it who would read a warning: an identity provider has. A null role before stands for no membership.
 */
export async function notifyOfLoweredRole(
  { stores, now, enqueue }: Pick<UnitOfWork, 'stores' | 'now' | 'enqueue'>,
  orgId: Id<'org'>,
  { userId, before, after }: { readonly userId: Id<'user'>; readonly before: Role | null; readonly after: Role },
): Promise<void> {
  if (mayAnswer(after) || (before !== null && !mayAnswer(before))) return;
  if ((await listPagedBy(stores, orgId, userId, now)).length === 0) return;
  enqueue(sendDeactivationNotice, { orgId, userId, noticeId: `role${now.epochMilliseconds}` });
}

/** Returns whose keys and connections a person may see and end: everybody's (null) as a manager, else their own. */
export function visibleOwner(caller: Caller): Id<'user'> | null {
  return caller.permissions.has('organization:manage') ? null : callerUser(caller);
}

/**
 * Ends a membership: from the next request on the person is no longer a member, no longer on call, and is not paged.
 * Places in teams, keys, connections, calendar addresses and links to answer with end with it; schedules and policies
 * pass over them, and exception groups are nobody's. Returns the membership and the keys that ended. The caller holds the
 * lock on memberships. Throws `not_found` for one who is no member.
 */
export async function endMembership(
  { apiKeys, groupAssignments, people }: Pick<Stores, 'apiKeys' | 'groupAssignments' | 'people'>,
  orgId: Id<'org'>,
  userId: Id<'user'>,
  now: Temporal.Instant,
): Promise<{ membership: MembershipRow; revokedKeys: Id<'apikey'>[] }> {
  const revokedKeys = await apiKeys.revokeAllOf(orgId, userId, now);
  await groupAssignments.releaseMember(orgId, userId);
  const membership = await people.removeMembership(orgId, userId);
  if (membership === null) throw new AppError('not_found', 'the organization has no member with this id');
  return { membership, revokedKeys };
}

/**
 * Puts a person who accepts an invitation into the teams that it names and that are still there. If a policy pages them
 * as a member of one and their role may not answer, owners, admins and teams are told by mail.
 */
export async function joinInvitedTeams(
  unit: Pick<UnitOfWork, 'stores' | 'now' | 'enqueue'>,
  { orgId, teamIds }: Pick<InvitationRow, 'orgId' | 'teamIds'>,
  { userId, role }: { readonly userId: Id<'user'>; readonly role: Role },
): Promise<void> {
  const { now } = unit;
  const { teams } = unit.stores;
  const members = new Set((await teams.listPlacesOf(orgId, userId)).map(({ teamId }) => teamId));
  for (const { id } of await teams.findAll(orgId, teamIds)) {
    if (members.has(id)) continue;
    const team = await teams.lock(orgId, id);
    await teams.insertMember(team, userId, { phone: null, ...recordOf(CHANNEL_PREFERENCES, () => true) }, now);
  }
  if (teamIds.length > 0) await notifyOfLoweredRole(unit, orgId, { userId, before: null, after: role });
}
