import type { TakenSeries } from '#core/metrics/admission.ts';
import type { PointKind } from '#core/metrics/point.ts';
import { hashSpan, isSameSpan } from '#ingest/protocols/protobuf/span_hash.ts';

/** What the bytes of a time series' labels came to. */
export interface RememberedSeries extends TakenSeries {
  /** How many bytes those are. */
  readonly length: number;
  /** Of its points, where no metadata of the request says otherwise. */
  readonly kind: PointKind;
}

/** Of one generation; there are two. A series takes some hundred of these, and about three times as much beside them. */
const BYTES_MAX = 8 * 1024 * 1024;

/**
 * Remembers series from request to request by the bytes in which they were sent. Prometheus spells all labels of a
 * series out with each sample, always alike, and reading them is most of the work. What was not seen for long is
 * forgotten. It holds what was taken under one set of limits.
 */
export class SeriesMemory {
  #current = new Generation();
  #before = new Generation();

  /**
   * The one that was added behind the one found last, if the bytes from `start` begin with its own: series come in the
   * order in which they came before. More labels may follow before the `end`, which make it another series.
   */
  findNext(view: DataView, start: number, end: number): RememberedSeries | undefined {
    return this.#current.findNext(view, start, end);
  }

  /** By all bytes from `start` to `end`. */
  find(view: DataView, start: number, end: number): RememberedSeries | undefined {
    const hash = hashSpan(view, start, end);
    const current = this.#current.find(hash, view, start, end);
    if (current !== undefined) return current;
    const before = this.#before.find(hash, view, start, end);
    if (before !== undefined) this.#add(hash, view, start, end, before);
    return before;
  }

  /** By the bytes from `start`, as many as are its. */
  add(view: DataView, start: number, series: RememberedSeries): void {
    const end = start + series.length;
    this.#add(hashSpan(view, start, end), view, start, end, series);
  }

  #add(hash: number, view: DataView, start: number, end: number, series: RememberedSeries): void {
    if (this.#current.length + end - start > BYTES_MAX) {
      this.#before = this.#current;
      this.#current = new Generation();
    }
    this.#current.add(hash, view, start, end, series);
  }
}

const BYTES_FIRST = 4 * 1024;
const SLOTS_FIRST = 64;
/** Bodies made to collide cost a few wasted comparisons a series; what finds no slot within these is not kept. */
const PROBES_MAX = 8;

class Generation {
  /** Bytes in use. */
  length = 0;
  #view = new DataView(new ArrayBuffer(BYTES_FIRST));
  #slots = new Int32Array(SLOTS_FIRST).fill(-1);
  /** The number of the series that was found last. */
  #last = -1;
  readonly #starts: number[] = [0];
  readonly #hashes: number[] = [];
  readonly #series: RememberedSeries[] = [];

  findNext(view: DataView, start: number, end: number): RememberedSeries | undefined {
    const number = this.#last + 1;
    const next = this.#series[number];
    if (next === undefined || next.length > end - start) return undefined;
    if (!isSameSpan(this.#view, this.#starts[number] ?? 0, view, start, next.length)) return undefined;
    this.#last = number;
    return next;
  }

  find(hash: number, view: DataView, start: number, end: number): RememberedSeries | undefined {
    const mask = this.#slots.length - 1;
    for (let probe = 0; probe < PROBES_MAX; probe += 1) {
      const number = this.#slots[(hash + probe) & mask] ?? -1;
      if (number === -1) return undefined;
      if (this.#hashes[number] !== hash || !this.#isSame(number, view, start, end)) continue;
      this.#last = number;
      return this.#series[number];
    }
    return undefined;
  }

  add(hash: number, view: DataView, start: number, end: number, series: RememberedSeries): void {
    if (this.#series.length * 2 >= this.#slots.length) this.#growSlots();
    if (!this.#place(hash, this.#series.length)) return;
    const length = end - start;
    if (this.length + length > this.#view.byteLength) this.#growBytes(this.length + length);
    const from = new Uint8Array(view.buffer, view.byteOffset + start, length);
    new Uint8Array(this.#view.buffer).set(from, this.length);
    this.length += length;
    this.#starts.push(this.length);
    this.#hashes.push(hash);
    this.#series.push(series);
  }

  #isSame(number: number, view: DataView, start: number, end: number): boolean {
    const own = this.#starts[number] ?? 0;
    const length = end - start;
    return (this.#starts[number + 1] ?? 0) - own === length && isSameSpan(this.#view, own, view, start, length);
  }

  /** False when there is no free slot near. */
  #place(hash: number, number: number): boolean {
    const mask = this.#slots.length - 1;
    for (let probe = 0; probe < PROBES_MAX; probe += 1) {
      const slot = (hash + probe) & mask;
      if (this.#slots[slot] !== -1) continue;
      this.#slots[slot] = number;
      return true;
    }
    return false;
  }

  #growSlots(): void {
    this.#slots = new Int32Array(this.#slots.length * 4).fill(-1);
    for (const [number, hash] of this.#hashes.entries()) this.#place(hash, number);
  }

  #growBytes(needed: number): void {
    const wider = new Uint8Array(Math.min(BYTES_MAX, Math.max(needed, this.#view.byteLength * 2)));
    wider.set(new Uint8Array(this.#view.buffer, 0, this.length));
    this.#view = new DataView(wider.buffer);
  }
}
