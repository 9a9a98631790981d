import { isAtOrBefore, Temporal } from '#kernel/time.ts';

type Instant = Temporal.Instant;

const MESSAGES_MAX = 3;
const WINDOW = Temporal.Duration.from({ minutes: 1 });

/** What one person has got, or is about to get, on one channel. */
export interface RecentMessages {
  /** When each message, digests included, left or was let through to the queue; at least those of the last minute. */
  readonly sentAt: readonly Instant[];
  /** When a digest that has not left yet is due, or null. */
  readonly digestDueAt: Instant | null;
}

export type StormDecision =
  | { readonly kind: 'send' }
  /** Add the message to the digest that leaves then; a digest of one is sent as the plain message. */
  | { readonly kind: 'fold'; readonly digestDueAt: Instant };

/**
 * Keeps one person to 3 messages a minute on a channel. What would be more waits for one digest, which leaves as soon as
 * there is room: within a minute. While a digest waits, everything new joins it, so that nothing overtakes.
 */
export function decideStorm(recent: RecentMessages, now: Instant): StormDecision {
  if (recent.digestDueAt !== null) return { kind: 'fold', digestDueAt: recent.digestDueAt };
  const windowStart = now.subtract(WINDOW);
  const inWindow = recent.sentAt.filter((at) => !isAtOrBefore(at, windowStart)).sort(Temporal.Instant.compare);
  const blocking = inWindow.at(-MESSAGES_MAX);
  return blocking ? { kind: 'fold', digestDueAt: blocking.add(WINDOW) } : { kind: 'send' };
}
