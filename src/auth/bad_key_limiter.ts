import { networkOf } from '#kernel/ip_address.ts';
import { AppError } from '#kernel/errors.ts';
import type { Limits } from '#kernel/limit_settings.ts';
import type { Clock } from '#kernel/time.ts';

const WINDOW_MS = 60_000;
const ADDRESSES_MAX = 10_000;

/** Limits attempts with bad keys from one address; a valid key is always accepted. */
export interface BadKeyLimiter {
  /** Runs the check. After too many failures, an address gets 429 instead of 401 for the next ones. */
  guard<Result>(address: string, check: () => Promise<Result>): Promise<Result>;
}

interface BadKeyLimits {
  /** Returns the number of processes that are alive. */
  readonly processes: () => number;
  readonly set: Pick<Limits, 'badKeysPerMinute'>;
}

/** Creates a limiter; each of several processes counts by itself, up to its share of the limit. */
export function createBadKeyLimiter(clock: Clock, { processes, set }: BadKeyLimits): BadKeyLimiter {
  const failures = new Map<string, { count: number; since: number }>();

  const countFailure = (address: string): number => {
    const now = clock.now().epochMilliseconds;
    const entry = failures.get(address);
    // A window that begins in the future means that the clock was set back.
    const isCurrent = entry !== undefined && entry.since <= now && now - entry.since < WINDOW_MS;
    const current = isCurrent ? entry : { count: 0, since: now };
    current.count += 1;
    failures.delete(address);
    failures.set(address, current);
    if (failures.size > ADDRESSES_MAX) failures.delete(failures.keys().next().value ?? '');
    return current.count <= Math.ceil(set.badKeysPerMinute / processes())
      ? 0
      : Math.ceil((current.since + WINDOW_MS - now) / 1000);
  };

  return {
    async guard(address, check) {
      try {
        return await check();
      } catch (error) {
        if (!(error instanceof AppError) || error.code !== 'unauthenticated') throw error;
        const retryAfterSeconds = countFailure(networkOf(address));
        if (retryAfterSeconds === 0) throw error;
        throw new AppError('rate_limited', 'too many invalid keys from this address; valid keys are still accepted', {
          cause: error,
          limit: 'badKeysPerMinute',
          retryAfterSeconds,
        });
      }
    },
  };
}
