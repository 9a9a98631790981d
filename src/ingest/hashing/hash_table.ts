const SLOTS_FIRST = 64;
const FREE = -1;
/** The share of slots in use above which the table grows. */
const LOAD_MAX = 0.7;
/** Below this share it does not grow, however badly hashes collide: no input makes it larger than its entries justify. */
const LOAD_MIN = 0.1;
/**
 * Looking for an entry ends after so many slots. With unpredictable hashes, fewer than one in a billion entries has no
 * free slot within them; such an entry is not found again, which its owner must tolerate.
 */
export const PROBES_MAX = 64;

/** The owner of the table keeps the keys. */
interface Keys {
  /** The hash of an entry's key, from `keyed_hash.ts`. */
  readonly hashOf: (entry: number) => number;
  /** Whether the entry's key is the one that is being looked for. */
  readonly isSought: (entry: number) => boolean;
}

/**
 * A growable hash table. It numbers entries from 0 in the order in which they are added and finds their numbers; keys and
 * values are its owner's, in arrays by that number. It takes 6 to 12 bytes per entry and no object.
 */
export class HashTable {
  /** How many entries were added. */
  size = 0;
  readonly #keys: Keys;
  /** Entry numbers. Allocated with the first entry, because many tables stay empty. */
  #slots = new Int32Array(0);

  constructor(keys: Keys) {
    this.#keys = keys;
  }

  /** The number of the entry that `isSought`, or -1. */
  find(hash: number): number {
    const slots = this.#slots;
    const mask = slots.length - 1;
    let slot = hash & mask;
    for (let probe = 1; probe <= PROBES_MAX; probe += 1) {
      const entry = slots[slot] ?? FREE;
      if (entry === FREE || this.#keys.isSought(entry)) return entry;
      slot = (slot + probe) & mask;
    }
    return -1;
  }

  /** Numbers a new entry, whose key must be in place. */
  add(hash: number): number {
    const entry = this.size;
    this.size += 1;
    if (this.size > this.#slots.length * LOAD_MAX) this.#grow();
    else if (!this.#place(entry, hash) && this.size > this.#slots.length * LOAD_MIN) this.#grow();
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
    this.#slots = new Int32Array(Math.max(SLOTS_FIRST, this.#slots.length * 2)).fill(FREE);
    for (let entry = 0; entry < this.size; entry += 1) this.#place(entry, this.#keys.hashOf(entry));
  }
}
