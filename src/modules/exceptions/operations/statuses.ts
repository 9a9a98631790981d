import { Type } from 'typebox';

import { type ActionContext, defineOperation } from '#actions/action_context.ts';
import { EXAMPLE_IDS, IdText, ReleaseName, StrictObject, Timestamp } from '#actions/fields.ts';
import { AppError, invalidInput } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import { Temporal } from '#kernel/time.ts';
import { type Fix, newestRelease, releasesToRemember } from '#modules/exceptions/decide/fix.ts';
import { GROUP_STATUSES, SNOOZE_COUNT_MAX } from '#modules/exceptions/decide/group_status.ts';
import { snoozeFaults } from '#modules/exceptions/decide/snooze.ts';
import {
  ChangedGroupView,
  changeGroupStatuses,
  listKnownReleases,
} from '#modules/exceptions/operations/change_group_status.ts';
import { GROUP_FILTER_FIELDS, groupFilterFaults, toGroupFilter } from '#modules/exceptions/operations/group_filter.ts';
import { GroupStatusName, toGroupFields } from '#modules/exceptions/operations/view.ts';
import { recordActivity } from '#modules/exceptions/assignees.ts';

const GROUPS_MAX = 200;

/** Sets the statuses of a selection of groups; called with the earlier statuses, it undoes that. */
export const setExceptionStatuses = defineOperation({
  name: 'set_exception_statuses',
  summary:
    'Set the triage statuses of several exception groups, all or none, as set_exception_status does for one; the result ' +
    'says what each was before, and which incidents were resolved with them.',
  permission: 'exceptions:edit',
  effect: 'write',
  input: StrictObject({
    changes: Type.Array(StrictObject({ groupId: IdText, status: GroupStatusName }), {
      minItems: 1,
      maxItems: GROUPS_MAX,
    }),
  }),
  result: Type.Object({
    changed: Type.Array(ChangedGroupView, { description: 'without those that had the status already' }),
    resolvedIncidentIds: Type.Array(IdText),
  }),
  example: { changes: [{ groupId: EXAMPLE_IDS.groupId, status: 'resolved' }] },
  async handle({ changes }, context) {
    return await changeGroupStatuses(new Map(changes.map(({ groupId, status }) => [groupId, { status }])), context);
  },
});

/** Number of groups that one call changes, so that it holds no lock for long. */
const SLICE = 100;

const Matching = StrictObject(
  {
    ...GROUP_FILTER_FIELDS,
    statuses: Type.Array(GroupStatusName, { minItems: 1, maxItems: GROUP_STATUSES.length }),
    createdUntil: Timestamp,
  },
  { description: 'only groups that already existed and matched at this time; later ones are left alone' },
);

export const setMatchingStatuses = defineOperation({
  name: 'set_matching_statuses',
  summary: `Set the triage status of all exception groups that match, up to ${SLICE} in a call. Call it again while \`left\` is not 0.`,
  permission: 'exceptions:edit',
  effect: 'write',
  input: StrictObject({ status: GroupStatusName, matching: Matching }),
  result: Type.Object({
    changed: Type.Array(ChangedGroupView),
    resolvedIncidentIds: Type.Array(IdText),
    left: Type.Integer({ description: 'how many more match' }),
  }),
  validate: ({ matching }) => groupFilterFaults(matching, 'matching.'),
  example: {
    status: 'resolved',
    matching: {
      statuses: ['unresolved'],
      serviceId: EXAMPLE_IDS.serviceId,
      severity: 'error',
      environment: 'production',
      release: '2027.5.1',
      assignedTo: 'nobody',
      text: 'declined',
      newInRelease: '2027.5.0',
      query: 'user:42 file:checkout.ts',
      createdUntil: '2027-02-03T02:04:15.000Z',
    },
  },
  async handle({ status, matching: { statuses, createdUntil, ...fields } }, context) {
    const { caller, stores, now } = context;
    const changing = statuses.filter((candidate) => candidate !== status);
    if (changing.length === 0) return { changed: [], resolvedIncidentIds: [], left: 0 };
    const { filter: matching } = await toGroupFilter(fields, context);
    const filter = { ...matching, statuses: changing, createdUntil: Temporal.Instant.from(createdUntil) };
    const page = { sort: 'last', after: null, limit: SLICE } as const;
    const batch = await stores.exceptionSearch.list(caller.orgId, filter, page, now);
    const done = await changeGroupStatuses(new Map(batch.map(({ id }) => [id, { status }])), context);
    if (batch.length < SLICE) return { ...done, left: 0 };
    // The groups changed above have another status by now and are not counted.
    const counts = await stores.exceptionSearch.countByStatus(caller.orgId, filter, now);
    return { ...done, left: changing.reduce((sum, status) => sum + counts[status], 0) };
  },
});

