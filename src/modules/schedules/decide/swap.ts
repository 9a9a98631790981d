import type { Id } from '#kernel/ids.ts';
import { isAtOrBefore, type Temporal } from '#kernel/time.ts';
import type { Shift } from '#modules/schedules/decide/layered_shifts.ts';

/** Time that somebody hands over in a swap, `[startAt, endAt)`. */
export interface HandedOverTime {
  readonly userId: Id<'user'>;
  readonly startAt: Temporal.Instant;
  readonly endAt: Temporal.Instant;
}

/**
 * Whether they are on call during all of this time, by shifts that are oldest first: alone, or at some time with others,
 * whom an override would take off call too.
 */
export function onCallThroughout(
  shifts: readonly Shift[],
  { userId, startAt, endAt }: HandedOverTime,
): 'alone' | 'with_others' | 'no' {
  let at = startAt;
  let answer: 'alone' | 'with_others' = 'alone';
  for (const { userIds, since, until } of shifts) {
    if (isAtOrBefore(endAt, at)) break;
    if (until !== null && isAtOrBefore(until, at)) continue;
    if (!userIds.includes(userId) || !isAtOrBefore(since, at)) return 'no';
    if (userIds.length > 1) answer = 'with_others';
    if (until === null) return answer;
    at = until;
  }
  return isAtOrBefore(endAt, at) ? answer : 'no';
}
