/** Calls `tick` repeatedly, `everyMs` after the last call has ended, until it is stopped. */
export interface Ticker {
  /** Resolves once no tick is running. */
  stop(): Promise<void>;
}

export function startTicker(everyMs: number, tick: () => Promise<void>): Ticker {
  const stopped = new AbortController();
  let wake: (() => void) | null = null;
  const pause = (): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, everyMs);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  const run = async (): Promise<void> => {
    while (!stopped.signal.aborted) {
      await tick();
      if (!stopped.signal.aborted) await pause();
    }
  };
  const running = run();
  return {
    async stop() {
      stopped.abort();
      wake?.();
      await running;
    },
  };
}
