import { isDeepStrictEqual } from 'node:util';

import { type Static, Type } from 'typebox';

import { type ActionContext, defineOperation } from '#actions/action_context.ts';
import { EXAMPLE_IDS, IdText, nullable, StrictObject, Timestamp } from '#actions/fields.ts';
import { idsInput, nameCursorOf, pageInput, pageOf, parseNameCursor, searchInput } from '#actions/list_page.ts';
import { AppError, notFound } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import { mayAnswer, type Role, ROLES } from '#kernel/permissions.ts';
import { toTimestamp } from '#kernel/time.ts';
import type { MemberOfOrganization } from '#modules/accounts/store/people_store.ts';
import { callerUser, PersonColorNumber, RoleName } from '#modules/accounts/view.ts';
import { contactsOf } from '#modules/contacts/decide/contact.ts';
import { isReachable } from '#modules/contacts/decide/reachability.ts';
import {
  endMembership,
  forManagers,
  forOwners,
  listPagedBy,
  lockRoles,
  managesOrganization,
  requireAnotherOwner,
} from '#modules/organizations/roles.ts';
import type { Stores } from '#modules/stores.ts';
import type { TeamMemberOfTeam } from '#modules/teams/store.ts';
import { OnCallWarnings, readRoleWarnings, unreachedText } from '#modules/teams/warnings.ts';

const OrganizationMemberView = Type.Object({
  userId: IdText,
  name: Type.String(),
  email: Type.String(),
  color: PersonColorNumber,
  role: RoleName,
  joinedAt: Timestamp,
  hasSecondFactor: nullable(
    Type.Boolean({ description: 'beside the password; null for those who do not manage the organization' }),
  ),
  teams: Type.Array(Type.Object({ teamId: IdText, name: Type.String() })),
  warnings: Type.Array(Type.String(), { description: 'why pages might not reach the person; none when all is well' }),
});

const LIMIT = 50;
const LIMIT_MAX = 200;

export const listMembers = defineOperation({
  name: 'list_members',
  summary:
    'Find the members of the organization page by page, by name, with their teams and what may keep pages from them.',
  permission: 'organization:view',
  effect: 'read',
  input: StrictObject({
    text: searchInput('part of the name or of the mail address'),
    role: Type.Optional(RoleName),
    userIds: idsInput(LIMIT_MAX),
    ...pageInput(LIMIT, LIMIT_MAX),
  }),
  result: Type.Object({
    members: Type.Array(OrganizationMemberView),
    total: Type.Integer({ description: 'how many match' }),
    nextCursor: nullable(Type.String()),
  }),
  example: {
    text: 'ann',
    role: 'responder',
    userIds: ['user_01k9z7c9d0e1f2g3h4j5k6m7np'],
    cursor: nameCursorOf({ name: 'Anna', id: EXAMPLE_IDS.userId }),
    limit: 20,
  },
  async handle({ text, role, userIds, cursor, limit = LIMIT }, { caller, stores, configuredChannels }) {
    const wanted = { text: text?.trim(), role, userIds };
    const page = await stores.people.search(caller.orgId, wanted, {
      after: cursor === undefined ? null : parseNameCursor('user', cursor),
      limit: limit + 1,
    });
    const { shown: people, nextCursor } = pageOf(page, limit, (last) =>
      nameCursorOf({ name: last.name, id: last.userId }),
    );
    const ids = people.map(({ userId }) => userId);
    const isManager = caller.permissions.has('organization:manage');
    const holders = isManager ? await stores.secondFactors.listHolders(ids) : null;
    const places = await stores.teams.listPlacesOfAll(caller.orgId, ids);
    const subscribers = await stores.pushSubscriptions.listSubscribers(caller.orgId, ids);
    const accounts = [...(await stores.people.listReachable(caller.orgId, ids)).values()];
    const placesOf = Map.groupBy(places, ({ userId }) => userId);
    const isUnreached = (userId: Id<'user'>, ofTeam: readonly TeamMemberOfTeam[]): boolean => {
      const account = accounts.filter((person) => person.userId === userId);
      const contact = contactsOf(account, subscribers, ofTeam).get(userId);
      return contact !== undefined && !isReachable(contact, configuredChannels);
    };
    return {
      members: people.map((person) => {
        const { userId, name } = person;
        const places = placesOf.get(userId) ?? [];
        const warnings = places
          .filter((place) => isUnreached(userId, [place]))
          .map(({ teamName }) => unreachedText(`${name} in ${teamName}`));
        if (places.length === 0 && isUnreached(userId, [])) warnings.push(unreachedText(name));
        return toView(person, places, holders?.has(userId) ?? null, warnings);
      }),
      total: await stores.people.count(caller.orgId, wanted),
      nextCursor,
    };
  },
});

function toView(
  { userId, name, email, color, role, joinedAt }: MemberOfOrganization,
  places: readonly TeamMemberOfTeam[],
  hasSecondFactor: boolean | null,
  warnings: string[],
): Static<typeof OrganizationMemberView> {
  return {
    userId,
    name,
    email,
    color,
    role,
    joinedAt: toTimestamp(joinedAt),
    hasSecondFactor,
    teams: places.map(({ teamId, teamName }) => ({ teamId, name: teamName })),
    warnings,
  };
}

const NAMED_MAX = 10;

const RoleRead = Type.Enum([...ROLES], { description: 'the role that was read' });

