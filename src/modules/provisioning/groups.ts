import { applyGroupMoves, type GroupEffects } from '#modules/provisioning/group_effects.ts';
import type { GroupBody, GroupPatch } from '#modules/provisioning/decide/scim_group.ts';
import { ScimError } from '#modules/provisioning/decide/scim_error.ts';
import type { ProvisioningUnit } from '#modules/provisioning/provisioning_unit.ts';
import type { ScimGroupRow } from '#modules/provisioning/store/scim_group_store.ts';
import { type Id, newId } from '#kernel/ids.ts';

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
