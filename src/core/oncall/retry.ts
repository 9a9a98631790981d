const TOTAL_MS_MAX = 5 * 60_000;
const FIRST_DELAY_MS = 1_000;
const DELAY_MS_MAX = 30_000;

/**
 * How long to wait before the next try after a temporary fault, or null to give up. Doubles from 1 s to 30 s, each
 * shortened by up to half at random so that a crowd of failures does not come back as one; no try starts more than
 * 5 minutes after the first, also when the clock is set back meanwhile: so many tries take their time.
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

/** Were every wait as short as it may be. */
function leastElapsedMs(tries: number): number {
  let elapsedMs = 0;
  for (let earlier = 1; earlier < tries && elapsedMs <= TOTAL_MS_MAX; earlier += 1)
    elapsedMs += fullDelayMs(earlier) / 2;
  return elapsedMs;
}
