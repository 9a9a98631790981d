import type { Id } from '#kernel/ids.ts';
import { isAtOrBefore, type Temporal } from '#kernel/time.ts';

import type { Shift } from './shift.ts';

/** Time that somebody hands over in a swap, `[startAt, endAt)`. */
export interface HandedOverTime {
  readonly userId: Id<'user'>;
  readonly startAt: Temporal.Instant;
  readonly endAt: Temporal.Instant;
}

/** Whether they are on call during all of this time, by shifts that are oldest first. */
export function isOnCallThroughout(shifts: readonly Shift[], { userId, startAt, endAt }: HandedOverTime): boolean {
  let at = startAt;
  for (const { userId: onCall, since, until } of shifts) {
    if (isAtOrBefore(endAt, at)) break;
    if (until !== null && isAtOrBefore(until, at)) continue;
    if (onCall !== userId || !isAtOrBefore(since, at)) return false;
    if (until === null) return true;
    at = until;
  }
  return isAtOrBefore(endAt, at);
}
