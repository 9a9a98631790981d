/**
 * A fall by less than this part of the value before is no reset. Two senders of one counter, a load balancer or
 * rounding make counters fall a little; a process that begins again starts near zero. VictoriaMetrics has the same bound.
 */
export const SMALL_FALL_PARTS = 8;

/**
 * Returns what a counter grew by from one sample to the next. After a reset it grew from 0 to what it is. A small fall is
 * taken off again, so that the values of a counter that goes up and down a little add up to what it grew by on the whole.
 */
export function growthBetween(before: number, now: number): number {
  return isReset(before, now) ? now : now - before;
}

function isReset(before: number, now: number): boolean {
  return (before - now) * SMALL_FALL_PARTS >= before && now < before;
}
