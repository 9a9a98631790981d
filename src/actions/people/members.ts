import { type Static, Type } from 'typebox';

import { LIST_LIMIT } from '#actions/action_context.ts';
import { RoleName } from '#actions/account/view.ts';
import type { Operator } from '#actions/operator.ts';
import { IdText, Timestamp } from '#actions/fields.ts';
import type { UnitOfWork } from '#storage/postgres/unit_of_work.ts';
import { isManager, type MemberCaller } from '#auth/sessions.ts';
import type { Channel } from '#core/oncall/channel.ts';
import { contactsOf } from '#core/oncall/contact.ts';
import { isReachable } from '#core/oncall/reachability.ts';
import type { RequestOrigin } from '#kernel/caller.ts';
import { AppError } from '#kernel/errors.ts';
import { asId, type Id } from '#kernel/ids.ts';
import type { Role } from '#kernel/permissions.ts';
import { toTimestamp } from '#kernel/time.ts';
import type { MemberOfOrganization } from '#storage/postgres/people_store.ts';
import type { Stores } from '#storage/postgres/stores.ts';
import type { TeamMemberOfTeam } from '#storage/postgres/team_store.ts';

export const OrganizationMemberView = Type.Object({
  userId: IdText,
  name: Type.String(),
  email: Type.String(),
  role: RoleName,
  joinedAt: Timestamp,
  teams: Type.Array(Type.Object({ teamId: IdText, name: Type.String() })),
  warnings: Type.Array(Type.String(), { description: 'why pages might not reach the person; none when all is well' }),
});

const TEAM_MEMBERS_MAX = 10_000;

/** Everybody of the organization, by name. */
export async function listMembers(
  stores: Stores,
  orgId: Id<'org'>,
  configured: ReadonlySet<Channel>,
): Promise<{ members: Static<typeof OrganizationMemberView>[] }> {
  const people = await stores.people.listMembers(orgId, LIST_LIMIT);
  const places = await stores.teams.listMembersOfAll(orgId, TEAM_MEMBERS_MAX);
  const subscribers = await stores.pushSubscriptions.listSubscribers(people.map(({ userId }) => userId));
  const isUnreached = (place: TeamMemberOfTeam): boolean => {
    const contact = contactsOf([place], subscribers, [place]).get(place.userId);
    return contact === undefined || !isReachable(contact, configured);
  };
  const placesOf = Map.groupBy(places, ({ userId }) => userId);
  return {
    members: people.map((person) => {
      const own = placesOf.get(person.userId) ?? [];
      return toView(person, own, own.filter(isUnreached));
    }),
  };
}

function toView(
  { userId, name, email, role, joinedAt }: MemberOfOrganization,
  places: readonly TeamMemberOfTeam[],
  unreached: readonly TeamMemberOfTeam[],
): Static<typeof OrganizationMemberView> {
  return {
    userId,
    name,
    email,
    role,
    joinedAt: toTimestamp(joinedAt),
    teams: places.map(({ teamId, teamName }) => ({ teamId, name: teamName })),
    warnings: unreached.map(
      ({ teamName }) =>
        `Nothing reaches ${name} in ${teamName}: each channel is off, lacks an address, or is not set up.`,
    ),
  };
}

/**
 * Gives a member another role, from their next request on. Only an owner makes or unmakes owners (`forbidden`), and
 * there is always one (`conflict`).
 */
export async function changeRole(
  unit: UnitOfWork,
  caller: MemberCaller | Operator,
  userId: string,
  role: Role,
  origin: RequestOrigin,
): Promise<{ userId: string; role: Role }> {
  const { stores, now } = unit;
  const { id, before } = await lockRoles(unit, caller, userId);
  if (before.target === role) return { userId, role };
  if (before.caller !== 'owner' && (role === 'owner' || before.target === 'owner')) throw forOwners();
  if (!isManager({ role: before.caller })) throw forManagers(before.caller);
  await requireAnotherOwner(stores, caller.orgId, before.target);
  await stores.people.setMembership(caller.orgId, id, role, now);
  const roles = { before: { role: before.target }, after: { role } };
  await record(unit, caller, { action: 'change_role', target: id, ...roles }, origin);
  return { userId, role };
}

/**
 * Takes a member out of the organization, or lets one leave: from the next request on they are no member, are on call
 * nowhere and are paged no more. Their places in teams, their keys, connections, calendar addresses and links to answer with
 * end with it; schedules and policies pass over them. Returns the role that they had and the keys of theirs that ended.
 */
export async function endMembership(
  unit: UnitOfWork,
  caller: ManagingMember,
  userId: string,
): Promise<{ id: Id<'user'>; role: Role; revokedKeys: Id<'apikey'>[] }> {
  const { stores, now } = unit;
  const isOwn = caller.actor.kind === 'user' && userId === caller.actor.userId;
  const { id, before } = await lockRoles(unit, caller, userId);
  if (!isOwn && !isManager({ role: before.caller })) throw forManagers(before.caller);
  if (!isOwn && before.caller !== 'owner' && before.target === 'owner') throw forOwners();
  await requireAnotherOwner(stores, caller.orgId, before.target);
  const revokedKeys = await stores.apiKeys.revokeAllOf(caller.orgId, id, now);
  await stores.people.removeMembership(caller.orgId, id);
  return { id, role: before.target, revokedKeys };
}

/** Who changes the membership of somebody; the operator of the installation may what an owner may. */
interface ManagingMember {
  readonly orgId: Id<'org'>;
  readonly actor: { readonly kind: 'user'; readonly userId: Id<'user'> } | { readonly kind: 'system' };
}

interface Roles {
  readonly id: Id<'user'>;
  readonly before: { readonly caller: Role; readonly target: Role };
}

/**
 * The roles as they are once everybody who was changing them has finished: what the caller was when the request came may
 * no longer be so.
 */
async function lockRoles({ stores }: UnitOfWork, { orgId, actor }: ManagingMember, userId: string): Promise<Roles> {
  const id = asId('user', userId);
  await stores.people.lockMemberships(orgId);
  const caller = actor.kind === 'system' ? 'owner' : await stores.people.findRole(orgId, actor.userId);
  if (caller === null) throw new AppError('not_found', 'you belong to no organization with this id');
  const target = await stores.people.findRole(orgId, id);
  if (target === null) throw new AppError('not_found', 'the organization has no member with this id');
  return { id, before: { caller, target } };
}

async function requireAnotherOwner(stores: Stores, orgId: Id<'org'>, role: Role): Promise<void> {
  if (role !== 'owner' || (await stores.people.countOwners(orgId)) > 1) return;
  throw new AppError('conflict', 'the last owner can neither leave nor be lowered; make somebody else an owner first');
}

function forOwners(): AppError {
  return new AppError('forbidden', 'only an owner makes or unmakes owners');
}

function forManagers(role: Role): AppError {
  return new AppError('forbidden', `only owners and admins do this; you are ${role}`);
}

async function record(
  { stores, now }: UnitOfWork,
  { orgId, actor, via }: MemberCaller | Operator,
  change: { action: string; target: string; before: object; after: object | null },
  origin: RequestOrigin,
): Promise<void> {
  await stores.audit.append({ orgId, actor, via, ...change, result: 'done', origin }, now);
}
