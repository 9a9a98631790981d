import { SeriesIndex } from '#ingest/series/series_index.ts';

const KEY_BYTES = 8;

/** Keys of series, two 32-bit halves each. It only ever grows. */
export class SeriesSet {
  readonly #index = new SeriesIndex();

  get size(): number {
    return this.#index.size;
  }

  has(high: number, low: number): boolean {
    return this.#index.find(high, low) !== -1;
  }

  /** Adds a key; returns false if it was there already. */
  add(high: number, low: number): boolean {
    if (this.has(high, low)) return false;
    this.#index.addSought();
    return true;
  }

  /** Adds the key that `has` has just not found. */
  addSought(): void {
    this.#index.addSought();
  }

  /** Adds keys in the form that `packKeys` writes. */
  addPacked(keys: Buffer): void {
    for (let at = 0; at + KEY_BYTES <= keys.length; at += KEY_BYTES) {
      this.add(keys.readInt32LE(at), keys.readInt32LE(at + 4));
    }
  }
}

/** High and low halves in turn as bytes, eight per key, the least first as on every processor that Node runs on. */
export function packKeys(halves: readonly number[]): Buffer {
  return Buffer.from(Int32Array.from(halves).buffer);
}
