import { type Id, newId } from '#kernel/ids.ts';
import { mayAnswer, type Role } from '#kernel/permissions.ts';
import { notifyOfLoweredRole } from '#modules/organizations/roles.ts';
import { type ProvisionedRole, roleByGroups } from '#modules/provisioning/decide/provisioned_role.ts';
import { ScimError } from '#modules/provisioning/decide/scim_values.ts';
import type { GroupBody, GroupPatch } from '#modules/provisioning/decide/scim_group.ts';
import type { ScimGroupRow, SuspendedMember } from '#modules/provisioning/store/scim_group_store.ts';
import type { UnitOfWork } from '#modules/stores.ts';
import type { ProvisioningChange, ProvisioningUnit } from './provisioning_unit.ts';

const GROUPS_MAX = 1_000;
export const MEMBERS_MAX = 20_000;
/** Ids that an entry of the audit log names; more are counted. */
const AUDITED_MAX = 200;

/** Makes a group, which changes nothing until an owner maps it. Throws `uniqueness`, `invalidValue`. */
export async function createGroup(provisioning: ProvisioningUnit, body: GroupBody): Promise<ScimGroupRow> {
  const { unit, orgId } = provisioning;
  const { stores, now } = unit;
  const { displayName, externalId } = body;
  const { holder, count } = await stores.scimGroups.findTaken(orgId, displayName);
  if (holder !== null) throw nameTaken(displayName);
  if (count >= GROUPS_MAX) throw new ScimError('tooMany', `an organization has at most ${GROUPS_MAX} groups`);
  const id = newId('scimgroup');
  const times = { createdAt: now, updatedAt: now };
  const group = { id, orgId, displayName, externalId, teamId: null, role: null, version: 1, ...times };
  await stores.scimGroups.insert(group);
  const members = await requireKnown(provisioning, body.members);
  await stores.scimGroups.addMembers(id, members);
  provisioning.record([
    {
      action: 'create_provisioned_group',
      target: id,
      before: null,
      after: { displayName, ...audited('members', members) },
    },
  ]);
  return group;
}

/** Changes a locked group and, if it is mapped, the teams and roles of those who came or left. */
export async function updateGroup(
  provisioning: ProvisioningUnit,
  group: ScimGroupRow,
  patch: GroupPatch,
): Promise<void> {
  const { unit, orgId, fallback } = provisioning;
  const { stores, now } = unit;
  const displayName = patch.displayName ?? group.displayName;
  const externalId = patch.externalId === undefined ? group.externalId : patch.externalId;
  if (displayName.toLowerCase() !== group.displayName.toLowerCase()) {
    const { holder } = await stores.scimGroups.findTaken(orgId, displayName);
    if (holder !== null && holder !== group.id) throw nameTaken(displayName);
  }
  const { added, removed } = await move(provisioning, group, patch);
  const isRenamed = displayName !== group.displayName || externalId !== group.externalId;
  if (!isRenamed && added.length + removed.length === 0) return;
  await stores.scimGroups.save({ ...group, displayName, externalId, version: group.version + 1, updatedAt: now });
  const effects = await applyGroupMoves({ unit, orgId, fallback }, group, { added, removed });
  provisioning.record([
    {
      action: 'update_provisioned_group',
      target: group.id,
      before: { displayName: group.displayName, externalId: group.externalId },
      after: {
        displayName,
        externalId,
        ...audited('added', added),
        ...audited('removed', removed),
        ...auditedTeam(effects),
      },
    },
    ...effects.roles,
  ]);
}

export async function deleteGroup(provisioning: ProvisioningUnit, group: ScimGroupRow): Promise<void> {
  const { unit, orgId, fallback } = provisioning;
  const members = await unit.stores.scimGroups.listMemberIds(group.id);
  const removed = await unit.stores.scimGroups.removeMembers(group.id, members);
  const effects = await applyGroupMoves({ unit, orgId, fallback }, group, { added: [], removed });
  await unit.stores.scimGroups.delete(group.id);
  provisioning.record([
    {
      action: 'delete_provisioned_group',
      target: group.id,
      before: { displayName: group.displayName, ...audited('members', removed), ...auditedTeam(effects) },
      after: null,
    },
    ...effects.roles,
  ]);
}

