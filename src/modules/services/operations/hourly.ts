import { Type } from 'typebox';

import type { Temporal } from '#kernel/time.ts';

/** Number of hours that counts by the hour go back. */
export const HOURS = 24;
const HOUR_MS = 3_600_000;

export const HOURLY = Type.Array(Type.Integer({ minimum: 0 }), {
  description: `of each of the last ${HOURS} hours, the current one last`,
});

/** Returns the start of the first of these hours. */
export function firstHour(now: Temporal.Instant): Temporal.Instant {
  return now.round({ smallestUnit: 'hour', roundingMode: 'floor' }).subtract({ hours: HOURS - 1 });
}

/** Returns one count for each hour, 0 for those without any. */
export function toHourly(counts: ReadonlyMap<number, number> | undefined, from: Temporal.Instant): number[] {
  return Array.from({ length: HOURS }, (_, hour) => counts?.get(from.epochMilliseconds + hour * HOUR_MS) ?? 0);
}
