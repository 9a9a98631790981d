import type { PointKind } from '#modules/metrics/decide/point.ts';
import type { AcceptedSeries } from '#ingest/admission/point_admission.ts';
import type { MetricTypes } from '#ingest/series/metric_types.ts';
import { hashSpan } from '#ingest/hashing/keyed_hash.ts';
import { isSameSpan, SpanIndex } from '#ingest/hashing/span_index.ts';

/** A decoded series, remembered by the bytes of its labels. */
export interface RememberedSeries extends AcceptedSeries {
  /** The length of those bytes. */
  readonly length: number;
  /** The kind of its points, as the types of this service were in this version. */
  kind: PointKind;
  types: MetricTypes;
  typesVersion: number;
}

/**
 * Limit on one generation; there are two. A series takes about a hundred bytes here, and three times as many elsewhere.
 */
const BYTES_MAX = 8 * 1024 * 1024;

/**
 * Remembers series from request to request by the bytes that were sent. Prometheus repeats all labels of a series with
 * each sample, in the same bytes, and decoding them is most of the work. What was not seen for long is forgotten. All
 * requests must have the same limits.
 */
export class SeriesMemory {
  #current = new Generation();
  #previous = new Generation();
  /** Hash of the span that was looked up last. */
  #soughtHash = 0;

  /**
   * The series that was added after the one found last, if the bytes from `start` begin with its bytes: series usually
   * come in the same order as before. More labels may follow before `end`, which make it another series.
   */
  findNext(view: DataView, start: number, end: number): RememberedSeries | undefined {
    return this.#current.findNext(view, start, end);
  }

  /** The series with exactly the bytes from `start` to `end`. */
  find(view: DataView, start: number, end: number): RememberedSeries | undefined {
    const hash = (this.#soughtHash = hashSpan(view, start, end));
    const current = this.#current.find(hash, view, start, end);
    if (current !== undefined) return current;
    const previous = this.#previous.find(hash, view, start, end);
    if (previous !== undefined) this.#add(hash, view, start, previous);
    return previous;
  }

  /** Remembers a series that `find` has just not found, by its bytes, which begin at `start`. */
  addSought(view: DataView, start: number, series: RememberedSeries): void {
    this.#add(this.#soughtHash, view, start, series);
  }

  #add(hash: number, view: DataView, start: number, series: RememberedSeries): void {
    if (this.#current.length + series.length > BYTES_MAX) {
      this.#previous = this.#current;
      this.#current = new Generation();
    }
    this.#current.add(hash, view, start, series);
  }
}

const CAPACITY_FIRST = 4 * 1024;

class Generation {
  /** Bytes in use. */
  length = 0;
  #view = new DataView(new ArrayBuffer(CAPACITY_FIRST));
  readonly #index = new SpanIndex(this.#view);
  readonly #series: RememberedSeries[] = [];
  /** The number of the series that was found last. */
  #last = -1;

  findNext(view: DataView, start: number, end: number): RememberedSeries | undefined {
    const number = this.#last + 1;
    const next = this.#series[number];
    if (next === undefined || next.length > end - start) return undefined;
    if (!isSameSpan(this.#view, this.#index.startOf(number), view, start, next.length)) return undefined;
    this.#last = number;
    return next;
  }

  find(hash: number, view: DataView, start: number, end: number): RememberedSeries | undefined {
    const number = this.#index.find(hash, view, start, end);
    if (number === -1) return undefined;
    this.#last = number;
    return this.#series[number];
  }

  add(hash: number, view: DataView, start: number, series: RememberedSeries): void {
    const end = this.length + series.length;
    if (end > this.#view.byteLength) this.#grow(end);
    new Uint8Array(this.#view.buffer).set(
      new Uint8Array(view.buffer, view.byteOffset + start, series.length),
      this.length,
    );
    this.#index.add(hash, this.length, end);
    this.length = end;
    this.#series.push(series);
  }

  #grow(needed: number): void {
    const wider = new Uint8Array(Math.min(BYTES_MAX, Math.max(needed, this.#view.byteLength * 2)));
    wider.set(new Uint8Array(this.#view.buffer, 0, this.length));
    this.#view = new DataView(wider.buffer);
    this.#index.move(this.#view);
  }
}
