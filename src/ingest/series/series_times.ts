import { SeriesIndex } from '#ingest/series/series_index.ts';

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

  /** NaN for a key without a time. */
  get(key: bigint): number {
    const number = this.#find(key);
    return number === -1 ? Number.NaN : (this.#times[number] ?? Number.NaN);
  }

  set(key: bigint, time: number): void {
    const known = this.#find(key);
    const number = known === -1 ? this.#add() : known;
    this.#times[number] = time;
  }

  #find(key: bigint): number {
    this.#key[0] = key;
    return this.#index.find(this.#halves[1] ?? 0, this.#halves[0] ?? 0);
  }

  /** Adds the key that was not found. */
  #add(): number {
    const number = this.#index.addSought();
    if (number === this.#times.length) {
      const times = new Float64Array(number * 2);
      times.set(this.#times);
      this.#times = times;
    }
    return number;
  }
}
