import { setTimeout as delay } from 'node:timers/promises';

/** Does the work again and again, whether or not it fails, until it is told to stop. */
export async function repeat(signal: AbortSignal, everyMs: number, work: () => Promise<unknown>): Promise<void> {
  while (!signal.aborted) {
    await work().catch(() => {});
    await delay(everyMs);
  }
}
