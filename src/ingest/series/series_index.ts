import { HashTable } from '#ingest/hashing/hash_table.ts';
import { hashPair } from '#ingest/hashing/keyed_hash.ts';

const CAPACITY_FIRST = 32;
const GROWTH = 1.5;

/**
 * Numbers the 64-bit keys of series from 0 in the order in which they are added, and finds a key's number. A key is given
 * as two 32-bit halves. It takes 14 to 24 bytes per key and no object. Keys that are looked for in the order in which they
 * were added are found by one comparison. A sender can compute the keys of its series, so they are hashed with a secret.
 */
export class SeriesIndex {
  readonly #table = new HashTable({
    hashOf: (number) => hashPair(this.#keys[number * 2] ?? 0, this.#keys[number * 2 + 1] ?? 0),
    isSought: (number) => this.#isAt(number, this.#soughtHigh, this.#soughtLow),
  });
  /** High and low halves in turn. */
  #keys = new Int32Array(CAPACITY_FIRST * 2);
  #soughtHigh = 0;
  #soughtLow = 0;
  /** The number that was found last. */
  #last = -1;

  get size(): number {
    return this.#table.size;
  }

  /** The key's number; -1 if it was not added. */
  find(high: number, low: number): number {
    this.#soughtHigh = high | 0;
    this.#soughtLow = low | 0;
    const next = this.#last + 1;
    const number = this.#isAt(next, this.#soughtHigh, this.#soughtLow) ? next : this.#table.find(hashPair(high, low));
    if (number !== -1) this.#last = number;
    return number;
  }

  /** Adds a key that `find` did not find. */
  add(high: number, low: number): number {
    const number = this.size;
    if (number * 2 === this.#keys.length) this.#grow();
    this.#keys[number * 2] = high;
    this.#keys[number * 2 + 1] = low;
    this.#last = this.#table.add(hashPair(high, low));
    return number;
  }

  #isAt(number: number, high: number, low: number): boolean {
    return number < this.size && this.#keys[number * 2] === high && this.#keys[number * 2 + 1] === low;
  }

  #grow(): void {
    const before = this.#keys;
    this.#keys = new Int32Array(Math.ceil((before.length / 2) * GROWTH) * 2);
    this.#keys.set(before);
  }
}
