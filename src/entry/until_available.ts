import { setTimeout as delay } from 'node:timers/promises';

import { AppError } from '#kernel/errors.ts';
import type { Log } from '#kernel/log.ts';

const PATIENCE_MS = 30_000;
const AGAIN_MS = 200;

/** Does the work again while a store is away: a process that starts before its stores waits for them, and then throws. */
export async function untilAvailable<Result>(log: Log, work: () => Promise<Result>): Promise<Result> {
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      const isAway = error instanceof AppError && error.code === 'unavailable';
      if (!isAway || performance.now() > deadline) throw error;
      log.warn({ err: error }, 'a store is away; waiting for it');
    }
    await delay(AGAIN_MS);
  }
}
