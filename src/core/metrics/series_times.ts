const FIRST_PLACES = 64;
/** Of the places, before there are made more. */
const FULL_SHARE = 0.7;

/** A time for each key of a series, in 23 to 46 bytes a key and no object. It only ever grows. */
export class SeriesTimes {
  #keys = new BigUint64Array(FIRST_PLACES);
  #halves = new Uint32Array(this.#keys.buffer);
  /** NaN where nothing is. */
  #times = new Float64Array(FIRST_PLACES).fill(Number.NaN);
  readonly #sought = new BigUint64Array(1);
  readonly #soughtHalves = new Uint32Array(this.#sought.buffer);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** NaN for a key that has none. */
  get(key: bigint): number {
    return this.#times[this.#find(key)] ?? Number.NaN;
  }

  set(key: bigint, time: number): void {
    const place = this.#find(key);
    const isNew = Number.isNaN(this.#times[place]);
    this.#keys[place] = key;
    this.#times[place] = time;
    if (!isNew) return;
    this.#size += 1;
    if (this.#size > this.#keys.length * FULL_SHARE) this.#grow();
  }

  /** Where the key is, or the free place for it. Keys are hashes already. */
  #find(key: bigint): number {
    this.#sought[0] = key;
    const first = this.#soughtHalves[0] ?? 0;
    const second = this.#soughtHalves[1] ?? 0;
    const halves = this.#halves;
    const last = this.#times.length - 1;
    let place = first & last;
    while (!Number.isNaN(this.#times[place])) {
      if (halves[place * 2] === first && halves[place * 2 + 1] === second) break;
      place = (place + 1) & last;
    }
    return place;
  }

  #grow(): void {
    const [keys, times] = [this.#keys, this.#times];
    this.#keys = new BigUint64Array(keys.length * 2);
    this.#halves = new Uint32Array(this.#keys.buffer);
    this.#times = new Float64Array(keys.length * 2).fill(Number.NaN);
    for (const [index, time] of times.entries()) {
      if (Number.isNaN(time)) continue;
      const key = keys[index] ?? 0n;
      const place = this.#find(key);
      this.#keys[place] = key;
      this.#times[place] = time;
    }
  }
}
