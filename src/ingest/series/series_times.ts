import { SeriesIndex } from '#ingest/series/series_index.ts';
import { freeBytes } from '#kernel/free_bytes.ts';

const CAPACITY_FIRST = 32;

/** A time per series key, in 22 to 40 bytes each. It only ever grows. */
export class SeriesTimes {
  readonly #index = new SeriesIndex();
  #times = new Float64Array(CAPACITY_FIRST);
  readonly #key = new BigUint64Array(1);
  /** The low half first, as on every processor that Node runs on. */
  readonly #halves = new Int32Array(this.#key.buffer);

  get size(): number {
    return this.#index.size;
  }

  /** Returns the time of a key; NaN for a key without one. */
  get(key: bigint): number {
    const number = this.#find(key);
    return number === -1 ? Number.NaN : (this.#times[number] ?? Number.NaN);
  }

  set(key: bigint, time: number): void {
    const index = this.#find(key);
    this.#setAt(index, time);
  }

  /** Sets a time that is at least `afterMs` later than the one before, or the first one; whether it was set. */
  advance(key: bigint, time: number, afterMs: number): boolean {
    const index = this.#find(key);
    if (index !== -1 && time < (this.#times[index] ?? 0) + afterMs) return false;
    this.#setAt(index, time);
    return true;
  }

  /** Sets all of the others' times. */
  setAll(others: SeriesTimes): void {
    for (let number = 0; number < others.size; number += 1) {
      const index = this.#index.find(others.#index.highOf(number), others.#index.lowOf(number));
      this.#setAt(index, others.#times[number] ?? Number.NaN);
    }
  }

  /** Sets the time of a known number; -1 adds the key first. */
  #setAt(index: number, time: number): void {
    const number = index === -1 ? this.#add() : index;
    this.#times[number] = time;
  }

  #find(key: bigint): number {
    this.#key[0] = key;
    return this.#index.find(this.#halves[1] ?? 0, this.#halves[0] ?? 0);
  }

  #add(): number {
    const number = this.#index.addSought();
    if (number === this.#times.length) {
      const times = new Float64Array(number * 2);
      times.set(this.#times);
      freeBytes(this.#times);
      this.#times = times;
    }
    return number;
  }
}
