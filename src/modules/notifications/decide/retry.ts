/** Reason of a message that was tried twice with an unknown outcome, and then counts as sent. */
export const UNCONFIRMED = 'unconfirmed';

const TOTAL_MS_MAX = 5 * 60_000;
const FIRST_DELAY_MS = 1_000;
const DELAY_MS_MAX = 30_000;

/**
 * Returns the delay before the next try after a temporary fault, or null to give up. Delays double from 1 s to 30 s,
 * and each is shortened at random by up to half, so that many failures do not retry at the same moment. No try starts
 * more than 5 minutes after the first, even if the clock was set back meanwhile: that many tries take at least their
 * delays.
 *
 * @param tries made so far, at least 1
 * @param elapsedMs since the first of them
 * @param random from 0 to below 1
 * @param atLeastMs what the provider asked for, as in `Retry-After`
 */
export function nextRetryDelayMs(tries: number, elapsedMs: number, random: number, atLeastMs = 0): number | null {
  const delayMs = Math.max(Math.round(fullDelayMs(tries) * (1 - random / 2)), atLeastMs);
  return Math.max(elapsedMs, leastElapsedMs(tries)) + delayMs > TOTAL_MS_MAX ? null : delayMs;
}

function fullDelayMs(tries: number): number {
  return Math.min(FIRST_DELAY_MS * 2 ** (tries - 1), DELAY_MS_MAX);
}

/** Returns the elapsed time if every delay was as short as possible. */
function leastElapsedMs(tries: number): number {
  let elapsedMs = 0;
  for (let earlier = 1; earlier < tries && elapsedMs <= TOTAL_MS_MAX; earlier += 1)
    elapsedMs += fullDelayMs(earlier) / 2;
  return elapsedMs;
}
