import { AppError } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import type { Clock } from '#kernel/time.ts';

interface RateLimiterOptions {
  /** On average; 0 for no limit. */
  readonly perSecond: number;
  /** What is counted, in the plural. */
  readonly noun: string;
  readonly clock: Clock;
}

interface Account {
  /** Negative when the last request brought more than was left. */
  left: number;
  at: number;
}

/** What a service has not sent it may send later, up to this long of it at once. */
const BURST_SECONDS = 10;
const RETRY_AFTER_SECONDS_MAX = 600;
const ACCOUNTS_MAX = 50_000;

/**
 * How much each service may send to this process. A request is taken or refused as a whole: as long as anything is
 * left it may overdraw the account, and the service waits until that is made good.
 */
export class RateLimiter {
  readonly #options: RateLimiterOptions;
  readonly #accounts = new Map<Id<'service'>, Account>();

  constructor(options: RateLimiterOptions) {
    this.#options = options;
  }

  /** Throws `rate_limited`, with the seconds until something is left, when nothing is. */
  check(serviceId: Id<'service'>): void {
    if (this.#options.perSecond > 0) this.#open(serviceId);
  }

  /** As `check`, and counts the amount; not when the work fails, for then it comes again. */
  async spend(serviceId: Id<'service'>, amount: number, work: () => Promise<void>): Promise<void> {
    if (this.#options.perSecond === 0) return await work();
    const account = this.#open(serviceId);
    account.left -= amount;
    try {
      await work();
    } catch (error) {
      account.left += amount;
      throw error;
    }
  }

  #open(serviceId: Id<'service'>): Account {
    const { perSecond, noun } = this.#options;
    const account = this.#accountOf(serviceId);
    if (account.left > 0) return account;
    const seconds = Math.floor(-account.left / perSecond) + 1;
    throw new AppError('rate_limited', `this service sends more than ${perSecond} ${noun} a second; send again later`, {
      retryAfterSeconds: Math.min(seconds, RETRY_AFTER_SECONDS_MAX),
    });
  }

  #accountOf(serviceId: Id<'service'>): Account {
    const { perSecond, clock } = this.#options;
    const now = clock.now().epochMilliseconds;
    const most = perSecond * BURST_SECONDS;
    const known = this.#accounts.get(serviceId);
    if (known === undefined) return this.#add(serviceId, { left: most, at: now });
    const elapsedMs = Math.max(0, now - known.at);
    known.left = Math.min(most, known.left + (elapsedMs * perSecond) / 1_000);
    known.at = now;
    return known;
  }

  #add(serviceId: Id<'service'>, account: Account): Account {
    this.#accounts.set(serviceId, account);
    const oldest = this.#accounts.size > ACCOUNTS_MAX ? this.#accounts.keys().next().value : undefined;
    if (oldest !== undefined) this.#accounts.delete(oldest);
    return account;
  }
}
