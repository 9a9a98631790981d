import { AppError } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import type { Clock } from '#kernel/time.ts';

interface RateLimiterOptions {
  /** On average; 0 for no limit. */
  readonly perSecond: number;
  /** The plural of what is counted, for messages. */
  readonly noun: string;
  readonly clock: Clock;
}

interface Bucket {
  /** Negative if the last request had more than was left. */
  left: number;
  at: number;
}

/** A service may save up what it does not send, up to this long. */
const BURST_SECONDS = 10;
const RETRY_AFTER_SECONDS_MAX = 600;
const BUCKETS_MAX = 50_000;

/**
 * A token bucket per service, for this process. A request is accepted or refused as a whole: it may overdraw the bucket as
 * long as something is left in it, and then the service waits until the bucket is above zero again.
 */
export class RateLimiter {
  readonly #options: RateLimiterOptions;
  readonly #buckets = new Map<Id<'service'>, Bucket>();

  constructor(options: RateLimiterOptions) {
    this.#options = options;
  }

  /** Throws `rate_limited`, with the seconds to wait, when nothing is left. */
  check(serviceId: Id<'service'>): void {
    if (this.#options.perSecond > 0) this.#open(serviceId);
  }

  /** As `check`, and counts the amount unless the work fails, because then the sender retries. */
  async spend(serviceId: Id<'service'>, amount: number, work: () => Promise<void>): Promise<void> {
    if (this.#options.perSecond === 0) return await work();
    const bucket = this.#open(serviceId);
    bucket.left -= amount;
    try {
      await work();
    } catch (error) {
      bucket.left += amount;
      throw error;
    }
  }

  #open(serviceId: Id<'service'>): Bucket {
    const { perSecond, noun } = this.#options;
    const bucket = this.#bucketOf(serviceId);
    if (bucket.left > 0) return bucket;
    const seconds = Math.floor(-bucket.left / perSecond) + 1;
    throw new AppError('rate_limited', `this service sends more than ${perSecond} ${noun} a second; send again later`, {
      retryAfterSeconds: Math.min(seconds, RETRY_AFTER_SECONDS_MAX),
    });
  }

  #bucketOf(serviceId: Id<'service'>): Bucket {
    const { perSecond, clock } = this.#options;
    const now = clock.now().epochMilliseconds;
    const most = perSecond * BURST_SECONDS;
    const known = this.#buckets.get(serviceId);
    if (known === undefined) return this.#add(serviceId, { left: most, at: now });
    const elapsedMs = Math.max(0, now - known.at);
    known.left = Math.min(most, known.left + (elapsedMs * perSecond) / 1_000);
    known.at = now;
    return known;
  }

  #add(serviceId: Id<'service'>, bucket: Bucket): Bucket {
    this.#buckets.set(serviceId, bucket);
    const oldest = this.#buckets.size > BUCKETS_MAX ? this.#buckets.keys().next().value : undefined;
    if (oldest !== undefined) this.#buckets.delete(oldest);
    return bucket;
  }
}
