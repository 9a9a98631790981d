import { createHash } from 'node:crypto';

import { networkOf } from '#auth/network.ts';
import { AppError } from '#kernel/errors.ts';
import type { Clock } from '#kernel/time.ts';
import type { Stores } from '#storage/postgres/stores.ts';

const WINDOW_SECONDS = 15 * 60;
/** Tries that fail, within the window. */
const OF_ADDRESS_MAX = 30;
const OF_ACCOUNT_MAX = 10;

/** Somebody who tries to sign in. `isKnown`: this account has signed in from this address before. */
export interface SignInTry {
  readonly email: string;
  readonly address: string;
  readonly isKnown: boolean;
  /** What the browser is known by to the account, if it is. */
  readonly device: string | null;
}

/**
 * Counts a try before its password is looked at, so that many at once are as slow as one after another; returns what
 * takes it back once it turned out well. Throws `rate_limited`.
 *
 * Who guesses from elsewhere does not lock the owner out: tries in a browser, or else from an address, in which the account
 * has signed in before are counted by themselves, and a new password by mail is never slowed by them.
 */
export async function countSignInTry(
  stores: Pick<Stores, 'signInLimits'>,
  clock: Clock,
  { email, address, isKnown, device }: SignInTry,
): Promise<() => Promise<void>> {
  const account = createHash('sha256').update(email.toLowerCase()).digest('base64url');
  const network = networkOf(address);
  const own =
    device === null
      ? `known:${account}:${network}`
      : `device:${createHash('sha256').update(device).digest('base64url')}`;
  const limits =
    device !== null || isKnown
      ? [{ key: own, max: OF_ACCOUNT_MAX }]
      : [
          { key: `address:${network}`, max: OF_ADDRESS_MAX },
          { key: `account:${account}`, max: OF_ACCOUNT_MAX },
        ];
  for (const { key, max } of limits) await countTry(stores, clock, { key, max, windowSeconds: WINDOW_SECONDS });
  return async () => {
    for (const { key } of limits) await stores.signInLimits.uncount(key);
  };
}

interface AttemptLimit {
  readonly key: string;
  readonly max: number;
  readonly windowSeconds: number;
}

/** Throws `rate_limited` when there are more tries in the window than `max`. */
export async function countTry(
  stores: Pick<Stores, 'signInLimits'>,
  clock: Clock,
  { key, max, windowSeconds }: AttemptLimit,
): Promise<void> {
  const now = clock.now();
  const { tries, since } = await stores.signInLimits.count(key, now.subtract({ seconds: windowSeconds }), now);
  if (tries <= max) return;
  const retryAfterSeconds = Math.max(1, Math.ceil(since.add({ seconds: windowSeconds }).since(now).total('seconds')));
  throw new AppError('rate_limited', 'too many tries; wait, or set a new password by mail', { retryAfterSeconds });
}
