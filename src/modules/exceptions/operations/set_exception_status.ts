import { defineAction } from '#actions/action_context.ts';
import { changeGroupStatus, listKnownReleases } from '#modules/exceptions/operations/change_group_status.ts';
import {
  ExceptionGroupView,
  GroupStatusName,
  scopeOf,
  toExceptionGroupView,
  GROUP_EXAMPLE,
  GROUP_UNTRUSTED_TEXT,
} from '#modules/exceptions/operations/view.ts';
import { EXAMPLE_IDS as IDS, IdText, StrictObject } from '#actions/fields.ts';

export const setExceptionStatus = defineAction({
  name: 'set_exception_status',
  summary:
    'Set the triage status of an exception group. A resolved group reopens with the next event, unless it is from an ' +
    'older release; an ignored one stays ignored and alerts nobody. Resolving or ignoring it resolves its incidents.',
  guidance: 'resolved when it is fixed, ignored when nobody needs to know.',
  permission: 'exceptions:edit',
  effect: 'write',
  input: StrictObject({ groupId: IdText, status: GroupStatusName }),
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
    const { caller, stores, exceptions, now } = context;
    const group = await stores.exceptionGroups.get(caller.orgId, groupId, now);
    // Counted before the row is locked, so that a slow event store holds up nobody else.
    const [counts, knownReleases] = await Promise.all([
      exceptions.countByGroup([scopeOf(group, now)]),
      status === 'resolved' ? listKnownReleases(group.serviceId, context) : [],
    ]);
    const { after } = await changeGroupStatus(group.id, { status, knownReleases }, context);
    return toExceptionGroupView(after, counts.get(group.id));
  },
});
