import { setTimeout as delay } from 'node:timers/promises';

import type { Clock, Temporal } from '#kernel/time.ts';

/** Machines that keep their clocks are less apart. What is due later is left to the sweep. */
const SOON_MS = 250;

/**
 * Does the work; when it says that it is due a moment later, waits for that and does it again. The queue wakes us by the
 * clocks of machines, which may be a little ahead of the one clock that counts.
 *
 * @param work resolves to when it is due, or null when nothing is left to do
 */
export async function whenDue(clock: Clock, work: () => Promise<Temporal.Instant | null>): Promise<void> {
  const dueAt = await work();
  if (dueAt === null) return;
  const waitMs = dueAt.epochMilliseconds - clock.now().epochMilliseconds;
  if (waitMs > SOON_MS) return;
  await delay(waitMs + 1);
  await work();
}
