const FIRST_SLOTS = 64;
/** Of the slots, before there are made more. */
const FULL_SHARE = 0.5;
const FREE = -1;

/**
 * A time for each key of a series, in 24 to 48 bytes a key and no object. It only ever grows. Keys that are asked for in
 * the order in which they were set lie behind each other in memory and are found without a search.
 */
export class SeriesTimes {
  #keys = new BigUint64Array(FIRST_SLOTS * FULL_SHARE);
  #halves = new Uint32Array(this.#keys.buffer);
  #times = new Float64Array(FIRST_SLOTS * FULL_SHARE);
  /** The places of keys, by what they hash to. */
  #slots = new Int32Array(FIRST_SLOTS).fill(FREE);
  readonly #sought = new BigUint64Array(1);
  readonly #soughtHalves = new Uint32Array(this.#sought.buffer);
  #size = 0;
  /** Of the key that was found last. */
  #place = -1;

  get size(): number {
    return this.#size;
  }

  /** NaN for a key that has none. */
  get(key: bigint): number {
    return this.#find(key) ? (this.#times[this.#place] ?? Number.NaN) : Number.NaN;
  }

  set(key: bigint, time: number): void {
    if (!this.#find(key)) this.#add(key);
    this.#times[this.#place] = time;
  }

  /** Whether the key is there; then `#place` is its place. */
  #find(key: bigint): boolean {
    this.#sought[0] = key;
    if (this.#isSought(this.#place + 1)) {
      this.#place += 1;
      return true;
    }
    const place = this.#slots[this.#slotOfSought()] ?? FREE;
    if (place === FREE) return false;
    this.#place = place;
    return true;
  }

  #add(key: bigint): void {
    if (this.#size === this.#times.length) this.#grow();
    this.#sought[0] = key;
    const place = this.#size;
    this.#slots[this.#slotOfSought()] = place;
    this.#keys[place] = key;
    this.#size += 1;
    this.#place = place;
  }

  /** The slot that holds the place of the key, or the free one for it. Keys are hashes already. */
  #slotOfSought(): number {
    const last = this.#slots.length - 1;
    let slot = (this.#soughtHalves[0] ?? 0) & last;
    for (;;) {
      const place = this.#slots[slot] ?? FREE;
      if (place === FREE || this.#isSought(place)) return slot;
      slot = (slot + 1) & last;
    }
  }

  #isSought(place: number): boolean {
    const halves = this.#halves;
    const sought = this.#soughtHalves;
    return place < this.#size && halves[place * 2] === sought[0] && halves[place * 2 + 1] === sought[1];
  }

  #grow(): void {
    const [keys, times] = [this.#keys, this.#times];
    this.#keys = new BigUint64Array(keys.length * 2);
    this.#keys.set(keys);
    this.#halves = new Uint32Array(this.#keys.buffer);
    this.#times = new Float64Array(times.length * 2);
    this.#times.set(times);
    this.#slots = new Int32Array(this.#slots.length * 2).fill(FREE);
    for (const [place, key] of keys.entries()) {
      this.#sought[0] = key;
      this.#slots[this.#slotOfSought()] = place;
    }
  }
}
