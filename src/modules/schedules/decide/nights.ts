import { isoDateOf } from '#kernel/wall_clock.ts';
import { DAY_MS, ZoneClocks } from '#kernel/zone_clock.ts';

const HOUR_MS = 3_600_000;
const NIGHT = { fromHour: 23, untilHour: 7 };

/**
 * Returns a function for the night of a time in a zone, named by the day on which it begins; null between 07:00 and
 * 23:00. It remembers the clocks of zones: the same few are asked for again and again.
 */
export function nightFinder(): (epochMs: number, timeZone: string) => string | null {
  const clocks = new ZoneClocks();
  return (epochMs, timeZone) => {
    const wall = clocks.of(timeZone).wallOf(epochMs);
    const day = Math.floor(wall / DAY_MS);
    const hour = (wall - day * DAY_MS) / HOUR_MS;
    if (hour >= NIGHT.fromHour) return isoDateOf(wall);
    return hour < NIGHT.untilHour ? isoDateOf(wall - DAY_MS) : null;
  };
}
