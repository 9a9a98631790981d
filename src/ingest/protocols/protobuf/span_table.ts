import type { WireReader } from '#ingest/protocols/protobuf/wire_reader.ts';

const SLOTS_FIRST = 1024;
/** Bodies made to collide cost a few wasted comparisons a span, never a walk through the whole table. */
const PROBES_MAX = 6;

/**
 * Gives equal stretches of one body the same number, counted from 0. Nine in ten labels of a scrape are repeats, and
 * turning bytes into strings costs more than everything else about them; by their number they are decoded once.
 * A stretch may rarely get a second number, so equal numbers mean equal bytes, but not the other way round.
 */
export class SpanTable {
  /** How many numbers were given. */
  size = 0;
  readonly #starts: number[] = [];
  readonly #lengths: number[] = [];
  readonly #hashes: number[] = [];
  readonly #bytes: Buffer;
  readonly #view: DataView;
  #slots = new Int32Array(SLOTS_FIRST).fill(-1);

  constructor(reader: WireReader) {
    this.#bytes = reader.bytes;
    this.#view = reader.view;
  }

  numberOf(start: number, end: number): number {
    const hash = this.#hash(start, end);
    const mask = this.#slots.length - 1;
    for (let probe = 0; probe < PROBES_MAX; probe += 1) {
      const slot = (hash + probe) & mask;
      const number = this.#slots[slot] ?? -1;
      if (number === -1) {
        this.#slots[slot] = this.size;
        return this.#append(hash, start, end);
      }
      if (this.#hashes[number] === hash && this.#isSame(number, start, end)) return number;
    }
    return this.#append(hash, start, end);
  }

  #hash(start: number, end: number): number {
    const view = this.#view;
    let hash = 0x811c9dc5 ^ (end - start);
    let i = start;
    for (; i + 4 <= end; i += 4) {
      hash = Math.imul(hash ^ view.getInt32(i, true), 0x85ebca6b);
      hash ^= hash >>> 15;
    }
    for (; i < end; i += 1) hash = Math.imul(hash ^ view.getUint8(i), 0x01000193);
    return hash ^ (hash >>> 13);
  }

  #isSame(number: number, start: number, end: number): boolean {
    const length = end - start;
    if (this.#lengths[number] !== length) return false;
    const view = this.#view;
    const other = this.#starts[number] ?? 0;
    let i = 0;
    for (; i + 4 <= length; i += 4) if (view.getInt32(other + i, true) !== view.getInt32(start + i, true)) return false;
    for (; i < length; i += 1) if (this.#bytes[other + i] !== this.#bytes[start + i]) return false;
    return true;
  }

  #append(hash: number, start: number, end: number): number {
    this.#starts.push(start);
    this.#lengths.push(end - start);
    this.#hashes.push(hash);
    this.size += 1;
    if (this.size * 2 > this.#slots.length) this.#grow();
    return this.size - 1;
  }

  /** Stretches that find no place within their probes stay out, and get a new number when they return. */
  #grow(): void {
    const slots = new Int32Array(this.#slots.length * 4).fill(-1);
    const mask = slots.length - 1;
    for (let number = 0; number < this.size; number += 1) {
      const hash = this.#hashes[number] ?? 0;
      for (let probe = 0; probe < PROBES_MAX; probe += 1) {
        const slot = (hash + probe) & mask;
        if (slots[slot] !== -1) continue;
        slots[slot] = number;
        break;
      }
    }
    this.#slots = slots;
  }
}
