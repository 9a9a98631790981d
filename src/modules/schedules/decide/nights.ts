import { Temporal } from '#kernel/time.ts';

const NIGHT = { fromHour: 23, untilHour: 7 };

/** Quarter of an hour: offsets of all zones are whole quarters, so a result holds until the next one. */
const QUARTER_MS = 15 * 60_000;

/**
 * Returns a function for the night of a time in a zone, named by the day on which it begins; null between 07:00 and
 * 23:00. It caches results: the same few zones and nights are asked for again and again.
 */
export function nightFinder(): (epochMs: number, timeZone: string) => string | null {
  const zones = new Map<string, string | null>();
  return (epochMs, timeZone) => {
    const quarter = Math.floor(epochMs / QUARTER_MS);
    const key = `${quarter} ${timeZone}`;
    const zone = zones.get(key);
    if (zone !== undefined) return zone;
    const local = Temporal.Instant.fromEpochMilliseconds(quarter * QUARTER_MS).toZonedDateTimeISO(timeZone);
    const night = nightOf(local);
    zones.set(key, night);
    return night;
  };
}

function nightOf(local: Temporal.ZonedDateTime): string | null {
  if (local.hour >= NIGHT.fromHour) return local.toPlainDate().toString();
  return local.hour < NIGHT.untilHour ? local.toPlainDate().subtract({ days: 1 }).toString() : null;
}
