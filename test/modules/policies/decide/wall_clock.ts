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

const offsets = new Map<string, number>();

function offsetAt(ms: number, zone: string): number {
  const key = `${zone} ${ms}`;
  let offset = offsets.get(key);
  if (offset === undefined) {
    offset = Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(zone).offsetNanoseconds / 1e6;
    offsets.set(key, offset);
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
    const [start, end] = [from, to].map((text) => Number(text.slice(0, 2)) * 60 + Number(text.slice(3)));
    for (const [since, of] of [
      [0, weekday],
      [24 * 60, (weekday + 6) % 7],
    ] as const) {
      const length = end! > start! ? end! - start! : end! + 24 * 60 - start!;
      const passed = time + since - start!;
      if (days.includes(of + 1) && passed >= 0 && passed < length) return true;
    }
    return false;
  });
}
