import { Temporal } from '#kernel/time.ts';
import type { WeeklyHours } from '#modules/policies/decide/hours.ts';

/** Zones with changes of clocks at midnight, by half an hour, by skipping a day, to the west and to the east. */
export const ODD_ZONES = [
  'UTC',
  'Europe/Amsterdam',
  'America/New_York',
  'America/Havana',
  'America/Sao_Paulo',
  'Australia/Lord_Howe',
  'Asia/Kathmandu',
  'Asia/Beirut',
  'Pacific/Apia',
  'Pacific/Chatham',
  'Africa/Casablanca',
  'Europe/London',
] as const;

/** Instants near which clocks change, or a day is missing, in one of the zones. */
export const ODD_TIMES = [
  '2026-03-28T12:00:00Z',
  '2026-10-24T12:00:00Z',
  '2026-03-07T20:00:00Z',
  '2026-10-31T20:00:00Z',
  '2011-12-29T06:00:00Z',
  '2018-02-17T12:00:00Z',
  '2018-11-03T12:00:00Z',
  '2026-04-04T03:00:00Z',
  '2026-10-03T03:00:00Z',
  '2026-02-14T12:00:00Z',
  '2026-06-15T00:00:00Z',
].map((at) => Temporal.Instant.from(at).epochMilliseconds);

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** Offsets by time, of each zone. */
const offsets = new Map<string, Map<number, number>>(ODD_ZONES.map((zone) => [zone, new Map()]));

function offsetAt(ms: number, zone: string): number {
  const ofZone = offsets.get(zone);
  let offset = ofZone?.get(ms);
  if (offset === undefined) {
    offset = Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(zone).offsetNanoseconds / 1e6;
    ofZone?.set(ms, offset);
  }
  return offset;
}

/** Local time of an instant, as if it were UTC, in epoch milliseconds. */
function localMs(ms: number, zone: string): number {
  const hour = Math.floor(ms / HOUR) * HOUR;
  const [first, next] = [offsetAt(hour, zone), offsetAt(hour + HOUR, zone)];
  return ms + (first === next ? first : offsetAt(ms, zone));
}

/** Whether the clock on the wall shows a minute of the hours; written without anything that the product uses. */
export function showsOpen({ timezone, windows }: WeeklyHours, ms: number): boolean {
  const local = localMs(ms, timezone);
  const day = Math.floor(local / (24 * HOUR));
  const weekday = (((day + 3) % 7) + 7) % 7;
  const time = (local - day * 24 * HOUR) / MINUTE;
  return windows.some(({ days, from, to }) => {
    const start = minuteOf(from);
    const length = minuteOf(to) - start;
    const isWithin = (passed: number, of: number): boolean =>
      passed >= 0 && passed < (length > 0 ? length : length + 24 * 60) && days.includes(of + 1);
    return isWithin(time - start, weekday) || isWithin(time + 24 * 60 - start, (weekday + 6) % 7);
  });
}

const minuteOf = (text: string): number => Number(text.slice(0, 2)) * 60 + Number(text.slice(3));
