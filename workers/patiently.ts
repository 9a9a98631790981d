import { setTimeout as delay } from 'node:timers/promises';

import { AppError } from '#kernel/errors.ts';

const PATIENCE_MS = 5_000;
const AGAIN_MS = 250;

/**
 * Does the work, again and again for some seconds while a store is away. A job that waits here holds its place:
 * otherwise every job of the line would fail, be put off, and come back in a crowd long after the store did.
 */
export async function patiently(work: () => Promise<void>): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      const isAway = error instanceof AppError && error.code === 'unavailable';
      if (!isAway || performance.now() > deadline) throw error;
      await delay(AGAIN_MS);
    }
  }
}
