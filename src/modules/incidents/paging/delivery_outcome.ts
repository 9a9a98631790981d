import { nextRetryDelayMs } from '#modules/notifications/decide/retry.ts';
import type { Outcome } from '#modules/incidents/paging/record_outcome.ts';
import type { Temporal } from '#kernel/time.ts';
import type { Delivery } from '#notify/channel_sender.ts';
import { UNCONFIRMED } from '#modules/notifications/decide/retry.ts';
import type { ClaimedNotification } from '#modules/notifications/store/delivery_store.ts';

/**
 * Returns the outcome of a message from the result of a provider: a temporary fault is retried for five minutes from
 * the first attempt. A message of unknown fate is tried up to `uncertainAttemptsMax` times, then it counts as sent,
 * unconfirmed.
 *
 * @param random from 0 to below 1
 */
export function outcomeOf(
  claimed: Pick<ClaimedNotification, 'attempts' | 'releasedAt' | 'createdAt'>,
  delivery: Delivery,
  { uncertainAttemptsMax, now, random }: { uncertainAttemptsMax: number; now: Temporal.Instant; random: number },
): Outcome {
  switch (delivery.kind) {
    case 'accepted':
      return { status: 'sent', reason: null, providerId: delivery.providerId };
    case 'rejected':
      return { status: 'failed', reason: delivery.reason, providerId: null };
    case 'uncertain':
      return claimed.attempts >= uncertainAttemptsMax
        ? { status: 'sent', reason: UNCONFIRMED, providerId: null }
        : retryOrFail(claimed, delivery.reason, 0, now, random);
    case 'retry':
      return retryOrFail(claimed, delivery.reason, delivery.afterMs ?? 0, now, random);
  }
}

function retryOrFail(
  { attempts, releasedAt, createdAt }: Pick<ClaimedNotification, 'attempts' | 'releasedAt' | 'createdAt'>,
  reason: string,
  atLeastMs: number,
  now: Temporal.Instant,
  random: number,
): Outcome {
  const elapsedMs = now.epochMilliseconds - (releasedAt ?? createdAt).epochMilliseconds;
  const delayMs = nextRetryDelayMs(attempts, elapsedMs, random, atLeastMs);
  return delayMs === null
    ? { status: 'failed', reason, providerId: null }
    : { status: 'retry', reason, dueAt: now.add({ milliseconds: delayMs }) };
}
