import type { Id } from '#kernel/ids.ts';
import { FAR_FUTURE, isAtOrBefore, Temporal } from '#kernel/time.ts';

type Instant = Temporal.Instant;

/** A time of the week by the wall clock. It goes over midnight when it does not end after it starts. */
export interface HoursWindow {
  /** Days on which it starts, 1 for Monday to 7 for Sunday. */
  readonly days: readonly number[];
  /** `HH:MM`, from `00:00` to `23:59`. */
  readonly from: string;
  /** `HH:MM`, up to `24:00`; not included. */
  readonly to: string;
}

/** Hours of the week in a zone. A minute belongs to them by its local time, also one that the clocks repeat. */
export interface WeeklyHours {
  readonly timezone: string;
  readonly windows: readonly HoursWindow[];
}

export interface PolicyHours extends WeeklyHours {
  /** Outside them, steps wait until they begin, or another policy runs. */
  readonly outside: 'hold' | { readonly policyId: Id<'policy'> };
  /** Lowest severity of incidents that page at any time; null for none. */
  readonly exemptFrom: string | null;
}

/** Steps that would wait longer than this, in days, never come due. */
const WAIT_DAYS_MAX = 400;
const DAY_MINUTES = 1_440;

interface ReadWindow {
  readonly days: ReadonlySet<number>;
  readonly from: number;
  readonly to: number;
}

export function isWithin(hours: WeeklyHours, at: Instant): boolean {
  return contains(readWindows(hours), at.toZonedDateTimeISO(hours.timezone));
}

/** Returns the first instant from `from` on that lies within the hours; FAR_FUTURE if none does within 400 days. */
export function nextWithin(hours: WeeklyHours, from: Instant): Instant {
  return dueWithin(hours, from, 0);
}

/**
 * Returns when so many minutes within the hours have passed since `from`: the clock stands still outside them. An
 * instant at the very end of the hours belongs to their next beginning. FAR_FUTURE if that takes more than 400 days.
 */
export function dueWithin(hours: WeeklyHours, from: Instant, minutes: number): Instant {
  if (isAtOrBefore(FAR_FUTURE, from) || minutes > WAIT_DAYS_MAX * DAY_MINUTES) return FAR_FUTURE;
  let leftMs = minutes * 60_000;
  for (const { since, until } of openTimes(hours, from)) {
    const lengthMs = until.epochMilliseconds - since.epochMilliseconds;
    if (leftMs < lengthMs) return since.add({ milliseconds: leftMs });
    leftMs -= lengthMs;
  }
  return FAR_FUTURE;
}

/** Yields the times within the hours from `from` on, oldest first; those that touch may come as two. */
function* openTimes(hours: WeeklyHours, from: Instant): Generator<{ since: Instant; until: Instant }, void, void> {
  const windows = readWindows(hours);
  const { timezone } = hours;
  let date = from.toZonedDateTimeISO(timezone).toPlainDate();
  let since = from;
  for (let day = 0; day <= WAIT_DAYS_MAX; day += 1, date = date.add({ days: 1 })) {
    for (const until of changesOn(date, timezone, windows)) {
      if (isAtOrBefore(until, since)) continue;
      if (contains(windows, since.toZonedDateTimeISO(timezone))) yield { since, until };
      since = until;
    }
  }
}

/** Returns the instants of a day at which its hours may begin or end, and that of the next day's start, in order. */
function changesOn(date: Temporal.PlainDate, timezone: string, windows: readonly ReadWindow[]): Instant[] {
  const midnight = date.toZonedDateTime(timezone);
  const next = date.add({ days: 1 }).toZonedDateTime(timezone);
  const minutes = new Set(windows.flatMap(({ from, to }) => [from, to % DAY_MINUTES]));
  const changes = [...minutes].flatMap((minute) => {
    const local = date.toPlainDateTime({ hour: Math.floor(minute / 60), minute: minute % 60 });
    const [first, second] = (['earlier', 'later'] as const).map((disambiguation) =>
      local.toZonedDateTime(timezone, { disambiguation }).toInstant(),
    );
    return [first, second].filter((at) => at !== undefined);
  });
  const transition = midnight.getTimeZoneTransition('next');
  if (transition !== null && Temporal.ZonedDateTime.compare(transition, next) < 0) changes.push(transition.toInstant());
  return [...changes, next.toInstant()]
    .filter((at) => isAtOrBefore(at, next.toInstant()))
    .toSorted((a, b) => a.epochMilliseconds - b.epochMilliseconds);
}

function contains(windows: readonly ReadWindow[], { dayOfWeek, hour, minute }: Temporal.ZonedDateTime): boolean {
  const time = hour * 60 + minute;
  const dayBefore = dayOfWeek === 1 ? 7 : dayOfWeek - 1;
  return windows.some(({ days, from, to }) => {
    if (from < to) return days.has(dayOfWeek) && from <= time && time < to;
    return (days.has(dayOfWeek) && from <= time) || (days.has(dayBefore) && time < to);
  });
}

function readWindows({ windows }: WeeklyHours): ReadWindow[] {
  return windows.map(({ days, from, to }) => ({ days: new Set(days), from: minutesOf(from), to: minutesOf(to) }));
}

function minutesOf(time: string): number {
  const [hours = 0, minutes = 0] = time.split(':').map(Number);
  return hours * 60 + minutes;
}
