import { FAR_FUTURE, Temporal } from '#kernel/time.ts';

import { fault, ok, type Parsed, shown } from '#modules/contacts/decide/parsed.ts';

type Instant = Temporal.Instant;

const FIRST = Temporal.Instant.fromEpochMilliseconds(0);

const RFC_3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/i;
const LOCAL = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?$/i;

const ALLOWED =
  'give an RFC 3339 time ("2026-03-01T09:00:00+01:00"), ' +
  'a local date and time in the time zone of the schedule ("2026-03-01T09:00"), ' +
  'or whole milliseconds since 1970 (1772352000000)';

/**
 * Reads an untyped time: RFC 3339, a local date-time without offset in the given zone, or epoch milliseconds, from 1970
 * to the end of 2199. A local time that the zone skips moves forward, one that it has twice is the first. The result
 * has milliseconds, the precision in which times leave the product.
 */
export function parseInstant(value: unknown, timeZone: string, path: string): Parsed<Instant> {
  const instant = findInstant(value, timeZone);
  if (instant === 'unreadable') return fault(path, `${shown(value)} is not a valid time: ${ALLOWED}`);
  if (instant === 'out_of_range') return fault(path, `${shown(value)} is not in the years 1970 to 2199`);
  return ok(instant);
}

/** Whether this is a local date and time, without an offset. */
export function isLocalTime(value: unknown): value is string {
  return typeof value === 'string' && LOCAL.test(value);
}

/** Returns the local date and time that `value` names, if the zone skips it; else null. */
export function skippedWallOf(value: unknown, timeZone: string): string | null {
  if (!isLocalTime(value)) return null;
  const wall = Temporal.PlainDateTime.from(value.replace(/(\.\d{3})\d+/, '$1'));
  return wall.toZonedDateTime(timeZone).toPlainDateTime().equals(wall) ? null : wall.toString();
}

function findInstant(value: unknown, timeZone: string): Instant | 'unreadable' | 'out_of_range' {
  if (typeof value === 'number') return findEpochInstant(value);
  if (typeof value !== 'string') return 'unreadable';
  const text = value.replace(/(\.\d{3})\d+/, '$1');
  try {
    if (RFC_3339.test(text)) return inRange(Temporal.Instant.from(text));
    if (isLocalTime(text)) return inRange(Temporal.PlainDateTime.from(text).toZonedDateTime(timeZone).toInstant());
    return 'unreadable';
  } catch {
    return 'unreadable';
  }
}

function findEpochInstant(milliseconds: number): Instant | 'unreadable' | 'out_of_range' {
  if (!Number.isInteger(milliseconds)) return 'unreadable';
  if (milliseconds < 0 || milliseconds >= FAR_FUTURE.epochMilliseconds) return 'out_of_range';
  return Temporal.Instant.fromEpochMilliseconds(milliseconds);
}

function inRange(instant: Instant): Instant | 'out_of_range' {
  const isAfterFirst = Temporal.Instant.compare(FIRST, instant) <= 0;
  return isAfterFirst && Temporal.Instant.compare(instant, FAR_FUTURE) < 0 ? instant : 'out_of_range';
}
