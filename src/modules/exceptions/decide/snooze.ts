import { SNOOZE_DAYS_MAX } from '#modules/exceptions/decide/group_status.ts';
import type { Fault } from '#kernel/errors.ts';
import { isAtOrBefore, type Temporal } from '#kernel/time.ts';

/** End of a snooze: whichever comes first. At least one of the three is not null. */
export interface Snooze {
  readonly until: Temporal.Instant | null;
  /** Number of further events. */
  readonly events: number | null;
  /** Number of users whom further events concern. */
  readonly users: number | null;
}

export interface SnoozeProgress {
  readonly events: number;
  readonly users: number;
}

export type SnoozeEnd = 'time' | 'events' | 'users';

/** Returns why the group reopens now; null while it stays snoozed. The order of the reasons is that of the fields. */
export function snoozeEndOf(
  { until, events, users }: Snooze,
  progress: SnoozeProgress,
  now: Temporal.Instant,
): SnoozeEnd | null {
  if (until !== null && isAtOrBefore(until, now)) return 'time';
  if (events !== null && progress.events >= events) return 'events';
  if (users !== null && progress.users >= users) return 'users';
  return null;
}

/** Returns what is wrong with a snooze that somebody asks for. */
export function snoozeFaults({ until, events, users }: Snooze, now: Temporal.Instant): Fault[] {
  if (until === null && events === null && users === null) {
    return [{ path: 'until', message: 'say until when: a time, a number of events or a number of users' }];
  }
  if (until === null) return [];
  if (isAtOrBefore(until, now)) return [{ path: 'until', message: 'must be in the future' }];
  return isAtOrBefore(until, now.add({ hours: 24 * SNOOZE_DAYS_MAX }))
    ? []
    : [
        {
          path: 'until',
          message: `must be within ${SNOOZE_DAYS_MAX} days: ignore the exception to silence it for good`,
        },
      ];
}
