import { setTimeout as wait } from 'node:timers/promises';

/**
 * Counts from 0 at these intervals: for load that is sent at a rate, for faults that come at some time, and for looking again
 * whether a condition holds. Nothing else in tests lets time pass.
 */
export async function* pace(intervalMs: number | (() => number)): AsyncGenerator<number> {
  for (let round = 0; ; round += 1) {
    yield round;
    await wait(typeof intervalMs === 'number' ? intervalMs : intervalMs());
  }
}
