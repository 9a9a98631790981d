export interface Ticker {
  /** Resolves once no tick is running. */
  stop(): Promise<void>;
}

/** Calls `tick` after `firstMs`, then `everyMs` after the last call has ended, until it is stopped. */
export function startTicker(everyMs: number, tick: () => Promise<void>, firstMs = 0): Ticker {
  const stopped = new AbortController();
  let wake: (() => void) | null = null;
  const pause = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  const run = async (): Promise<void> => {
    for (let ms = firstMs; !stopped.signal.aborted; ms = everyMs) {
      await pause(ms);
      if (!stopped.signal.aborted) await tick();
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
