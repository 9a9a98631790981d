import { isPasswordOf } from '#auth/passwords.ts';
import type { Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import type { Stores } from '#storage/postgres/stores.ts';

/** What a reply may act with: `none_set` when the person has set no PIN. */
export type PinCheck = 'none_set' | 'right' | 'missing' | 'wrong' | 'locked';

const WRONG_TRIES_MAX = 5;
const LOCKED_MINUTES = 15;

/** Whether a reply by SMS or call carries the PIN of the person it speaks for. Five wrong ones lock it for 15 minutes. */
export async function checkReplyPin(
  { phoneNumbers }: Pick<Stores, 'phoneNumbers'>,
  userId: Id<'user'>,
  pin: string | null,
  now: Temporal.Instant,
): Promise<PinCheck> {
  const known = await phoneNumbers.findPin(userId);
  if (known === null) return 'none_set';
  if (known.lockedUntil !== null && known.lockedUntil.epochMilliseconds > now.epochMilliseconds) return 'locked';
  if (pin === null) return 'missing';
  if (await isPasswordOf(known.pinHash, pin)) {
    if (known.wrongTries > 0) await phoneNumbers.notePinTry(userId, { wrongTries: 0, lockedUntil: null });
    return 'right';
  }
  const wrongTries = known.wrongTries + 1;
  const isLocked = wrongTries >= WRONG_TRIES_MAX;
  await phoneNumbers.notePinTry(userId, {
    wrongTries: isLocked ? 0 : wrongTries,
    lockedUntil: isLocked ? now.add({ minutes: LOCKED_MINUTES }) : null,
  });
  return isLocked ? 'locked' : 'wrong';
}
