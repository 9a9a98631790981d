import { useSyncExternalStore } from 'react';

import { serverNow } from '#console/api/http.ts';

const LISTENERS = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;
let second = 0;

function subscribe(listener: () => void): () => void {
  LISTENERS.add(listener);
  timer ??= setInterval(tick, 1_000);
  return () => {
    LISTENERS.delete(listener);
    if (LISTENERS.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

function tick(): void {
  second += 1;
  for (const listener of LISTENERS) listener();
}

/** Returns the server's time, updated every `everySeconds` seconds. The whole page shares one timer. */
export function useNow(everySeconds = 1): number {
  useSyncExternalStore(subscribe, () => Math.floor(second / everySeconds));
  return serverNow();
}