export const undoExceptionStatuses = defineOperation({
  name: 'undo_exception_statuses',
  summary:
    'Undo the last decision about exception groups: each gets back its previous status, with its time, its release and whether it had come back. A group that was changed since is left alone.',
  permission: 'exceptions:edit',
  effect: 'write',
  input: StrictObject({
    changes: Type.Array(StrictObject({ groupId: IdText, changedAt: Timestamp }), {
      minItems: 1,
      maxItems: GROUPS_MAX,
      description: 'as set_exception_statuses answered them',
    }),
  }),
  result: Type.Object({
    undone: Type.Array(Type.Object({ groupId: IdText, status: GroupStatusName })),
    unchanged: Type.Integer({ description: 'somebody or an event has changed them since' }),
  }),
  example: { changes: [{ groupId: EXAMPLE_IDS.groupId, changedAt: '2027-02-03T02:04:15.000Z' }] },
  async handle({ changes }, context) {
    const { caller, stores, now, record } = context;
    const wanted = new Map(changes.map(({ groupId, changedAt }) => [groupId, Temporal.Instant.from(changedAt)]));
    await stores.exceptionGroups.lockInOrder(caller.orgId, [...wanted.keys()]);
    const undone = [];
    for (const [groupId, changedAt] of wanted) {
      const result = await stores.exceptionGroups.undoStatus(caller.orgId, groupId, changedAt, now);
      if (result === null) continue;
      const { before, after } = result;
      record({ target: after.id, before: toGroupFields(before), after: toGroupFields(after) });
      await recordActivity(context, after.id, { kind: 'status', before: before.status, after: after.status });
      undone.push({ groupId, status: after.status });
    }
    return { undone, unchanged: wanted.size - undone.length };
  },
});

const SERVICES_MAX = 20;

/** Resolves groups whose fix is written and not yet deployed. */
export const resolveInRelease = defineOperation({
  name: 'resolve_in_release',
  summary:
    'Resolve exception groups, all or none, as fixed in a release that is named, or in the next one: events of code ' +
    'without the fix do not reopen them, later ones do. undo_exception_statuses undoes it.',
  permission: 'exceptions:edit',
  effect: 'write',
  input: StrictObject({
    groupIds: Type.Array(IdText, { minItems: 1, maxItems: GROUPS_MAX, uniqueItems: true }),
    // The first release with the fix, known already or not; when left out, the next release.
    release: Type.Optional(ReleaseName),
  }),
  result: Type.Object({ changed: Type.Array(ChangedGroupView), resolvedIncidentIds: Type.Array(IdText) }),
  example: { groupIds: [EXAMPLE_IDS.groupId], release: '2027.5.2' },
  async handle({ groupIds, release }, context) {
    const { caller, stores, now } = context;
    const groups = [];
    for (const groupId of groupIds) groups.push(await stores.exceptionGroups.get(caller.orgId, groupId, now));
    const serviceIds = [...new Set(groups.map(({ serviceId }) => serviceId))];
    if (serviceIds.length > SERVICES_MAX) {
      throw invalidInput([{ path: 'groupIds', message: `name exceptions of at most ${SERVICES_MAX} services` }]);
    }
    const fixes = new Map<Id<'service'>, Fix>();
    for (const serviceId of serviceIds) fixes.set(serviceId, await fixOf(serviceId, release, context));
    const wanted = groups.flatMap(({ id, serviceId }) => {
      const fix = fixes.get(serviceId);
      return fix === undefined ? [] : [[id, { status: 'resolved', fix }] as const];
    });
    return await changeGroupStatuses(new Map(wanted), context);
  },
});

async function fixOf(serviceId: Id<'service'>, release: string | undefined, context: ActionContext): Promise<Fix> {
  const { caller, stores } = context;
  const service = await stores.services.get(caller.orgId, serviceId);
  const releases = await listKnownReleases(serviceId, context);
  const knownReleases = releasesToRemember(releases);
  if (release !== undefined) return { kind: 'release', release, knownReleases };
  const newest = newestRelease(releases);
  if (newest === null) {
    throw new AppError(
      'conflict',
      `no release of ${service.name} is known, so there is no next one: resolve it without a release`,
    );
  }
  return { kind: 'next_release', release: newest, knownReleases };
}

const Count = Type.Integer({ minimum: 1, maximum: SNOOZE_COUNT_MAX });

export const snoozeExceptions = defineOperation({
  name: 'snooze_exceptions',
  summary:
    'Ignore exception groups, all or none, until a time, until they have had that many more events, or until more events ' +
    'have concerned that many users, whichever comes first. Then they are unresolved again, and whoever snoozed them is ' +
    'told by mail. undo_exception_statuses undoes it.',
  permission: 'exceptions:edit',
  effect: 'write',
  input: StrictObject({
    groupIds: Type.Array(IdText, { minItems: 1, maxItems: GROUPS_MAX, uniqueItems: true }),
    until: Type.Optional(Timestamp),
    events: Type.Optional(Count),
    users: Type.Optional(Count),
  }),
  result: Type.Object({ changed: Type.Array(ChangedGroupView), resolvedIncidentIds: Type.Array(IdText) }),
  example: { groupIds: [EXAMPLE_IDS.groupId], until: '2027-02-10T08:00:00.000Z', events: 100, users: 10 },
  async handle({ groupIds, until, events = null, users = null }, context) {
    const snooze = { until: until === undefined ? null : Temporal.Instant.from(until), events, users };
    const faults = snoozeFaults(snooze, context.now);
    if (faults.length > 0) throw invalidInput(faults);
    return await changeGroupStatuses(
      new Map(groupIds.map((groupId) => [groupId, { status: 'ignored', snooze }])),
      context,
    );
  },
});
