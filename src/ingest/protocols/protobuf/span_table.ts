import { hashSpan, isSameSpan } from '#ingest/protocols/protobuf/span_hash.ts';
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
  readonly #view: DataView;
  /** None until they are needed: of most bodies no stretch is asked about. */
  #slots = new Int32Array(0);

  constructor(reader: WireReader) {
    this.#view = reader.view;
  }

  numberOf(start: number, end: number): number {
    if (this.#slots.length === 0) this.#slots = new Int32Array(SLOTS_FIRST).fill(-1);
    const hash = hashSpan(this.#view, start, end);
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

  #isSame(number: number, start: number, end: number): boolean {
    const length = end - start;
    return (
      this.#lengths[number] === length && isSameSpan(this.#view, this.#starts[number] ?? 0, this.#view, start, length)
    );
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