async function move(provisioning: ProvisioningUnit, group: ScimGroupRow, { replaced, added, removed }: GroupPatch) {
  const { scimGroups } = provisioning.unit.stores;
  const isTouched = replaced !== null || added.size + removed.size > 0;
  if (!isTouched) return { added: [], removed: [] };
  const wanted = await requireKnown(provisioning, [...(replaced ?? added)]);
  const before = replaced === null ? [] : await scimGroups.listMemberIds(group.id);
  const kept = new Set<string>(replaced);
  const leaving = replaced === null ? ([...removed] as Id<'user'>[]) : before.filter((id) => !kept.has(id));
  const moves = {
    removed: await scimGroups.removeMembers(group.id, leaving),
    added: await scimGroups.addMembers(group.id, wanted),
  };
  const { groupMembers } = provisioning.room;
  const more = moves.added.length;
  const countBefore = async (): Promise<number> => (await scimGroups.countMembers(group.id)) - more;
  if (more > 0 && !(await groupMembers.take(group.id, more, countBefore))) {
    throw new ScimError('tooMany', `a group has at most ${MEMBERS_MAX} members`);
  }
  return moves;
}

async function requireKnown({ unit, orgId }: ProvisioningUnit, userIds: readonly string[]): Promise<Id<'user'>[]> {
  if (userIds.length > MEMBERS_MAX) throw new ScimError('tooMany', `a group has at most ${MEMBERS_MAX} members`);
  const people = new Set<string>(await unit.stores.provisioning.listKnown(orgId, userIds));
  const unknown = userIds.find((userId) => !people.has(userId));
  if (unknown !== undefined) throw new ScimError('invalidValue', `no user of the organization has the id ${unknown}`);
  return userIds as Id<'user'>[];
}

function nameTaken(displayName: string): ScimError {
  return new ScimError('uniqueness', `the organization has a group with the displayName ${displayName} already`);
}

function audited(name: string, ids: readonly string[]): object {
  if (ids.length === 0) return {};
  return { [name]: ids.slice(0, AUDITED_MAX), ...(ids.length > AUDITED_MAX && { [`${name}Count`]: ids.length }) };
}

function auditedTeam({ joinedTeam, leftTeam }: GroupEffects): object {
  return { ...audited('joinedTeam', joinedTeam), ...audited('leftTeam', leftTeam) };
}

/** Change of groups by an identity provider or an owner, who hold the lock on memberships. */
interface Change {
  readonly unit: Pick<UnitOfWork, 'stores' | 'now' | 'enqueue'>;
  readonly orgId: Id<'org'>;
  /** Role of people whom no mapped group gives one. */
  readonly fallback: ProvisionedRole;
}

type Mapping = Pick<ScimGroupRow, 'id' | 'teamId' | 'role'>;

/** People who came into a group, or left it. */
export interface GroupMoves {
  readonly added: readonly Id<'user'>[];
  readonly removed: readonly Id<'user'>[];
}

interface GroupEffects {
  readonly joinedTeam: readonly Id<'user'>[];
  readonly leftTeam: readonly Id<'user'>[];
  readonly roles: readonly ProvisioningChange[];
}

/** Limit on the people of one change whose notices are sent. */
const NOTICES_MAX = 50;

const NO_EFFECTS: GroupEffects = { joinedTeam: [], leftTeam: [], roles: [] };

/**
 * Applies the mapping of a group to people who came into it or left it: places in its team, and roles. A group without
 * a mapping changes nothing. Schedules and policies are never changed; whom they name although the new role may not answer
 * is told.
 */
async function applyGroupMoves(
  change: Change,
  { id, teamId, role }: Mapping,
  { added, removed }: GroupMoves,
): Promise<GroupEffects> {
  if ((teamId === null && role === null) || added.length + removed.length === 0) return NO_EFFECTS;
  const { orgId } = change;
  const { stores, now } = change.unit;
  let joinedTeam: readonly Id<'user'>[] = [];
  let leftTeam: readonly Id<'user'>[] = [];
  if (teamId !== null) {
    await stores.teams.lock(orgId, teamId);
    leftTeam = await stores.scimGroups.removeFromTeam(orgId, teamId, removed, id);
    joinedTeam = await stores.scimGroups.addToTeam(orgId, teamId, added, now);
  }
  const roles = role === null ? [] : await applyRoles(change, added, removed);
  const kept = await adjustSuspended(change, removed, { teamId, role });
  return { joinedTeam, leftTeam: [...leftTeam, ...kept.leftTeam], roles: [...roles, ...kept.roles] };
}

