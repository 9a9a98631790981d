/** Arithmetic on given times, in milliseconds of UTC or of a wall clock as if it were UTC's. Nothing here reads a clock. */

interface UtcFields {
  readonly year: number;
  /** Counted from 1. */
  readonly month: number;
  readonly day: number;
}

/** Returns the milliseconds of a date and time. Fields outside their range carry over, as in month 14 or day 0. */
export function utcMs(year: number, month: number, day: number, hour = 0, minute = 0, second = 0): number {
  return Date.UTC(year, month - 1, day, hour, minute, second);
}

export function utcFieldsOf(ms: number): UtcFields {
  const date = new Date(ms);
  return { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate() };
}

/** Returns the number of days of a month, which is counted from 1 and may carry over to other years. */
export function daysOfMonth(year: number, month: number): number {
  return utcFieldsOf(utcMs(year, month + 1, 0)).day;
}

/** Returns how many months the month of the second time is after that of the first, whatever their days. */
export function monthsBetween(from: number, to: number): number {
  const [first, last] = [utcFieldsOf(from), utcFieldsOf(to)];
  return (last.year - first.year) * 12 + last.month - first.month;
}

/** Formats a time as RFC 3339 in UTC with milliseconds. */
export function isoOf(ms: number): string {
  return new Date(ms).toISOString();
}

export function isoDateOf(ms: number): string {
  return isoOf(ms).slice(0, 10);
}

/** Reads a date, which begins at midnight of UTC, or a time with an offset; null if the calendar has none such. */
export function parseIsoMs(text: string): number | null {
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? null : ms;
}
