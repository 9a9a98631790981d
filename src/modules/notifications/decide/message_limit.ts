import { isAtOrBefore, Temporal } from '#kernel/time.ts';

type Instant = Temporal.Instant;

export const MESSAGES_PER_MINUTE_MAX = 3;
const WINDOW = Temporal.Duration.from({ minutes: 1 });

/** A message that left, or is on its way to the provider. A digest carries a page if one of its messages is a page. */
export interface RecentMessage {
  readonly at: Instant;
  readonly carriesPage: boolean;
}

/** A digest that has not left yet. */
export interface WaitingDigest {
  readonly dueAt: Instant;
  readonly carriesPage: boolean;
}

/** Messages that one person has received, or is about to receive, on one channel. */
export interface RecentMessages<Digest extends WaitingDigest = WaitingDigest> {
  /** Messages of the last minute at least, digests included. */
  readonly sent: readonly RecentMessage[];
  /** Waiting digests: at most one with pages and one without. */
  readonly digests: readonly Digest[];
}

export type MessageDecision<Digest extends WaitingDigest = WaitingDigest> =
  | { readonly kind: 'send' }
  /** Add the message to this digest; a digest of one is sent as the plain message. */
  | { readonly kind: 'join'; readonly digest: Digest }
  /** Add the message to a new digest that leaves then. */
  | { readonly kind: 'open_digest'; readonly dueAt: Instant };

/**
 * Limits one person to 3 messages a minute on a channel. Further messages wait for a digest, which leaves within a
 * minute, as soon as the limit allows it. Notices do not count towards the limit of pages, so they never delay one.
 * While a digest with pages waits, every new message joins it, so that no page overtakes another.
 */
export function limitMessages<Digest extends WaitingDigest>(
  message: 'page' | 'notice',
  { sent, digests }: RecentMessages<Digest>,
  now: Instant,
): MessageDecision<Digest> {
  const withPages = digests.find(({ carriesPage }) => carriesPage);
  const digest = withPages ?? (message === 'notice' ? digests[0] : undefined);
  if (digest !== undefined) return { kind: 'join', digest };
  const windowStart = now.subtract(WINDOW);
  const blocking = sent
    .filter(({ at, carriesPage }) => (carriesPage || message === 'notice') && !isAtOrBefore(at, windowStart))
    .map(({ at }) => at)
    .sort(Temporal.Instant.compare)
    .at(-MESSAGES_PER_MINUTE_MAX);
  return blocking === undefined ? { kind: 'send' } : { kind: 'open_digest', dueAt: blocking.add(WINDOW) };
}
