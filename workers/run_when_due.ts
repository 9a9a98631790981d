import { setTimeout as delay } from 'node:timers/promises';

import type { Clock, Temporal } from '#kernel/time.ts';

/**
 * Longest wait for work that is nearly due: synchronized machines differ by less. Work that is due later is left to the
 * sweep.
 */
const WAIT_MS_MAX = 250;

/**
 * Runs the work. If it says that it is due in a moment, waits until then and runs it once more: the queue wakes this
 * process by the clocks of other machines, which may be a little ahead of the clock of the database.
 *
 * @param work returns when it is due, or null when nothing is left to do
 */
export async function runWhenDue(clock: Clock, work: () => Promise<Temporal.Instant | null>): Promise<void> {
  const dueAt = await work();
  if (dueAt === null) return;
  const waitMs = dueAt.epochMilliseconds - clock.now().epochMilliseconds;
  if (waitMs > WAIT_MS_MAX) return;
  await delay(waitMs + 1);
  await work();
}
