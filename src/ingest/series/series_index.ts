import { HashTable } from '#ingest/hashing/hash_table.ts';
import { hashPair } from '#ingest/hashing/keyed_hash.ts';
import { freeBytes } from '#kernel/free_bytes.ts';

const CAPACITY_FIRST = 32;
const GROWTH = 1.5;
const EMPTY = new Int32Array(0);

/**
 * Numbers the 64-bit keys of series from 0 in the order in which they are added, and finds a key's number. A key is given
 * as two 32-bit halves. It takes 14 to 24 bytes per key and no object. Keys that are looked for in the order in which they
 * were added are found by one comparison. A sender can compute the keys of its series, so they are hashed with a secret.
 */
export class SeriesIndex {
  readonly #table = new HashTable();
  /** Keys: high and low halves in turn. */
  #keys = EMPTY;
  #soughtHigh = 0;
  #soughtLow = 0;
  #soughtHash = 0;
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
    if (this.#isAt(next, this.#soughtHigh, this.#soughtLow)) return (this.#last = next);
    this.#soughtHash = hashPair(high, low);
    let number = this.#table.first(this.#soughtHash);
    while (number !== -1 && !this.#isAt(number, this.#soughtHigh, this.#soughtLow)) {
      number = this.#table.next(this.#soughtHash);
    }
    if (number !== -1) this.#last = number;
    return number;
  }

  /** The halves of the key with this number. */
  highOf(number: number): number {
    return this.#keys[number * 2] ?? 0;
  }

  lowOf(number: number): number {
    return this.#keys[number * 2 + 1] ?? 0;
  }

  /** Adds the key that `find` has just not found. */
  addSought(): number {
    const number = this.size;
    if (number * 2 === this.#keys.length) this.#grow();
    this.#keys[number * 2] = this.#soughtHigh;
    this.#keys[number * 2 + 1] = this.#soughtLow;
    return (this.#last = this.#table.add(this.#soughtHash));
  }

  #isAt(number: number, high: number, low: number): boolean {
    return number < this.size && this.#keys[number * 2] === high && this.#keys[number * 2 + 1] === low;
  }

  #grow(): void {
    const before = this.#keys;
    this.#keys = new Int32Array(Math.max(CAPACITY_FIRST, Math.ceil((before.length / 2) * GROWTH)) * 2);
    this.#keys.set(before);
    freeBytes(before);
  }
}
