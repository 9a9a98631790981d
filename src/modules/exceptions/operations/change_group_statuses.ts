import { type Static, Type } from 'typebox';

import type { ActionContext } from '#actions/action_context.ts';
import { changeGroupStatus, type GroupDecision } from '#modules/exceptions/operations/change_group_status.ts';
import { knownReleasesOfGroups } from '#modules/exceptions/operations/known_releases.ts';
import { GroupStatusName } from '#modules/exceptions/operations/view.ts';
import { IdText, Timestamp } from '#actions/fields.ts';
import { toTimestamp } from '#kernel/time.ts';

export const ChangedGroupView = Type.Object({
  groupId: IdText,
  before: GroupStatusName,
  status: GroupStatusName,
  changedAt: Timestamp,
});

/** Changes several groups as `changeGroupStatus` does one, locked in one order. Returns which were changed. */
export async function changeGroupStatuses(
  wanted: ReadonlyMap<string, GroupDecision>,
  context: ActionContext,
): Promise<{ changed: Static<typeof ChangedGroupView>[]; resolvedIncidentIds: string[] }> {
  const { caller, stores } = context;
  const changed: Static<typeof ChangedGroupView>[] = [];
  const resolvedIncidentIds: string[] = [];
  const isResolved = ([, { status, fix }]: [string, GroupDecision]): boolean =>
    status === 'resolved' && fix === undefined;
  const resolved = [...wanted].filter(isResolved).map(([groupId]) => groupId);
  const releases = resolved.length === 0 ? null : await knownReleasesOfGroups(resolved, context);
  await stores.exceptionGroups.lockInOrder(caller.orgId, [...wanted.keys()]);
  for (const [groupId, decision] of wanted) {
    const knownReleases = releases?.get(groupId) ?? [];
    const { before, after, ...result } = await changeGroupStatus(groupId, { ...decision, knownReleases }, context);
    resolvedIncidentIds.push(...result.resolvedIncidentIds);
    if (before === after) continue;
    const changedAt = toTimestamp(after.statusChangedAt);
    changed.push({ groupId, before: before.status, status: after.status, changedAt });
  }
  return { changed, resolvedIncidentIds };
}
