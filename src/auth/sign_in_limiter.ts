import { createHash } from 'node:crypto';

import { AppError } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import { networkOf } from '#kernel/ip_address.ts';
import type { LimitName, Limits } from '#kernel/limit_settings.ts';
import type { Clock, Temporal } from '#kernel/time.ts';
import type { Stores } from '#modules/stores.ts';

const WINDOW_SECONDS = 15 * 60;

/** An attempt to sign in. `isKnown`: this account has signed in from this address before. */
interface SignInAttempt {
  readonly email: string;
  readonly address: string;
  readonly isKnown: boolean;
  /** The device cookie, if the browser has signed in to the account before. */
  readonly device: string | null;
}

/**
 * Counts an attempt before its password is checked, so that parallel attempts hit the limit too. Returns a function that
 * removes the count after a successful sign-in. Throws `rate_limited`.
 *
 * An attacker cannot lock the owner out: attempts from a browser or address that has signed in to the account before have
 * a limit of their own, and password resets by mail are not limited by failed attempts.
 */
export async function countSignInAttempt(
  stores: Pick<Stores, 'signInLimits'>,
  clock: Clock,
  { email, address, isKnown, device }: SignInAttempt,
  { signInsOfAccountMax, signInsOfAddressMax }: Pick<Limits, 'signInsOfAccountMax' | 'signInsOfAddressMax'>,
): Promise<() => Promise<void>> {
  const account = createHash('sha256').update(email.toLowerCase()).digest('base64url');
  const network = networkOf(address);
  const limitKey =
    device === null
      ? `known:${account}:${network}`
      : `device:${createHash('sha256').update(device).digest('base64url')}`;
  const ofAccount = { limit: 'signInsOfAccountMax', max: signInsOfAccountMax, windowSeconds: WINDOW_SECONDS } as const;
  const ofAddress = { limit: 'signInsOfAddressMax', max: signInsOfAddressMax, windowSeconds: WINDOW_SECONDS } as const;
  const limits =
    device !== null || isKnown
      ? [{ key: limitKey, ...ofAccount }]
      : [
          { key: `address:${network}`, ...ofAddress },
          { key: `account:${account}`, ...ofAccount },
        ];
  for (const attempt of limits) await countAttempt(stores, clock, attempt);
  return async () => {
    for (const { key } of limits) await stores.signInLimits.undoAttempt(key);
  };
}

interface AttemptLimit extends TryLimit {
  readonly limit: LimitName;
}

/** Throws `rate_limited` when the window holds more than `max` attempts. */
export async function countAttempt(
  stores: Pick<Stores, 'signInLimits'>,
  clock: Clock,
  { key, limit, max, windowSeconds }: AttemptLimit,
): Promise<void> {
  const { isAllowed, retryAfterSeconds } = await countTry(stores, { key, max, windowSeconds }, clock.now());
  if (isAllowed) return;
  throw new AppError('rate_limited', 'too many attempts; wait, or set a new password by mail', {
    limit,
    retryAfterSeconds,
  });
}

/** Limit of tries in a window, which begins with its first try. */
export interface TryLimit {
  /** Key of the counter: the kind of try, and its person or address. */
  readonly key: string;
  readonly max: number;
  readonly windowSeconds: number;
}

interface CountedTry {
  readonly isAllowed: boolean;
  /** Whether it was the last one that the window allows. */
  readonly isLast: boolean;
  /** Seconds until the window ends, at least 1. */
  readonly retryAfterSeconds: number;
}

/** Key of the tries of a person's second factor. */
export function secondFactorTriesOf(userId: Id<'user'>): string {
  return `second_factor:${userId}`;
}

type TryStores = Pick<Stores, 'signInLimits'>;

/**
 * Counts a try before it is made, in one statement, so that tries at the same time reach the limit too, whichever
 * process they come to. Call it outside of a transaction that may be rolled back.
 */
export async function countTry(
  { signInLimits }: TryStores,
  { key, max, windowSeconds }: TryLimit,
  now: Temporal.Instant,
): Promise<CountedTry> {
  const { tries, since } = await signInLimits.count(key, now.subtract({ seconds: windowSeconds }), now);
  const retryAfterSeconds = Math.max(1, Math.ceil(since.add({ seconds: windowSeconds }).since(now).total('seconds')));
  return { isAllowed: tries <= max, isLast: tries === max, retryAfterSeconds };
}

/** Forgets the tries of a key: one of them was right. */
export async function forgetTries({ signInLimits }: TryStores, key: string): Promise<void> {
  await signInLimits.remove(key);
}

/** Returns whether the window holds as many tries as it allows; counts nothing. */
export async function areTriesUsedUp(
  { signInLimits }: TryStores,
  { key, max, windowSeconds }: TryLimit,
  now: Temporal.Instant,
): Promise<boolean> {
  return (await signInLimits.findTries(key, now.subtract({ seconds: windowSeconds }))) >= max;
}

const WINDOW_MS = 60_000;
const ADDRESSES_MAX = 10_000;

/** Limits attempts with bad keys from one address; a valid key is always accepted. */
export interface BadKeyLimiter {
  /** Runs the check. After too many failures, an address gets 429 instead of 401 for the next ones. */
  guard<Result>(address: string, check: () => Promise<Result>): Promise<Result>;
}

interface BadKeyLimits {
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
