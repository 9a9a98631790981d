import type { Log } from '#kernel/log.ts';

/**
 * Runs `stop` once, at SIGTERM, at SIGINT, or when the parent that started this process with a channel is gone, and
 * then leaves with status 0.
 */
export function onStop(log: Log, stop: () => Promise<void>): void {
  let isStopping = false;
  const begin = (reason: string): void => {
    if (isStopping) return;
    isStopping = true;
    log.info({ reason }, 'stopping');
    stop()
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
