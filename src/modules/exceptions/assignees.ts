import type { ActionContext } from '#actions/action_context.ts';
import type { ActivityFacts } from '#modules/exceptions/decide/activity.ts';
import type { Assignment } from '#modules/exceptions/store/group_people_store.ts';
import { notFound } from '#kernel/errors.ts';
import { asId, type Id } from '#kernel/ids.ts';
import { toIncidentActor } from '#modules/incidents/decide/incident.ts';
import type { Stores } from '#modules/stores.ts';

export interface Assignee extends Assignment {
  readonly name: string;
  /** Number of the colour of a person; null for a team. */
  readonly color: number | null;
}

export const NOBODY: Assignment = { assignedUserId: null, assignedTeamId: null };

type Directory = Pick<Stores, 'people' | 'teams'>;

/** Returns the assignees among these ids, by id; what is neither a member nor a team of the organization is absent. */
export async function findAssignees(
  { people, teams }: Directory,
  orgId: Id<'org'>,
  ids: readonly string[],
): Promise<Map<string, Assignee>> {
  if (ids.length === 0) return new Map();
  const [members, teamRows] = await Promise.all([people.listPeople(orgId, ids), teams.findAll(orgId, ids)]);
  const assignees = new Map<string, Assignee>();
  for (const [id, { name, color }] of members)
    assignees.set(id, { name, color, assignedUserId: asId('user', id), assignedTeamId: null });
  for (const { id, name } of teamRows)
    assignees.set(id, { name, color: null, assignedUserId: null, assignedTeamId: id });
  return assignees;
}

/** Throws `not_found` for somebody who is not a member, and for a team that is not there. */
export async function getAssignee(
  directory: Directory,
  orgId: Id<'org'>,
  kind: 'user' | 'team',
  id: string,
): Promise<Assignee> {
  const assignee = (await findAssignees(directory, orgId, [id])).get(id);
  if (assignee === undefined || (assignee.assignedUserId === null) !== (kind === 'team')) {
    throw notFound(`to.${kind}Id`, kind === 'team' ? 'team' : 'member');
  }
  return assignee;
}

/** Returns the id of the person or the team; null for nobody. */
export function assigneeIdOf({ assignedUserId, assignedTeamId }: Assignment): string | null {
  return assignedUserId ?? assignedTeamId;
}

/** Writes what the caller did to a group into its history, in the transaction of the change. */
export async function recordActivity(
  { caller, stores, now }: Pick<ActionContext, 'caller' | 'stores' | 'now'>,
  groupId: Id<'group'>,
  facts: ActivityFacts,
): Promise<void> {
  const actor = toIncidentActor(caller.actor, caller.via);
  await stores.groupActivity.add({ orgId: caller.orgId, groupId, actor, facts }, now);
}
