import { type Static, Type } from 'typebox';

import { defineOperation } from '#actions/action_context.ts';
import { EXAMPLE_IDS, IdText, nullable, StrictObject } from '#actions/fields.ts';
import { pageInput, pageOf } from '#actions/list_page.ts';
import { invalidInput } from '#kernel/errors.ts';
import { asId, type Id } from '#kernel/ids.ts';
import { toTimestampOrNull } from '#kernel/time.ts';
import { countsOn, type GroupTotals, lastDays, startOfDays } from '#modules/exceptions/decide/group_counts.ts';
import { GROUP_SORTS, type GroupSort } from '#modules/exceptions/decide/group_status.ts';
import { GROUP_FILTER_FIELDS, groupFilterFaults, toGroupFilter } from '#modules/exceptions/operations/group_filter.ts';
import {
  type GroupWork,
  readGroupTotals,
  readGroupWork,
  SnoozeView,
} from '#modules/exceptions/operations/group_work.ts';
import { GROUP_FIELDS, GroupStatusName } from '#modules/exceptions/operations/view.ts';
import type { SortedPlace } from '#modules/exceptions/store/exception_group_search.ts';
import type { ListedGroupRow } from '#modules/exceptions/store/exception_group_store.ts';
import { DeployDayView } from '#modules/releases/deploys.ts';

/** A row of the console's list. */
export const BrowsedGroupView = Type.Object({
  ...GROUP_FIELDS,
  serviceName: Type.String(),
  assigneeName: nullable(Type.String({ description: 'the person or the team that it is assigned to' })),
  assigneeColor: nullable(Type.Integer({ description: 'number of the colour of the person; null for a team' })),
  snoozed: nullable(SnoozeView),
  newestRelease: nullable(Type.String({ description: 'the release seen last' })),
  releaseCount: Type.Integer(),
  dailyCounts: Type.Array(Type.Integer(), { description: 'events of each of `days`' }),
});

function toBrowsedGroupView(
  { id: groupId, level: severity, ...group }: ListedGroupRow,
  {
    totals,
    serviceName,
    days,
    ...work
  }: GroupWork & { totals: GroupTotals; serviceName: string; days: readonly string[] },
): Static<typeof BrowsedGroupView> {
  return {
    groupId,
    severity,
    ...group,
    eventCount: totals.events,
    userCount: totals.users,
    serviceName,
    ...work,
    newestRelease: totals.releases[0]?.release ?? null,
    releaseCount: totals.releasesTotal,
    dailyCounts: countsOn(totals.days, days),
  };
}

const DAYS = 14;
const LIMIT = 50;
const LIMIT_MAX = 200;

/** Lists groups for the console with paging, so that each can be reached. */
export const browseExceptionGroups = defineOperation({
  name: 'browse_exception_groups',
  summary:
    'Find exception groups page by page, sorted by when they were last or first seen, by their events or by their ' +
    'users, and count those that match by status. Environment and release say which groups are meant; counts are of whole groups.',
  permission: 'exceptions:view',
  effect: 'read',
  input: StrictObject({
    ...GROUP_FILTER_FIELDS,
    status: Type.Optional(GroupStatusName),
    groupIds: Type.Optional(
      Type.Array(IdText, {
        maxItems: LIMIT_MAX,
        description: 'no others are listed; all are counted. One that is not there, or does not match, is left out',
      }),
    ),
    sort: Type.Optional(Type.Enum([...GROUP_SORTS])),
    ...pageInput(LIMIT, LIMIT_MAX),
  }),
  result: Type.Object({
    groups: Type.Array(BrowsedGroupView),
    days: Type.Array(Type.String({ format: 'date' }), { description: '14 UTC days, oldest first, today last' }),
    deploys: Type.Array(Type.Object({ serviceId: IdText, ...DeployDayView.properties }), {
      description: 'days of `days` on which services of these groups were deployed',
    }),
    searchedSince: nullable(
      Type.String({
        format: 'date-time',
        description: 'older events were not looked into; null: all that are kept were',
      }),
    ),
    counts: Type.Object({ unresolved: Type.Integer(), resolved: Type.Integer(), ignored: Type.Integer() }),
    nextCursor: nullable(Type.String()),
  }),
  validate: (input) => groupFilterFaults(input),
  example: {
    serviceId: EXAMPLE_IDS.serviceId,
    status: 'unresolved',
    severity: 'error',
    environment: 'production',
    release: '2027.5.1',
    assignedTo: 'me',
    text: 'declined',
    newInRelease: '2027.5.0',
    query: 'user:42 file:checkout.ts tag.customer:acme',
    // Limits the results to these ids; unknown ones are left out.
    groupIds: ['group_01kdwm3y8pfqa9b6t2x0c4v7zt'],
    sort: 'users',
    cursor: `users.21.${EXAMPLE_IDS.groupId}`,
    limit: 20,
  },
  async handle({ sort = 'last', cursor, limit = LIMIT, ...wanted }, context) {
    const { caller, stores, now } = context;
    const after = cursor === undefined ? null : parseCursor(cursor, sort);
    const { status, groupIds, ...fields } = wanted;
    const { filter: matching, searchedSince } = await toGroupFilter(fields, context);
    const filter = { ...matching, status };
    const named = groupIds?.map((id) => asId('group', id));
    const listed = named === undefined ? filter : { ...filter, groupIds: bothOf(named, filter.groupIds) };
    const [page, counts] = await Promise.all([
      stores.exceptionSearch.list(caller.orgId, listed, { sort, after, limit: limit + 1 }, now),
      stores.exceptionSearch.countByStatus(caller.orgId, filter, now),
    ]);
    const { shown, nextCursor } = pageOf(page, limit, (last) => `${sort}.${last.value}.${last.id}`);
    const days = lastDays(now, DAYS);
    const serviceIds = [...new Set(shown.map(({ serviceId }) => serviceId))];
    const groups = await stores.exceptionGroups.findListed(shown.map(({ id }) => id));
    const [workOf, totalsOf, deploys] = await Promise.all([
      readGroupWork(context, [...groups.values()]),
      readGroupTotals(context, shown),
      stores.releases.listDeployDays(caller.orgId, serviceIds, startOfDays(days)),
    ]);
    return {
      groups: shown.flatMap((place) => {
        const group = groups.get(place.id);
        const { serviceName } = place;
        return group === undefined
          ? []
          : [toBrowsedGroupView(group, { totals: totalsOf(place), serviceName, days, ...workOf(group) })];
      }),
      days,
      deploys,
      counts,
      searchedSince: toTimestampOrNull(searchedSince),
      nextCursor,
    };
  },
});

function bothOf(some: readonly Id<'group'>[], others: readonly Id<'group'>[] | undefined): readonly Id<'group'>[] {
  const wanted = new Set(some);
  return others === undefined ? some : others.filter((id) => wanted.has(id));
}

function parseCursor(cursor: string, sort: GroupSort): SortedPlace {
  const [, name, value, id] = /^([a-z]+)\.(\d{1,16})\.(group_\w{26})$/.exec(cursor) ?? [];
  if (name !== sort || value === undefined || id === undefined) {
    throw invalidInput([{ path: 'cursor', message: 'must be the nextCursor of the page before, of the same sort' }]);
  }
  return { value: Number(value), id };
}
