import type { Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import type { Stores } from '#modules/stores.ts';

/** Limit of tries in a window, which begins with its first try. */
export interface TryLimit {
  /** Key of the counter: the kind of try, and its person or address. */
  readonly key: string;
  readonly max: number;
  readonly windowSeconds: number;
}

/** A try that was counted. */
export interface CountedTry {
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
