import { createHash } from 'node:crypto';

import { networkOf } from '#kernel/ip_address.ts';
import { countTry, type TryLimit } from '#auth/tries.ts';
import { AppError } from '#kernel/errors.ts';
import type { LimitName, Limits } from '#kernel/limit_settings.ts';
import type { Clock } from '#kernel/time.ts';
import type { Stores } from '#modules/stores.ts';

const WINDOW_SECONDS = 15 * 60;

/** An attempt to sign in. `isKnown`: this account has signed in from this address before. */
export interface SignInAttempt {
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