/** Applies another mapping to the people who are in the group now. */
export async function applyMapping(
  unit: Pick<UnitOfWork, 'stores' | 'now' | 'enqueue'>,
  orgId: Id<'org'>,
  before: Mapping,
  after: { readonly teamId: Id<'team'> | null; readonly role: ProvisionedRole | null },
): Promise<GroupEffects> {
  const { stores, now } = unit;
  const members = await stores.scimGroups.listMemberIds(before.id);
  let leftTeam: readonly Id<'user'>[] = [];
  let joinedTeam: readonly Id<'user'>[] = [];
  if (before.teamId !== after.teamId) {
    if (before.teamId !== null) {
      await stores.teams.lock(orgId, before.teamId);
      leftTeam = await stores.scimGroups.removeFromTeam(orgId, before.teamId, members, before.id);
    }
    if (after.teamId !== null) {
      await stores.teams.lock(orgId, after.teamId);
      joinedTeam = await stores.scimGroups.addToTeam(orgId, after.teamId, members, now);
    }
  }
  const fallback = await stores.provisioning.lockProvisionedRole(orgId);
  const change = { unit, orgId, fallback };
  const wasMapped = before.role === null ? [] : members;
  const roles = before.role === after.role ? [] : await applyRoles(change, members, wasMapped);
  const kept = await adjustSuspended(change, members, {
    teamId: before.teamId === after.teamId ? null : before.teamId,
    role: before.role === after.role ? null : before.role,
  });
  return { joinedTeam, leftTeam: [...leftTeam, ...kept.leftTeam], roles: [...roles, ...kept.roles] };
}

/**
 * Takes what a group gave out of what comes back to people who are deactivated, unless another group of theirs gives it,
 * too. `lost`: the team and the role that the group no longer gives; null for none.
 */
async function adjustSuspended(
  { unit: { stores }, orgId, fallback }: Change,
  userIds: readonly Id<'user'>[],
  lost: Pick<Mapping, 'teamId' | 'role'>,
): Promise<Pick<GroupEffects, 'leftTeam' | 'roles'>> {
  const leftTeam: Id<'user'>[] = [];
  const roles: ProvisioningChange[] = [];
  const adjusted: Pick<SuspendedMember, 'userId' | 'suspended'>[] = [];
  if (lost.teamId === null && lost.role === null) return { leftTeam, roles };
  for (const { userId, suspended, mapped, keptTeams } of await stores.scimGroups.listSuspended(orgId, userIds)) {
    const teams = suspended.teams.filter(({ teamId }) => teamId !== lost.teamId || keptTeams.includes(teamId));
    const role = roleByGroups({ role: suspended.role, mapped, wasMapped: lost.role !== null, fallback });
    const hasLeft = teams.length < suspended.teams.length;
    if (hasLeft) leftTeam.push(userId);
    if (role !== suspended.role) roles.push(provisionRole(userId, suspended.role, role));
    if (hasLeft || role !== suspended.role) adjusted.push({ userId, suspended: { ...suspended, teams, role } });
  }
  await stores.scimGroups.saveSuspended(orgId, adjusted);
  return { leftTeam, roles };
}

/**
 * Gives people the roles of their groups. `wasMapped`: those whose present role a group has given. Memberships are
 * locked.
 */
async function applyRoles(
  { unit, orgId, fallback }: Change,
  others: readonly Id<'user'>[],
  wasMapped: readonly Id<'user'>[],
): Promise<ProvisioningChange[]> {
  const { stores } = unit;
  const mappedBefore = new Set(wasMapped);
  const facts = await stores.scimGroups.listRoles(orgId, [...new Set([...others, ...wasMapped])]);
  const changes = facts.flatMap(({ userId, role, mapped }) => {
    const next = roleByGroups({ role, mapped, wasMapped: mappedBefore.has(userId), fallback });
    return next === role ? [] : [{ userId, before: role, after: next }];
  });
  for (const [role, of] of Map.groupBy(changes, ({ after }): Role => after)) {
    await stores.scimGroups.setRole(
      orgId,
      of.map(({ userId }) => userId),
      role,
    );
  }
  const silenced = changes.filter(({ before, after }) => mayAnswer(before) && !mayAnswer(after));
  for (const change of silenced.slice(0, NOTICES_MAX)) await notifyOfLoweredRole(unit, orgId, change);
  return changes.map(({ userId, before, after }) => provisionRole(userId, before, after));
}

function provisionRole(userId: Id<'user'>, before: Role, after: Role): ProvisioningChange {
  return { action: 'provision_role', target: userId, before: { role: before }, after: { role: after } };
}
