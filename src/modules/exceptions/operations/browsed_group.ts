import { type Static, Type } from 'typebox';

import { GROUP_FIELDS } from '#modules/exceptions/operations/view.ts';
import { nullable } from '#actions/fields.ts';
import { countsOn, type GroupTotals } from '#modules/exceptions/decide/group_counts.ts';
import type { ListedGroupRow } from '#modules/exceptions/store/exception_group_store.ts';

/** A row of the console's list. */
export const BrowsedGroupView = Type.Object({
  ...GROUP_FIELDS,
  serviceName: Type.String(),
  newestRelease: nullable(Type.String({ description: 'the release seen last' })),
  releaseCount: Type.Integer(),
  dailyCounts: Type.Array(Type.Integer(), { description: 'events of each of `days`' }),
});

export function toBrowsedGroupView(
  { id: groupId, level: severity, ...group }: ListedGroupRow,
  { totals, serviceName, days }: { totals: GroupTotals; serviceName: string; days: readonly string[] },
): Static<typeof BrowsedGroupView> {
  return {
    groupId,
    severity,
    ...group,
    eventCount: totals.events,
    userCount: totals.users,
    serviceName,
    newestRelease: totals.releases[0]?.release ?? null,
    releaseCount: totals.releasesTotal,
    dailyCounts: countsOn(totals.days, days),
  };
}
