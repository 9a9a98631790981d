import type { Label } from '#ingest/admission/labels.ts';
import {
  type Exemplar,
  exemplarName,
  EXEMPLARS_A_REQUEST,
  isWithinHistogram,
  spanIdOf,
  traceIdOf,
} from '#modules/metrics/decide/exemplar.ts';
import { POINT_KINDS, type PointKind, type Series } from '#modules/metrics/decide/point.ts';
import { freeBytes } from '#kernel/free_bytes.ts';

const CAPACITY_MIN = 64;
/** Bytes that a point takes in memory. */
export const POINT_BYTES = 21;

/**
 * The points of one request in columns: 21 bytes a point and no object per point, because a request may hold 100,000.
 * Point `i` is `at[i]`, `value[i]`, `kind[i]` of `series[seriesIndex[i]]`; only the first `length` entries are valid.
 * `series` may contain the same series more than once.
 */
export class PointBatch {
  readonly series: Series[] = [];
  length = 0;
  at: Float64Array;
  value: Float64Array;
  seriesIndex: Uint32Array;
  kind: Uint8Array;

  /** Grows when more than `capacity` points are added. */
  constructor(capacity = 256) {
    const columns = columnsFor(Math.max(CAPACITY_MIN, capacity));
    this.at = columns.at;
    this.value = columns.value;
    this.seriesIndex = columns.seriesIndex;
    this.kind = columns.kind;
  }

  /** Returns the index by which `add` refers to the series. */
  addSeries(series: Series): number {
    return this.series.push(series) - 1;
  }

  add(seriesIndex: number, at: number, value: number, kind: PointKind): void {
    const i = this.length;
    if (i === this.at.length) this.#grow();
    this.seriesIndex[i] = seriesIndex;
    this.at[i] = at;
    this.value[i] = value;
    this.kind[i] = KIND_CODES[kind];
    this.length = i + 1;
  }

  #grow(): void {
    const { at, value, seriesIndex, kind } = columnsFor(this.at.length * 2);
    at.set(this.at);
    value.set(this.value);
    seriesIndex.set(this.seriesIndex);
    kind.set(this.kind);
    freeBytes(new Uint8Array(this.at.buffer));
    Object.assign(this, { at, value, seriesIndex, kind });
  }
}

/** The position of each kind in `POINT_KINDS`. */
const KIND_CODES = Object.fromEntries(POINT_KINDS.map((kind, code) => [kind, code])) as Record<PointKind, number>;

type Columns = Pick<PointBatch, 'at' | 'value' | 'seriesIndex' | 'kind'>;

/** Allocates all columns at once; the wide ones come first so that each is aligned. */
function columnsFor(capacity: number): Columns {
  const memory = new ArrayBuffer(capacity * POINT_BYTES);
  return {
    at: new Float64Array(memory, 0, capacity),
    value: new Float64Array(memory, capacity * 8, capacity),
    seriesIndex: new Uint32Array(memory, capacity * 16, capacity),
    kind: new Uint8Array(memory, capacity * 20, capacity),
  };
}

/** An exemplar as it was sent, in any protocol. */
export interface SentExemplar {
  /** Time in epoch milliseconds; NaN if it was not sent. */
  readonly at: number;
  readonly value: number;
  readonly traceId: string;
  readonly spanId: string;
}

/** Limit on the exemplars read from one request, kept or not. */
const READ_MAX = 2 * EXEMPLARS_A_REQUEST;

/** The exemplars of one request: those that name a trace, as many as are of use. Others are left out, and no fault. */
export class Exemplars {
  readonly kept: Exemplar[] = [];
  #read = 0;
  readonly #oldest: number;
  readonly #newest: number;

  constructor(oldest: number, newest: number) {
    this.#oldest = oldest;
    this.#newest = newest;
  }

  /** Whether a further one may be read: reading them must not cost more than the points. */
  mayRead(): boolean {
    this.#read += 1;
    return this.#read <= READ_MAX;
  }

  /** Adds an exemplar of an accepted series. Returns whether it was kept. */
  add(name: string, labels: readonly Label[], { at, value, traceId, spanId }: SentExemplar): boolean {
    if (this.kept.length >= EXEMPLARS_A_REQUEST || !Number.isFinite(value)) return false;
    if (!(at >= this.#oldest && at <= this.#newest)) return false;
    const trace = traceIdOf(traceId);
    if (trace === null) return false;
    const pairs = labels
      .filter((label) => label.fault === null && label.value !== '' && !isWithinHistogram(label.name))
      .toSorted((a, b) => (a.name < b.name ? -1 : Number(a.name > b.name)))
      .flatMap((label) => [label.name, label.value]);
    this.kept.push({ name: exemplarName(name), labels: pairs, at, value, traceId: trace, spanId: spanIdOf(spanId) });
    return true;
  }
}
