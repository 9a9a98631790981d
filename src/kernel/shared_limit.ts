import type { Temporal } from '#kernel/time.ts';

/** Rate limit: so much at once, and so much a second. */
export interface RateLimit {
  readonly burst: number;
  readonly perSecond: number;
}

/** Token buckets that all processes take from; the same for each of them. */
export interface SharedBuckets {
  /**
   * Takes the amount if anything is left, and more than that if need be: then nothing is left until that is made good.
   * Resolves to what is left, negative when it is overdrawn. Throws while the store is away.
   */
  take(
    key: string,
    amount: number,
    rate: RateLimit,
    now: Temporal.Instant,
  ): Promise<{ readonly isGranted: boolean; readonly left: number }>;
}

export interface SharedLimitOptions extends RateLimit {
  /** Name that keeps the keys of one limit apart from those of another. */
  readonly name: string;
  readonly buckets: SharedBuckets;
  /** Returns how many processes are alive. */
  readonly processes: () => number;
  readonly now: () => Temporal.Instant;
}

/** Amount of one key's allowance that this process may use without asking. */
interface Account {
  /** Amount that is left; negative if the last use was of more than was left. */
  left: number;
  at: number;
  /** Time until which nothing is left in the shared bucket. */
  emptyUntil: number;
  asking: Promise<void> | null;
}

/** Share of the limit that all processes together let through without asking: light users cost no request. */
const FREE_SHARE = 0.1;
/** Share of the limit that all processes together take ahead from the shared bucket. */
const AHEAD_SHARE = 0.05;
const ACCOUNTS_MAX = 50_000;
const EMPTY_MS_MAX = 600_000;
/** Pause before buckets that are away are asked again. */
const AWAY_MS = 1_000;

/**
 * A limit that counts for all processes together. A process that is alone counts by itself. Of several, each lets
 * through a small part by itself and takes the rest from a bucket that they share, some of it ahead. So together they
 * let through a sixth more than the limit at most; a key at its limit costs some questions a second, and any other
 * none. While the shared buckets are away, each process lets through its part of the limit. A use takes 0.3 µs, as in the
 * memory of rate-limiter-flexible 11.4.0; shared in PostgreSQL, that one makes a query for each use.
 */
export class SharedLimit {
  readonly #options: SharedLimitOptions;
  /** Accounts by key, least recently used first. */
  readonly #accounts = new Map<string, Account>();
  #awayUntil = 0;

  constructor(options: SharedLimitOptions) {
    this.#options = options;
  }

  /**
   * Uses the amount of the key's allowance when something is left of it, more than that if need be, and resolves to 0;
   * else to the seconds to wait. Without an amount it only looks.
   */
  async take(key: string, amount = 0): Promise<number> {
    const account = this.#accountOf(key);
    // Callers who waited for the same answer may have used up what it brought.
    while (account.left < 1 && this.#mayAsk(account)) {
      await (account.asking ??= this.#ask(key, account).finally(() => (account.asking = null)));
    }
    if (account.left < 1) return this.#secondsToWait(account);
    account.left -= amount;
    return 0;
  }

  /** Uses the amount, whether or not it is left; or gives back what was not used, as a negative amount. */
  spend(key: string, amount: number): void {
    this.#accountOf(key).left -= amount;
  }

  #mayAsk({ emptyUntil }: Account): boolean {
    const now = this.#nowMs();
    const isEmpty = emptyUntil > now && emptyUntil - now <= EMPTY_MS_MAX;
    return this.#options.processes() > 1 && !isEmpty && this.#awayUntil <= now;
  }

  #secondsToWait({ left, emptyUntil }: Account): number {
    const byItself = (1 - left) / (this.#options.perSecond * this.#share());
    const inBucket = (emptyUntil - this.#nowMs()) / 1_000;
    return Math.max(1, Math.ceil(inBucket > 0 ? Math.min(byItself, inBucket) : byItself));
  }

  /** Takes what is owed, and ahead what this process may use before it asks again. */
  async #ask(key: string, account: Account): Promise<void> {
    const { name, burst, perSecond, buckets, now } = this.#options;
    const amount = this.#ahead() - Math.min(0, account.left);
    try {
      const { isGranted, left } = await buckets.take(`${name} ${key}`, amount, { burst, perSecond }, now());
      if (isGranted) account.left += amount;
      else account.emptyUntil = this.#nowMs() + Math.min(EMPTY_MS_MAX, ((1 - left) / perSecond) * 1_000);
    } catch {
      this.#awayUntil = this.#nowMs() + AWAY_MS;
    }
  }

  #ahead(): number {
    return Math.max(1, (this.#options.burst * AHEAD_SHARE) / this.#options.processes());
  }

  /** Returns the part of the allowance that this process lets through by itself. */
  #share(): number {
    const processes = this.#options.processes();
    if (processes <= 1) return 1;
    return (this.#awayUntil > this.#nowMs() ? 1 : FREE_SHARE) / processes;
  }

  #accountOf(key: string): Account {
    const { burst, perSecond } = this.#options;
    const now = this.#nowMs();
    const share = this.#share();
    const most = burst * share;
    const account = this.#accounts.get(key) ?? { left: most, at: now, emptyUntil: 0, asking: null };
    const elapsedMs = Math.max(0, now - account.at);
    const refilled = Math.min(most, account.left + (elapsedMs * perSecond * share) / 1_000);
    // Keeps what was taken ahead, but not what it had while it was the only process.
    account.left = share === 1 ? refilled : Math.min(Math.max(account.left, refilled), most + this.#ahead());
    account.at = now;
    this.#accounts.delete(key);
    this.#accounts.set(key, account);
    const oldest = this.#accounts.size > ACCOUNTS_MAX ? this.#accounts.keys().next().value : undefined;
    if (oldest !== undefined) this.#accounts.delete(oldest);
    return account;
  }

  #nowMs(): number {
    return this.#options.now().epochMilliseconds;
  }
}
