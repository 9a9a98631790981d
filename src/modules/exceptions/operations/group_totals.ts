import type { ActionContext } from '#actions/action_context.ts';
import { scopesOf } from '#modules/exceptions/operations/view.ts';
import { EMPTY_TOTALS, type GroupTotals } from '#modules/exceptions/decide/group_counts.ts';
import type { Id } from '#kernel/ids.ts';
import { isAtOrBefore } from '#kernel/time.ts';
import type { GroupCountsRow } from '#modules/exceptions/store/exception_count_store.ts';
import type { GroupPlace } from '#modules/exceptions/store/exception_group_store.ts';

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
