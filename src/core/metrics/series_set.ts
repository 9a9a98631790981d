const FIRST_PLACES = 64;
/** Of the places, before there are made more. */
const FULL_SHARE = 0.7;
const KEY_BYTES = 8;

/**
 * Keys of series, two 32-bit halves each, in 11 to 23 bytes a key and no object. It only ever grows. A place holding
 * two zeros is free; the one key that is two zeros stands for its neighbour, which is as rare as any other collision.
 */
export class SeriesSet {
  #halves = new Int32Array(FIRST_PLACES * 2);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  has(high: number, low: number): boolean {
    return this.#find(high | 0, lowOf(high, low)) < 0;
  }

  /** False when the key was there already. */
  add(high: number, low: number): boolean {
    const lowHalf = lowOf(high, low);
    const free = this.#find(high | 0, lowHalf);
    if (free < 0) return false;
    this.#halves[free] = high;
    this.#halves[free + 1] = lowHalf;
    this.#size += 1;
    if (this.#size * 2 > this.#halves.length * FULL_SHARE) this.#grow();
    return true;
  }

  /** Adds keys as `packKeys` wrote them. */
  addPacked(keys: Buffer): void {
    for (let at = 0; at + KEY_BYTES <= keys.length; at += KEY_BYTES) {
      this.add(keys.readInt32LE(at), keys.readInt32LE(at + 4));
    }
  }

  /** The index of the free place for the key, or a negative number when it is there. */
  #find(high: number, low: number): number {
    const halves = this.#halves;
    const last = halves.length - 1;
    let at = (low << 1) & last;
    for (;;) {
      const there = halves[at];
      const lowThere = halves[at + 1];
      if (there === high && lowThere === low) return -1;
      if (there === 0 && lowThere === 0) return at;
      at = (at + 2) & last;
    }
  }

  #grow(): void {
    const before = this.#halves;
    this.#halves = new Int32Array(before.length * 2);
    for (let at = 0; at < before.length; at += 2) {
      const high = before[at] ?? 0;
      const low = before[at + 1] ?? 0;
      if (high === 0 && low === 0) continue;
      const free = this.#find(high, low);
      this.#halves[free] = high;
      this.#halves[free + 1] = low;
    }
  }
}

/** High and low halves in turn as bytes, eight a key. */
export function packKeys(halves: readonly number[]): Buffer {
  const keys = Buffer.allocUnsafe(halves.length * 4);
  for (const [index, half] of halves.entries()) keys.writeInt32LE(half | 0, index * 4);
  return keys;
}

function lowOf(high: number, low: number): number {
  return high === 0 && low === 0 ? 1 : low | 0;
}
