import type { MessageReference } from '#modules/places/decide/place_content.ts';
import { isAtOrBefore, type Temporal } from '#kernel/time.ts';

export const DELIVERY_STATUSES = ['waiting', 'sent', 'superseded', 'dead'] as const;

/** `superseded`: a later state of the same incident was sent instead. */
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** Result of one attempt. Reasons are our own words. */
export type PlaceOutcome = {
  readonly body: string;
  /** HTTP status and the beginning of the answer; null without an answer. */
  readonly status: number | null;
  readonly answer: string | null;
} & (
  | { readonly kind: 'sent'; readonly reference: MessageReference | null }
  /** The place is away, or refuses for a reason that a person can remove. */
  | { readonly kind: 'retry'; readonly reason: string; readonly afterMs?: number }
  /** This message will never be accepted. */
  | { readonly kind: 'refused'; readonly reason: string }
);

/** Time for which a delivery is tried, and a place may fail before it is switched off. */
export const DELIVERY_HOURS = 24;

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

/** Pauses after the first failures of a delivery; later pauses are as long as the last. */
const DELIVERY_PAUSES_MS = [5 * SECOND, 15 * SECOND, MINUTE, 2 * MINUTE, 5 * MINUTE];
/** Pauses of a whole place after its failures, in which nothing is sent to it. */
const PLACE_PAUSES_MS = [SECOND, 2 * SECOND, 5 * SECOND, 10 * SECOND, 30 * SECOND, MINUTE];

function pauseMs(pauses: readonly number[], failures: number): number {
  return pauses[Math.min(failures, pauses.length) - 1] ?? 0;
}

export interface PlaceHealth {
  readonly failures: number;
  readonly failingSince: Temporal.Instant | null;
  readonly lastFailure: string | null;
  readonly lastSuccessAt: Temporal.Instant | null;
  readonly heldUntil: Temporal.Instant | null;
}

/** Consequences of an attempt for the delivery and for its place. */
interface AfterAttempt {
  readonly status: DeliveryStatus;
  /** Time of the next attempt; only of one that waits. */
  readonly dueAt: Temporal.Instant;
  readonly health: PlaceHealth;
  /** Whether the place has failed for a whole day. */
  readonly switchesOff: boolean;
}

/** Decides about a delivery with so many tries before this one, and about its place. */
export function afterAttempt(
  delivery: { readonly tries: number; readonly expiresAt: Temporal.Instant },
  place: PlaceHealth,
  outcome: PlaceOutcome,
  now: Temporal.Instant,
): AfterAttempt {
  switch (outcome.kind) {
    case 'sent': {
      const health = { failures: 0, failingSince: null, lastFailure: null, lastSuccessAt: now, heldUntil: null };
      return { status: 'sent', dueAt: now, health, switchesOff: false };
    }
    case 'refused': {
      const health = { ...healthOf(place), lastFailure: outcome.reason };
      return { status: 'dead', dueAt: now, health, switchesOff: false };
    }
    case 'retry': {
      const failures = place.failures + 1;
      const failingSince = place.failingSince ?? now;
      const afterMs = Math.min(outcome.afterMs ?? 0, DELIVERY_HOURS * 60 * MINUTE);
      const dueAt = now.add({ milliseconds: Math.max(pauseMs(DELIVERY_PAUSES_MS, delivery.tries + 1), afterMs) });
      const heldUntil = now.add({ milliseconds: Math.max(pauseMs(PLACE_PAUSES_MS, failures), afterMs) });
      return {
        status: isAtOrBefore(delivery.expiresAt, now) ? 'dead' : 'waiting',
        dueAt,
        health: { ...healthOf(place), failures, failingSince, lastFailure: outcome.reason, heldUntil },
        switchesOff: isAtOrBefore(failingSince.add({ hours: DELIVERY_HOURS }), now),
      };
    }
  }
}

function healthOf({ failures, failingSince, lastFailure, lastSuccessAt, heldUntil }: PlaceHealth): PlaceHealth {
  return { failures, failingSince, lastFailure, lastSuccessAt, heldUntil };
}
