import { notifyOfLoweredRole } from '#modules/organizations/roles.ts';
import { type ProvisionedRole, roleByGroups } from '#modules/provisioning/decide/provisioned_role.ts';
import type { ProvisioningChange } from '#modules/provisioning/provisioning_unit.ts';
import type { ScimGroupRow } from '#modules/provisioning/store/scim_group_store.ts';
import type { UnitOfWork } from '#modules/stores.ts';
import type { Id } from '#kernel/ids.ts';
import { mayAnswer, type Role } from '#kernel/permissions.ts';

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

export interface GroupEffects {
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
export async function applyGroupMoves(
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
  return { joinedTeam, leftTeam, roles };
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
  if (before.role === after.role) return { joinedTeam, leftTeam, roles: [] };
  const wasMapped = before.role === null ? [] : members;
  const fallback = await stores.provisioning.lockProvisionedRole(orgId);
  return { joinedTeam, leftTeam, roles: await applyRoles({ unit, orgId, fallback }, members, wasMapped) };
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
  return changes.map(({ userId, before, after }) => ({
    action: 'provision_role',
    target: userId,
    before: { role: before },
    after: { role: after },
  }));
}
