import pLimit, { type LimitFunction } from 'p-limit';

interface KeyedLimitOptions {
  /** Calls that run at the same time, of all keys together. */
  readonly concurrency: number;
  /** Calls that run at the same time, of one key. */
  readonly concurrencyPerKey: number;
}

/** Number of limiters kept, idle ones included: to make one takes 2.5 µs, three times as long as to call it. */
const KEYS_MAX = 1_000;

/**
 * Limits how many calls run at the same time, in all and for each key. Others wait in order. A key whose calls take
 * long delays other keys only by the places that one key may have.
 */
export class KeyedLimit {
  readonly #limit: LimitFunction;
  readonly #concurrencyPerKey: number;
  readonly #limits = new Map<string, LimitFunction>();
  #keysMax = KEYS_MAX;

  constructor({ concurrency, concurrencyPerKey }: KeyedLimitOptions) {
    this.#limit = pLimit(concurrency);
    this.#concurrencyPerKey = concurrencyPerKey;
  }

  /** Returns how many calls of the key run or wait. */
  countOf(key: string): number {
    const limit = this.#limits.get(key);
    return limit === undefined ? 0 : callsOf(limit);
  }

  async run<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    return await this.#limitOf(key)(this.#limit, work);
  }

  #limitOf(key: string): LimitFunction {
    const current = this.#limits.get(key);
    if (current !== undefined) return current;
    if (this.#limits.size >= this.#keysMax) this.#removeIdle();
    const limit = pLimit(this.#concurrencyPerKey);
    this.#limits.set(key, limit);
    return limit;
  }

  #removeIdle(): void {
    for (const [key, limit] of this.#limits) if (callsOf(limit) === 0) this.#limits.delete(key);
    this.#keysMax = Math.max(KEYS_MAX, 2 * this.#limits.size);
  }
}

function callsOf({ activeCount, pendingCount }: LimitFunction): number {
  return activeCount + pendingCount;
}
