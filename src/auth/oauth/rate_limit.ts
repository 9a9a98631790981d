import type { Clock } from '#kernel/time.ts';

const WINDOW_MS = 60_000;
const NAMES_REMEMBERED = 10_000;

/** Rate limit per name and minute; each of several processes counts by itself, up to its share. */
export interface RequestLimit {
  /** Counts one; 0 when it may be, else the seconds to wait. */
  take(name: string): number;
}

export function createRateLimit(
  clock: Clock,
  { perMinute, processes }: { readonly perMinute: number; readonly processes: () => number },
): RequestLimit {
  const windows = new Map<string, { readonly since: number; count: number }>();
  return {
    take(name) {
      const now = clock.now().epochMilliseconds;
      const current = windows.get(name);
      const window = current !== undefined && now - current.since < WINDOW_MS ? current : { since: now, count: 0 };
      window.count += 1;
      windows.delete(name);
      windows.set(name, window);
      const oldest = windows.size > NAMES_REMEMBERED ? windows.keys().next().value : undefined;
      if (oldest !== undefined) windows.delete(oldest);
      return window.count <= Math.ceil(perMinute / processes())
        ? 0
        : Math.ceil((window.since + WINDOW_MS - now) / 1000);
    },
  };
}
