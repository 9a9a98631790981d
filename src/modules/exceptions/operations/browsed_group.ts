import { type Static, Type } from 'typebox';

import { GROUP_FIELDS } from '#modules/exceptions/operations/view.ts';
import { nullable } from '#actions/fields.ts';
import { countsOn, type GroupTotals } from '#modules/exceptions/decide/group_counts.ts';
import { type GroupWork, SnoozeView } from '#modules/exceptions/operations/group_work.ts';
import type { ListedGroupRow } from '#modules/exceptions/store/exception_group_store.ts';

/** A row of the console's list. */
export const BrowsedGroupView = Type.Object({
  ...GROUP_FIELDS,
  serviceName: Type.String(),
  assigneeName: nullable(Type.String({ description: 'the person or the team that it is assigned to' })),
  snoozed: nullable(SnoozeView),
  newestRelease: nullable(Type.String({ description: 'the release seen last' })),
  releaseCount: Type.Integer(),
  dailyCounts: Type.Array(Type.Integer(), { description: 'events of each of `days`' }),
});

export function toBrowsedGroupView(
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
