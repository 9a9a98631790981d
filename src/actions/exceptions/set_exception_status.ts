import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import {
  ExceptionGroupView,
  GroupStatusName,
  scopeOf,
  toExceptionGroupView,
  toGroupFields,
} from '#actions/exceptions/view.ts';
import { CLOSED, IdText } from '#actions/fields.ts';
import { endMember, resolve } from '#actions/incidents/settle.ts';
import type { UnitOfWork } from '#actions/unit_of_work.ts';
import type { Id } from '#kernel/ids.ts';

export const setExceptionStatus = defineAction({
  name: 'set_exception_status',
  summary:
    'Set the triage status of an exception group. A resolved group reopens with the next event, unless it is from an ' +
    'older release; an ignored one stays ignored and alerts nobody. Resolving or ignoring it resolves its incidents.',
  permission: 'exceptions:edit',
  effect: 'write',
  input: Type.Object({ groupId: IdText, status: GroupStatusName }, CLOSED),
  result: ExceptionGroupView,
  async handle({ groupId, status }, context) {
    const { caller, stores, exceptions, now, record } = context;
    const group = await stores.exceptionGroups.get(caller.orgId, groupId, now);
    // Counted before the row is locked, so that a slow event store holds up nobody else.
    const counts = await exceptions.countByGroup([scopeOf(group, now)]);
    const { before, after } = await stores.exceptionGroups.setStatus(caller.orgId, group.id, status, now);
    if (after.status !== 'unresolved' && after.status !== before.status) await resolveIncidentsOf(group.id, context);
    record({ target: group.id, before: toGroupFields(before), after: toGroupFields(after) });
    return toExceptionGroupView(after, counts.get(group.id));
  },
});

/** People have dealt with the group, so what it woke them for is over. The caller holds the lock on the group. */
async function resolveIncidentsOf(groupId: Id<'group'>, unit: UnitOfWork): Promise<void> {
  for (const incident of await unit.stores.incidents.lockOpenOf(groupId)) {
    await resolve(unit, incident, { system: true, via: 'rule' });
  }
  const storms = await unit.stores.incidents.lockAll(await unit.stores.storms.listOfGroup(groupId));
  for (const storm of storms.values()) await endMember(unit, storm, { groupId });
}
