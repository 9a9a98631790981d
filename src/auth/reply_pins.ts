import { randomInt, timingSafeEqual } from 'node:crypto';

import { isPasswordOf } from '#auth/passwords.ts';
import { areTriesUsedUp, countTry, forgetTries, type TryLimit } from '#auth/sign_in_limiter.ts';
import type { Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import type { Stores } from '#modules/stores.ts';

/** Result of checking the PIN of a reply: `none_set` if the person has set no PIN. */
type PinCheck = 'none_set' | 'right' | 'missing' | 'wrong' | 'locked';

const limitOf = (userId: Id<'user'>): TryLimit => ({ key: `reply_pin:${userId}`, max: 5, windowSeconds: 15 * 60 });

/** Whether a reply by SMS, call or link carries the PIN of the person it speaks for. Five wrong ones lock it for 15 minutes. */
export async function checkReplyPin(
  stores: Pick<Stores, 'phoneNumbers' | 'signInLimits'>,
  userId: Id<'user'>,
  pin: string | null,
  now: Temporal.Instant,
): Promise<PinCheck> {
  const pinHash = await stores.phoneNumbers.findPin(userId);
  if (pinHash === null) return 'none_set';
  const limit = limitOf(userId);
  if (pin === null) return (await areTriesUsedUp(stores, limit, now)) ? 'locked' : 'missing';
  const { isAllowed, isLast } = await countTry(stores, limit, now);
  if (!isAllowed) return 'locked';
  if (await isPasswordOf(pinHash, pin)) {
    await forgetTries(stores, limit.key);
    return 'right';
  }
  return isLast ? 'locked' : 'wrong';
}

/** A new PIN has not been tried. */
export async function forgetPinTries(stores: Pick<Stores, 'signInLimits'>, userId: Id<'user'>): Promise<void> {
  await forgetTries(stores, limitOf(userId).key);
}

const DIGITS = 6;

/** Six digits that are sent to a phone and typed by its owner. */
export function newPhoneCode(): string {
  return String(randomInt(10 ** DIGITS)).padStart(DIGITS, '0');
}

/** Compares in constant time; both are of six digits. */
export function isSamePhoneCode(sent: string, typed: string): boolean {
  return sent.length === typed.length && timingSafeEqual(Buffer.from(sent), Buffer.from(typed));
}
