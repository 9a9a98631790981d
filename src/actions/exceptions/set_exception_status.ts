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

export const setExceptionStatus = defineAction({
  name: 'set_exception_status',
  summary:
    'Set the triage status of an exception group. A resolved group reopens with the next event, unless it is from an ' +
    'older release; an ignored one stays ignored and alerts nobody.',
  permission: 'exceptions:edit',
  effect: 'write',
  input: Type.Object({ groupId: IdText, status: GroupStatusName }, CLOSED),
  result: ExceptionGroupView,
  async handle({ groupId, status }, { caller, stores, exceptions, now, record }) {
    const group = await stores.exceptionGroups.get(caller.orgId, groupId, now);
    // Counted before the row is locked, so that a slow event store holds up nobody else.
    const counts = await exceptions.countByGroup([scopeOf(group, now)]);
    const { before, after } = await stores.exceptionGroups.setStatus(caller.orgId, group.id, status, now);
    record({ target: group.id, before: toGroupFields(before), after: toGroupFields(after) });
    return toExceptionGroupView(after, counts.get(group.id));
  },
});
