import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { ChangedGroupView, changeGroupStatuses } from '#modules/exceptions/operations/change_group_statuses.ts';
import { GROUP_FILTER_FIELDS, groupFilterFaults, toGroupFilter } from '#modules/exceptions/operations/group_filter.ts';
import { GroupStatusName } from '#modules/exceptions/operations/view.ts';
import { STRICT, IdText, Timestamp } from '#actions/fields.ts';
import { GROUP_STATUSES } from '#modules/exceptions/decide/group_status.ts';
import { Temporal } from '#kernel/time.ts';

/** Number of groups that one call changes, so that it holds no lock for long. */
const SLICE = 100;

const Matching = Type.Object(
  {
    ...GROUP_FILTER_FIELDS,
    statuses: Type.Array(GroupStatusName, { minItems: 1, maxItems: GROUP_STATUSES.length }),
    createdUntil: Timestamp,
  },
  { ...STRICT, description: 'only groups that already existed and matched at this time; later ones are left alone' },
);

export const setMatchingStatuses = defineAction({
  name: 'set_matching_statuses',
  consoleOnly: true,
  summary: `Set the triage status of all exception groups that match, up to ${SLICE} in a call. Call it again while \`left\` is not 0.`,
  permission: 'exceptions:edit',
  effect: 'write',
  input: Type.Object({ status: GroupStatusName, matching: Matching }, STRICT),
  result: Type.Object({
    changed: Type.Array(ChangedGroupView),
    resolvedIncidentIds: Type.Array(IdText),
    left: Type.Integer({ description: 'how many more match' }),
  }),
  meaning: ({ matching }) => groupFilterFaults(matching, 'matching.'),
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
    const filter = {
      ...matching,
      statuses: changing,
      createdUntil: Temporal.Instant.from(createdUntil),
    };
    const page = { sort: 'last', after: null, limit: SLICE } as const;
    const batch = await stores.exceptionSearch.list(caller.orgId, filter, page, now);
    const done = await changeGroupStatuses(new Map(batch.map(({ id }) => [id, { status }])), context);
    if (batch.length < SLICE) return { ...done, left: 0 };
    // The groups changed above have another status by now and are not counted.
    const counts = await stores.exceptionSearch.countByStatus(caller.orgId, filter, now);
    return { ...done, left: changing.reduce((sum, status) => sum + counts[status], 0) };
  },
});
