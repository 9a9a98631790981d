import type { Fault } from '#kernel/errors.ts';
import { Temporal } from '#kernel/time.ts';
import { parseInstant, skippedWallOf } from './parse_instant.ts';
import { fault, faultsOf, ok, type Parsed, shown } from '#modules/contacts/decide/parsed.ts';

/**
 * Names that are not in the IANA database: offsets ("+02:00"), which have no daylight saving time, and SystemV names,
 * which belong to ICU.
 */
const NOT_IANA = /^([+-]|systemv\/)/i;

type Instant = Temporal.Instant;

const DEFAULT_TIME_ZONE = 'UTC';

/**
 * Parses the zone and start of a new schedule: an absent zone is UTC, an absent or null `startAt` is now. `startWall`
 * is the local time of a start that the clocks skip.
 */
export function parseScheduleTimes(
  input: { readonly timezone?: string | undefined; readonly startAt?: unknown },
  now: Instant,
): Parsed<{ timezone: string; startAt: Instant; startWall: string | null }> {
  const timezone = parseTimeZone(input.timezone ?? DEFAULT_TIME_ZONE, 'timezone');
  const readIn = timezone.kind === 'ok' ? timezone.value : DEFAULT_TIME_ZONE;
  const startAt =
    input.startAt === undefined || input.startAt === null
      ? ok(toMilliseconds(now))
      : parseInstant(input.startAt, readIn, 'startAt');
  if (timezone.kind === 'ok' && startAt.kind === 'ok') {
    const startWall = skippedWallOf(input.startAt, timezone.value);
    return ok({ timezone: timezone.value, startAt: startAt.value, startWall });
  }
  return { kind: 'faults', faults: [...faultsOf(timezone), ...faultsOf(startAt)] };
}

/** Parses the half-open window of an override in the zone of its schedule; it must not be empty. */
export function parseOverrideWindow(
  input: { readonly startAt: unknown; readonly endAt: unknown },
  timeZone: string,
): Parsed<{ startAt: Instant; endAt: Instant }> {
  const startAt = parseInstant(input.startAt, timeZone, 'startAt');
  const endAt = parseInstant(input.endAt, timeZone, 'endAt');
  if (startAt.kind === 'faults' || endAt.kind === 'faults') {
    return { kind: 'faults', faults: [...faultsOf(startAt), ...faultsOf(endAt)] };
  }
  if (Temporal.Instant.compare(startAt.value, endAt.value) >= 0) {
    return fault('endAt', `must be after startAt, which is ${startAt.value.toString({ timeZone })}`);
  }
  return ok({ startAt: startAt.value, endAt: endAt.value });
}

/** Parses a range of time: not empty, and not longer than so many days. */
export function parseTimeRange(
  input: { readonly from: unknown; readonly to: unknown },
  daysMax: number,
): Parsed<{ from: Instant; to: Instant }> {
  const from = parseInstant(input.from, DEFAULT_TIME_ZONE, 'from');
  const to = parseInstant(input.to, DEFAULT_TIME_ZONE, 'to');
  if (from.kind === 'faults' || to.kind === 'faults') {
    return { kind: 'faults', faults: [...faultsOf(from), ...faultsOf(to)] };
  }
  const hours = from.value.until(to.value).total('hours');
  if (hours > 0 && hours <= daysMax * 24) return ok({ from: from.value, to: to.value });
  return fault('to', `must be after from, and at most ${daysMax} days after it`);
}

/** Returns the faults of times that can be told without knowing the schedule; absent times have none. */
export function timeFaults(times: {
  readonly timezone?: unknown;
  readonly startAt?: unknown;
  readonly endAt?: unknown;
}): readonly Fault[] {
  const { timezone, startAt, endAt } = times;
  return [
    ...(typeof timezone === 'string' ? faultsOf(parseTimeZone(timezone, 'timezone')) : []),
    ...(startAt === undefined ? [] : faultsOf(parseInstant(startAt, DEFAULT_TIME_ZONE, 'startAt'))),
    ...(endAt === undefined ? [] : faultsOf(parseInstant(endAt, DEFAULT_TIME_ZONE, 'endAt'))),
  ];
}

function toMilliseconds(instant: Instant): Instant {
  return instant.round({ smallestUnit: 'millisecond', roundingMode: 'floor' });
}

/**
 * Parses an IANA time-zone name in any case, and returns it in the spelling of the IANA database. Links stay what they
 * are: "asia/kolkata" is "Asia/Kolkata" and never "Asia/Calcutta".
 */
export function parseTimeZone(text: string, path: string): Parsed<string> {
  const name = findIanaName(text);
  if (name !== null) return ok(name);
  return fault(path, `${shown(text)} is not a time zone: give an IANA name, for example "Europe/Amsterdam" or "UTC"`);
}

function findIanaName(text: string): string | null {
  if (NOT_IANA.test(text)) return null;
  try {
    return new Temporal.ZonedDateTime(0n, text).timeZoneId;
  } catch {
    return null;
  }
}
