import { Type } from 'typebox';

import { type ActionContext, defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS as IDS } from '#actions/example_ids.ts';
import {
  ExceptionGroupView,
  GroupStatusName,
  scopeOf,
  toExceptionGroupView,
  toGroupFields,
  GROUP_EXAMPLE,
  GROUP_UNTRUSTED_TEXT,
} from '#actions/exceptions/view.ts';
import { CLOSED, IdText } from '#actions/fields.ts';
import { toIncidentActor } from '#core/incidents/incident.ts';
import { endStormMembers, resolve } from '#incidents/resolve.ts';
import type { Id } from '#kernel/ids.ts';

export const setExceptionStatus = defineAction({
  name: 'set_exception_status',
  summary:
    'Set the triage status of an exception group. A resolved group reopens with the next event, unless it is from an ' +
    'older release; an ignored one stays ignored and alerts nobody. Resolving or ignoring it resolves its incidents.',
  guidance: 'resolved when it is fixed, ignored when nobody needs to know.',
  permission: 'exceptions:edit',
  effect: 'write',
  input: Type.Object({ groupId: IdText, status: GroupStatusName }, CLOSED),
  result: ExceptionGroupView,
  untrustedText: GROUP_UNTRUSTED_TEXT,
  example: { groupId: IDS.groupId, status: 'resolved' },
  exampleResult: {
    ...GROUP_EXAMPLE,
    status: 'resolved',
    statusChangedAt: '2027-02-03T09:14:02.730Z',
    resolvedInRelease: '2027.5.1',
    updatedAt: '2027-02-03T09:14:02.730Z',
  },
  async handle({ groupId, status }, context) {
    const { caller, stores, exceptions, now, record } = context;
    const group = await stores.exceptionGroups.get(caller.orgId, groupId, now);
    // Counted before the row is locked, so that a slow event store holds up nobody else.
    const counts = await exceptions.countByGroup([scopeOf(group, now)]);
    const { before, after } = await stores.exceptionGroups.setStatus(caller.orgId, group.id, status, now);
    if (after.status !== 'unresolved' && after.status !== before.status)
      await resolveIncidentsOf(group.id, status, context);
    record({ target: group.id, before: toGroupFields(before), after: toGroupFields(after) });
    return toExceptionGroupView(after, counts.get(group.id));
  },
});

/** People have dealt with the group, so what it woke them for is over. The caller holds the lock on the group. */
async function resolveIncidentsOf(groupId: Id<'group'>, groupStatus: string, context: ActionContext): Promise<void> {
  const { caller, stores, record } = context;
  const by = toIncidentActor(caller.actor, caller.via);
  const resolved = await stores.incidents.lockOpenOf(groupId);
  for (const incident of resolved) await resolve(context, incident, by, { groupStatus });
  const storms = await stores.incidents.lockAll(await stores.storms.listOfGroup(groupId));
  for (const storm of storms.values()) {
    if (await endStormMembers(context, storm, { groupId }, by, { groupStatus })) resolved.push(storm);
  }
  for (const { id, status } of resolved) record({ target: id, before: { status }, after: { status: 'resolved' } });
}
