import type { Log } from '#kernel/log.ts';

interface Stoppable {
  readonly name: string;
  readonly stop: () => Promise<void>;
}

/**
 * Stops components in order, once, at SIGTERM, at SIGINT, or when the parent that started this process with a channel
 * is gone, and then exits with status 0. Whatever has not stopped in time, because a store does not answer, is
 * abandoned, with status 1: jobs under way are kept in PostgreSQL and run again.
 */
export function onStop(log: Log, stoppables: readonly Stoppable[], stopMsMax: number): void {
  let isStopping = false;
  const begin = (reason: string): void => {
    if (isStopping) return;
    isStopping = true;
    log.info({ reason }, 'stopping');
    const left = stoppables.map(({ name }) => name);
    const giveUp = (): void => {
      log.error({ gaveUp: left, afterMs: stopMsMax }, 'shutdown takes too long; exiting without waiting for the rest');
      process.exit(1);
    };
    setTimeout(giveUp, stopMsMax).unref();
    const stopAll = async (): Promise<void> => {
      for (const { stop } of stoppables) {
        await stop();
        left.shift();
      }
    };
    stopAll()
      .then(() => process.exit(0))
      .catch((error: unknown) => {
        log.error({ err: error }, 'stopping failed');
        process.exit(1);
      });
  };
  process.on('SIGTERM', () => begin('SIGTERM'));
  process.on('SIGINT', () => begin('SIGINT'));
  process.on('disconnect', () => begin('parent is gone'));
}
