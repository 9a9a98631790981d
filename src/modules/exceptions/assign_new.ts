import { type Assignee, assigneeIdOf, findAssignees } from '#modules/exceptions/assignees.ts';
import { matchingRules } from '#modules/exceptions/decide/assignment.ts';
import type { ServiceRules } from '#modules/exceptions/service_rules.ts';
import type { SeenGroup } from '#modules/exceptions/store/group_occurrences.ts';
import type { ArrivedEvent } from '#ingest/packing/pack_events.ts';
import { recordSystemChange } from '#modules/audit/system_change.ts';
import type { Id } from '#kernel/ids.ts';
import type { UnitOfWork } from '#modules/unit_of_work.ts';

/**
 * Assigns groups that these events began to whom the rules of their services name. The first rule that matches the first
 * event, and whose person or team is still there, decides.
 */
export async function assignNew(
  unit: UnitOfWork,
  rules: ServiceRules,
  events: readonly ArrivedEvent[],
  groups: readonly (SeenGroup | null)[],
): Promise<void> {
  const assigned = new Set<Id<'group'>>();
  for (const [index, group] of groups.entries()) {
    const arrived = events[index];
    if (group === null || arrived === undefined || group.outcome !== 'new' || group.isOverflow) continue;
    const assignmentRules = rules.get(group.serviceId)?.assignmentRules ?? [];
    if (assignmentRules.length === 0 || assigned.has(group.groupId)) continue;
    assigned.add(group.groupId);
    const matches = matchingRules(assignmentRules, arrived.event);
    const ids = matches.map(({ assigneeId }) => assigneeId);
    const assignees = await findAssignees(unit.stores, arrived.orgId, ids);
    const first = matches.find(({ assigneeId }) => assignees.has(assigneeId));
    const assignee = first === undefined ? undefined : assignees.get(first.assigneeId);
    if (first === undefined || assignee === undefined) continue;
    await assign(unit, { orgId: arrived.orgId, groupId: group.groupId }, assignee, first.position);
  }
}

async function assign(
  unit: UnitOfWork,
  { orgId, groupId }: { readonly orgId: Id<'org'>; readonly groupId: Id<'group'> },
  assignee: Assignee,
  rule: number,
): Promise<void> {
  const { stores, now } = unit;
  const { name, ...assignment } = assignee;
  await stores.groupAssignments.assign([groupId], assignment, now);
  const facts = { kind: 'assigned', assigneeId: assigneeIdOf(assignee), name, rule } as const;
  await stores.groupActivity.add({ orgId, groupId, actor: { system: true, via: 'rule' }, facts }, now);
  await recordSystemChange(unit, {
    orgId,
    action: 'assign_exceptions',
    via: 'rule',
    target: groupId,
    before: { assignedUserId: null, assignedTeamId: null },
    after: { ...assignment, rule },
  });
}
