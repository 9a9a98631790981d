import { type Static, Type } from 'typebox';

import { GROUP_FIELDS } from '#actions/exceptions/view.ts';
import { nullable } from '#actions/fields.ts';
import { countsOn, type GroupTally } from '#core/exceptions/group_counts.ts';
import type { ListedGroupRow } from '#storage/postgres/exception_group_store.ts';

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
  { tally, serviceName, days }: { tally: GroupTally; serviceName: string; days: readonly string[] },
): Static<typeof BrowsedGroupView> {
  return {
    groupId,
    severity,
    ...group,
    eventCount: tally.events,
    userCount: tally.users,
    serviceName,
    newestRelease: tally.releases[0]?.release ?? null,
    releaseCount: tally.releasesTotal,
    dailyCounts: countsOn(tally.days, days),
  };
}
