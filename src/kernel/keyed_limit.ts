import pLimit, { type LimitFunction } from 'p-limit';

interface KeyedLimitOptions {
  /** Calls that run at the same time, of all keys together. */
  readonly concurrency: number;
  /** Calls that run at the same time, of one key. */
  readonly concurrencyPerKey: number;
}

interface CallsOfKey {
  readonly limit: LimitFunction;
  count: number;
}

/**
 * Limits how many calls run at the same time, in all and for each key. Others wait in order. A key whose calls take long
 * delays other keys only by the places that one key may have.
 */
export class KeyedLimit {
  readonly #limit: LimitFunction;
  readonly #concurrencyPerKey: number;
  readonly #calls = new Map<string, CallsOfKey>();

  constructor({ concurrency, concurrencyPerKey }: KeyedLimitOptions) {
    this.#limit = pLimit(concurrency);
    this.#concurrencyPerKey = concurrencyPerKey;
  }

  /** How many calls of the key run or wait. */
  countOf(key: string): number {
    return this.#calls.get(key)?.count ?? 0;
  }

  async run<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    const calls = this.#calls.get(key) ?? { limit: pLimit(this.#concurrencyPerKey), count: 0 };
    this.#calls.set(key, calls);
    calls.count += 1;
    try {
      return await calls.limit(this.#limit, work);
    } finally {
      calls.count -= 1;
      if (calls.count === 0) this.#calls.delete(key);
    }
  }
}
