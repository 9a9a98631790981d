import { type Static, Type } from 'typebox';

import type { ActionContext } from '#actions/action_context.ts';
import { nullable, Timestamp } from '#actions/fields.ts';
import type { Id } from '#kernel/ids.ts';
import { assigneeIdOf, findAssignees } from '#modules/exceptions/assignees.ts';
import { EMPTY_TOTALS, type GroupTotals } from '#modules/exceptions/decide/group_counts.ts';
import { scopesOf } from '#modules/exceptions/operations/view.ts';
import type { GroupCountsRow } from '#modules/exceptions/store/exception_count_store.ts';
import type { ExceptionGroupRow, GroupPlace } from '#modules/exceptions/store/exception_group_store.ts';
import { isAtOrBefore, toTimestampOrNull } from '#kernel/time.ts';

/** End of a snooze: whichever comes first. */
export const SnoozeView = Type.Object({
  until: nullable(Timestamp),
  events: nullable(Type.Integer({ description: 'further events' })),
  users: nullable(Type.Integer({ description: 'users whom further events concern' })),
});

/** Assignee of a group, and the end of its snooze; null for nobody, and for a group that is not snoozed. */
export interface GroupWork {
  readonly assigneeName: string | null;
  readonly assigneeColor: number | null;
  readonly snoozed: Static<typeof SnoozeView> | null;
}

type Group = Pick<ExceptionGroupRow, 'id' | 'status' | 'assignedUserId' | 'assignedTeamId'>;

/** Reads who works on groups and which are snoozed. */
export async function readGroupWork(
  { caller, stores }: Pick<ActionContext, 'caller' | 'stores'>,
  groups: readonly Group[],
): Promise<(group: Group) => GroupWork> {
  const assigneeIds = [...new Set(groups.flatMap((group) => assigneeIdOf(group) ?? []))];
  const ignored = groups.filter(({ status }) => status === 'ignored').map(({ id }) => id);
  const [assignees, snoozes] = await Promise.all([
    findAssignees(stores, caller.orgId, assigneeIds),
    stores.groupSnoozes.find(ignored),
  ]);
  return (group) => {
    const snooze = snoozes.get(group.id);
    const assignee = assignees.get(assigneeIdOf(group) ?? '');
    return {
      assigneeName: assignee?.name ?? null,
      assigneeColor: assignee?.color ?? null,
      snoozed:
        snooze === undefined
          ? null
          : { until: toTimestampOrNull(snooze.until), events: snooze.events, users: snooze.users },
    };
  };
}

/** Limit on the events counted while somebody waits: so many take a few milliseconds. */
const COUNTED_AT_ONCE_MAX = 20_000;

/**
 * Reads the counts over the events of these groups. Counts that are known to be outdated are made again if that is
 * fast; those of groups with very many events are a few seconds old while events keep coming.
 */
export async function readGroupTotals(
  { stores, exceptions, now }: ActionContext,
  groups: readonly GroupPlace[],
): Promise<(group: GroupPlace) => GroupTotals> {
  const stored = await stores.exceptionCounts.find(groups.map(({ id }) => id));
  let left = COUNTED_AT_ONCE_MAX;
  const uncounted = groups.filter(({ id }) => {
    const counts = stored.get(id);
    if (counts === undefined) return true;
    if (!isOutdated(counts) || counts.events > left) return false;
    left -= counts.events;
    return true;
  });
  const counted: ReadonlyMap<Id<'group'>, GroupTotals> = uncounted.length === 0
    ? new Map()
    : await exceptions.counter.count(scopesOf(await stores.groupMerges.withMerged(uncounted), now));
  return ({ id }) => counted.get(id) ?? stored.get(id) ?? EMPTY_TOTALS;

  /** Whether events have come since, and the next count is due as soon as the pause ends. */
  function isOutdated({ dueAt, restsUntil }: GroupCountsRow): boolean {
    return dueAt !== null && (restsUntil === null || isAtOrBefore(dueAt, restsUntil) || isAtOrBefore(dueAt, now));
  }
}
