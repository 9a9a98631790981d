import { freeBytes } from '#kernel/free_bytes.ts';

const SLOTS_FIRST = 128;
const GROWTH = 4;
const FREE = -1;
const EMPTY = new Int32Array(0);
/** The share of slots in use above which the table grows. */
const LOAD_MAX = 0.7;
/** Below this share it does not grow, however badly hashes collide: no input makes it larger than its entries justify. */
const LOAD_MIN = 0.1;
/**
 * Looking for an entry ends after so many slots. With unpredictable hashes, fewer than one in a billion entries has no
 * free slot within them; such an entry is not found again, which its owner must tolerate.
 */
export const PROBES_MAX = 64;

/**
 * A growable hash table. It numbers entries from 0 in the order in which they are added and finds their numbers; keys and
 * values are its owner's, in arrays by that number. It takes 10 to 29 bytes per entry and no object.
 */
export class HashTable {
  /** Number of entries added. */
  size = 0;
  /** Entry numbers. Allocated with the first entry, because most tables stay empty. */
  #slots = EMPTY;
  /** Hashes by entry number. */
  #hashes = EMPTY;
  /** Slot at which `next` continues. */
  #slot = 0;
  #probe = 1;

  /** The first entry with this hash, or -1; its key may still be another. The hash must come from `keyed_hash.ts`. */
  first(hash: number): number {
    this.#slot = hash & (this.#slots.length - 1);
    this.#probe = 1;
    return this.next(hash);
  }

  /** The next entry with the same hash, after the one that `first` or `next` has just returned. */
  next(hash: number): number {
    const slots = this.#slots;
    const hashes = this.#hashes;
    const mask = slots.length - 1;
    let slot = this.#slot;
    for (let probe = this.#probe; probe <= PROBES_MAX; probe += 1) {
      const entry = slots[slot] ?? FREE;
      slot = (slot + probe) & mask;
      if (entry !== FREE && hashes[entry] !== hash) continue;
      this.#slot = slot;
      this.#probe = probe + 1;
      return entry;
    }
    return -1;
  }

  /** Numbers a new entry. */
  add(hash: number): number {
    const entry = this.size;
    this.size += 1;
    if (this.size > this.#hashes.length) this.#grow();
    this.#hashes[entry] = hash;
    if (this.#place(entry, hash) || this.size < this.#slots.length * LOAD_MIN) return entry;
    this.#grow();
    this.#place(entry, hash);
    return entry;
  }

  /** Steps of 1, 2, 3 … slots reach every slot and keep the chains of different hashes apart. */
  #place(entry: number, hash: number): boolean {
    const mask = this.#slots.length - 1;
    let slot = hash & mask;
    for (let probe = 1; probe <= PROBES_MAX; probe += 1) {
      if (this.#slots[slot] === FREE) {
        this.#slots[slot] = entry;
        return true;
      }
      slot = (slot + probe) & mask;
    }
    return false;
  }

  #grow(): void {
    const [slots, before] = [this.#slots, this.#hashes];
    this.#slots = new Int32Array(Math.max(SLOTS_FIRST, slots.length * GROWTH)).fill(FREE);
    freeBytes(slots);
    this.#hashes = new Int32Array(this.#slots.length * LOAD_MAX);
    this.#hashes.set(before);
    for (let entry = 0; entry < this.size - 1; entry += 1) this.#place(entry, before[entry] ?? 0);
    freeBytes(before);
  }
}
