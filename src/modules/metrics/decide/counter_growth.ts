/**
 * Divisor of the value before: a fall by less than that part is no reset. Two senders of one counter, a load balancer
 * or rounding make counters fall a little; a process that begins again starts near zero. VictoriaMetrics has the same
 * bound.
 */
export const SMALL_FALL_PARTS = 8;

/**
 * Returns the growth of a counter from one sample to the next. After a reset it is the new value. A small fall is
 * subtracted, so that the values of a counter that goes up and down a little add up to its growth on the whole.
 */
export function growthBetween(before: number, now: number): number {
  return isReset(before, now) ? now : now - before;
}

function isReset(before: number, now: number): boolean {
  return (before - now) * SMALL_FALL_PARTS >= before && now < before;
}
