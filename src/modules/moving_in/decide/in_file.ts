import { createHash } from 'node:crypto';

import type { LayerInFile } from '#modules/configuration/decide/file_fields.ts';
import { WEEK_MINUTES, type WeekSpan } from '#modules/moving_in/decide/pattern.ts';
import { FAR_FUTURE } from '#kernel/time.ts';
import { isoOf } from '#kernel/wall_clock.ts';
import type { ZoneClock } from '#kernel/zone_clock.ts';

const KEY_LENGTH_MAX = 100;
const NAME_LENGTH_MAX = 500;
const DAY_MINUTES = 24 * 60;

/** Returns a key of the file for an id of another tool, the same at each reading, and for each id another. */
export function keyInFile(tool: string, id: string): string {
  const key = `${tool}-${id}`;
  if (key.length <= KEY_LENGTH_MAX && /^[A-Za-z0-9._-]+$/.test(key)) return key;
  const hash = createHash('sha256').update(id).digest('hex').slice(0, 12);
  return `${key.replaceAll(/[^A-Za-z0-9._-]+/g, '_').slice(0, KEY_LENGTH_MAX - 13)}-${hash}`;
}

/** Returns a name that the file takes, or the second if there is none. */
export function nameInFile(name: string, otherwise: string): string {
  const shown = name.replaceAll(/\p{Cc}/gu, ' ').trim();
  return (shown === '' ? otherwise : shown).slice(0, NAME_LENGTH_MAX);
}

/** Returns the name, with a number behind it if others have it. */
export function uniqueName(name: string, others: readonly string[]): string {
  const shown = nameInFile(name, 'Layer');
  if (!others.includes(shown)) return shown;
  for (let number = 2; ; number += 1) {
    const numbered = `${shown.slice(0, NAME_LENGTH_MAX - 6)} ${number}`;
    if (!others.includes(numbered)) return numbered;
  }
}

/** Writes an instant as a local date and time if that says the same, else in UTC. */
export function momentInFile(clock: ZoneClock, ms: number): string {
  const wall = clock.wallOf(ms);
  const local = isoOf(wall);
  if (clock.instantOf(wall) !== ms) return isoOf(ms);
  return local.endsWith(':00.000Z') ? local.slice(0, 16) + ':00' : local.replace(/(\.000)?Z$/, '');
}

/** Returns the times of maintenance in UTC, within the years that a file may name, and what they lose; empty: nothing. */
export function maintenanceTimes(
  clock: ZoneClock,
  from: number,
  to: number | null,
): { readonly times: { readonly startsAt: string; readonly endsAt: string }; readonly loss: string } {
  const last = FAR_FUTURE.epochMilliseconds - 1_000;
  const times = {
    startsAt: momentInFile(clock, Math.min(Math.max(from, 0), last - 1_000)),
    endsAt: momentInFile(clock, Math.min(to ?? last, last)),
  };
  return { times, loss: to === null || to > last ? 'It ends with the year 2199, the last that a file may name.' : '' };
}

export function hoursInFile(spans: readonly WeekSpan[]): NonNullable<LayerInFile['hours']> {
  return spans.map(({ from, to }) => {
    const last = Math.ceil(to / DAY_MINUTES);
    return {
      fromDay: Math.floor(from / DAY_MINUTES) + 1,
      from: timeOf(from % DAY_MINUTES),
      toDay: Math.min(last, WEEK_MINUTES / DAY_MINUTES),
      to: timeOf(to - (last - 1) * DAY_MINUTES),
    };
  });
}

function timeOf(minutes: number): string {
  return `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`;
}

/** Returns a number in E.164 form; null if it is none. A number without a country code needs one. */
export function phoneInFile(address: string, countryCode: string): string | null {
  const digits = address.replaceAll(/[\s().\-/]/g, '');
  if (/^\+[1-9]\d{1,14}$/.test(digits)) return digits;
  const national = digits.replace(/^0+/, '');
  const code = countryCode.replaceAll(/\D/g, '');
  if (code === '' || !/^\d+$/.test(national)) return null;
  const whole = `+${code}${national}`;
  return /^\+[1-9]\d{6,14}$/.test(whole) ? whole : null;
}