/** Changes the role of a member. Only an owner can make or remove owners, and there is always at least one. */
export const changeRole = defineOperation({
  name: 'change_role',
  stepUp: true,
  summary: 'Give a member another role. Only an owner can make or remove owners. There is always at least one.',
  permission: 'organization:manage',
  effect: 'write',
  input: StrictObject({ userId: IdText, role: RoleName, basedOn: Type.Optional(RoleRead) }),
  result: Type.Object({ userId: IdText, role: RoleName, warnings: OnCallWarnings }),
  conflict: 'the last owner cannot be given another role, or somebody has changed the role since it was read',
  example: { role: 'viewer', basedOn: 'editor' },
  async handle({ userId, role, basedOn }, context) {
    const { caller, stores, now, record } = context;
    const { id, before } = await lockRoles(stores, caller, userId);
    if (before.target === role) return { userId, role, warnings: [] };
    if (before.caller !== 'owner' && (role === 'owner' || before.target === 'owner')) throw forOwners();
    if (!managesOrganization(before.caller)) throw forManagers(before.caller);
    if (basedOn !== undefined && basedOn !== before.target) {
      const changedBy = await findWhoGave(stores, caller.orgId, id, before.target);
      throw new AppError('conflict', `${changedBy} has made this member ${before.target} since you opened this`);
    }
    await requireAnotherOwner(stores, caller.orgId, before.target);
    await stores.people.setMembership(caller.orgId, id, role, now);
    record({ target: id, before: { role: before.target }, after: { role } });
    return { userId, role, warnings: await readLoweredWarnings(id, role, context) };
  },
});

/** Returns warnings when the new role cannot answer and schedules or policies still page the person. */
async function readLoweredWarnings(userId: Id<'user'>, role: Role, context: ActionContext): Promise<string[]> {
  const { caller, stores, now } = context;
  if (mayAnswer(role)) return [];
  const paging = await listPagedBy(stores, caller.orgId, userId, now);
  const names = [...new Set(paging.map(({ name }) => `"${name}"`))];
  if (names.length === 0) return [];
  const [warning = ''] = await readRoleWarnings([userId], context);
  return [
    `${warning} These page them: ${names.slice(0, NAMED_MAX).join(', ')}${names.length > NAMED_MAX ? ' and others' : ''}.`,
  ];
}

async function findWhoGave(
  { auditLog }: Pick<Stores, 'auditLog'>,
  orgId: Id<'org'>,
  userId: Id<'user'>,
  role: Role,
): Promise<string> {
  const [last] = await auditLog.list(orgId, { action: 'change_role', target: userId, result: 'done' }, null, 1);
  return (last !== undefined && isDeepStrictEqual(last.after, { role }) ? last.actorName : null) ?? 'somebody';
}

const KEYS_MAX = 100;

export const removeMember = defineOperation({
  name: 'remove_member',
  stepUp: true,
  summary:
    'Remove a member, which owners and admins may, or leave, which everybody may but the last owner. From the next request on the person is no longer a member and is not paged. Keys of the organization, such as those that the person made, can be revoked in the same step.',
  permission: 'organization:view',
  effect: 'delete',
  input: StrictObject({
    userId: IdText,
    revokeApiKeyIds: Type.Optional(
      Type.Array(IdText, { maxItems: KEYS_MAX, description: 'keys of the organization; for owners and admins' }),
    ),
  }),
  result: Type.Object({ deleted: Type.Literal(true), userId: IdText }),
  conflict: 'the last owner can neither leave nor be removed',
  example: { revokeApiKeyIds: [] },
  async handle({ userId, revokeApiKeyIds = [] }, context) {
    const { caller, stores, now, record } = context;
    if (revokeApiKeyIds.length > 0 && !caller.permissions.has('organization:manage')) {
      throw new AppError('forbidden', 'only owners and admins can revoke keys of the organization');
    }
    const { orgId } = caller;
    const { id, role, revokedKeys } = await removeFrom(context, userId);
    for (const [index, apiKeyId] of revokeApiKeyIds.entries()) {
      const key = await stores.apiKeys.find(orgId, apiKeyId);
      if (key === null || key.userId !== null) throw notFound(`revokeApiKeyIds[${index}]`, 'key of the organization');
      await stores.apiKeys.revoke(apiKeyId, now);
      record({ target: apiKeyId, before: { name: key.name, createdBy: key.createdBy }, after: null });
    }
    record({ target: id, before: { role }, after: revokedKeys.length === 0 ? null : { revokedKeys } });
    return { deleted: true as const, userId };
  },
});

/** Ends the membership if the caller may; returns the role that the person had and the keys of theirs that ended. */
async function removeFrom(
  { stores, now, caller }: ActionContext,
  userId: string,
): Promise<{ id: Id<'user'>; role: Role; revokedKeys: Id<'apikey'>[] }> {
  const isOwn = userId === callerUser(caller);
  const { id, before } = await lockRoles(stores, caller, userId);
  if (!isOwn && !managesOrganization(before.caller)) throw forManagers(before.caller);
  if (!isOwn && before.caller !== 'owner' && before.target === 'owner') throw forOwners();
  await requireAnotherOwner(stores, caller.orgId, before.target);
  const { revokedKeys } = await endMembership(stores, caller.orgId, id, now);
  return { id, role: before.target, revokedKeys };
}
