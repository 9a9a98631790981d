import type { Id } from '#kernel/ids.ts';
import { isAtOrBefore, type Temporal } from '#kernel/time.ts';

import { finalShifts } from './final_shifts.ts';
import type { Override } from './overrides.ts';
import type { IsPresent, Rotation } from './rotation.ts';
import type { Shift } from './shift.ts';

type Instant = Temporal.Instant;
type UserId = Id<'user'>;

/** The answer for one schedule at one instant. */
export interface OnCall {
  /** The current shift; null when nobody is on call. */
  readonly shift: Shift | null;
  /**
   * The next person on call and their start: somebody else, or the same person after a gap. It may come later than the
   * end of the shift, when the same person goes on for another cause or nobody follows at once. Null when nobody ever
   * does.
   */
  readonly next: { readonly userId: UserId; readonly at: Instant } | null;
}

export function onCallOfSchedule(
  rotation: Rotation,
  overrides: readonly Override[],
  now: Instant,
  isPresent: IsPresent,
): OnCall {
  let shift: Shift | null = null;
  let last: Shift | null = null;
  for (const upcoming of finalShifts(rotation, overrides, now, isPresent)) {
    if (last === null && isAtOrBefore(upcoming.since, now)) shift = upcoming;
    else if (last === null || !goesOn(last, upcoming))
      return { shift, next: { userId: upcoming.userId, at: upcoming.since } };
    last = upcoming;
  }
  return { shift, next: null };
}

/** Returns the people on call over all schedules of a team, each once, in the order of the schedules. */
export function peopleOnCall(schedules: readonly OnCall[]): UserId[] {
  return [...new Set(schedules.flatMap(({ shift }) => (shift ? [shift.userId] : [])))];
}

function goesOn(shift: Shift, following: Shift): boolean {
  return shift.userId === following.userId && shift.until !== null && shift.until.equals(following.since);
}
