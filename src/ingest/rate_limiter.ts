import { AppError } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import type { LimitName } from '#kernel/limit_settings.ts';
import type { RateLimit, SharedLimit } from '#kernel/shared_limit.ts';

interface RateLimiterOptions {
  /** Average rate allowed; 0 for no limit. */
  readonly perSecond: number;
  readonly limit: LimitName;
  /** The plural of what is counted, for messages. */
  readonly noun: string;
  readonly openLimit: (name: string, rate: RateLimit) => SharedLimit;
}

/** A service may save up what it does not send, up to this long. */
const BURST_SECONDS = 10;
const RETRY_AFTER_SECONDS_MAX = 600;

/**
 * Limits what each service sends, to all processes together. A request is accepted or refused as a whole: it may overdraw
 * what is left, and then the service waits until that is made good.
 */
export class RateLimiter {
  readonly #perSecond: number;
  readonly #noun: string;
  readonly #name: LimitName;
  /** Shared limit; null for no limit. */
  readonly #limit: SharedLimit | null;

  constructor({ perSecond, noun, limit, openLimit }: RateLimiterOptions) {
    this.#perSecond = perSecond;
    this.#noun = noun;
    this.#name = limit;
    this.#limit = perSecond === 0 ? null : openLimit(noun, { burst: perSecond * BURST_SECONDS, perSecond });
  }

  /** Throws `rate_limited`, with the seconds to wait, when nothing is left. */
  async check(serviceId: Id<'service'>, amount = 0): Promise<void> {
    const seconds = (await this.#limit?.take(serviceId, amount)) ?? 0;
    if (seconds === 0) return;
    throw new AppError(
      'rate_limited',
      `this service sends more than ${this.#perSecond} ${this.#noun} a second; send again later`,
      { limit: this.#name, retryAfterSeconds: Math.min(seconds, RETRY_AFTER_SECONDS_MAX) },
    );
  }

  /** Checks like `check`, then counts the amount unless the work fails, because then the sender retries. */
  async spend(serviceId: Id<'service'>, amount: number, work: () => Promise<void>): Promise<void> {
    await this.check(serviceId, amount);
    try {
      await work();
    } catch (error) {
      this.giveBack(serviceId, amount);
      throw error;
    }
  }

  /** Gives back what was spent on data that could not be taken, because then the sender retries. */
  giveBack(serviceId: Id<'service'>, amount: number): void {
    this.#limit?.spend(serviceId, -amount);
  }
}
