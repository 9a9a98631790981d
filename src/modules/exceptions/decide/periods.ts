import type { Temporal } from '#kernel/time.ts';

/** Periods over which a group's events are compared, each ending now. */
export interface GroupPeriods {
  readonly weekStart: Temporal.Instant;
  readonly weekBeforeStart: Temporal.Instant;
  /** Seven UTC days, oldest first, today last: `2027-01-31`. */
  readonly days: readonly string[];
}

const DAYS = 7;
const WEEK_HOURS = 7 * 24;

export function periodsAt(now: Temporal.Instant): GroupPeriods {
  const today = now.toZonedDateTimeISO('UTC').startOfDay();
  const days = Array.from({ length: DAYS }, (_, index) => today.subtract({ days: DAYS - 1 - index }));
  return {
    weekStart: now.subtract({ hours: WEEK_HOURS }),
    weekBeforeStart: now.subtract({ hours: 2 * WEEK_HOURS }),
    days: days.map((day) => day.toPlainDate().toString()),
  };
}
