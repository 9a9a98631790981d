import { isSameStart } from '#modules/metrics/decide/counter_writers.ts';
import type { GridHistogram } from '#modules/metrics/decide/exponential_buckets.ts';

/** An export of an exponential histogram. */
export interface HistogramExport {
  /** Start time; NaN if unknown. */
  readonly startAt: number;
  readonly at: number;
  /** Grid of the buckets; null if they are of none. */
  readonly grid: GridHistogram | null;
}

/** Limit on the processes that write one histogram in turn. */
const WRITERS_MAX = 4;

/** The last exports of histograms, one for each process that writes, by the key of the series of their count. */
export class HistogramMemory {
  /** The newest export last. */
  readonly #exports = new Map<bigint, readonly HistogramExport[]>();
  #buckets = 0;

  /** Approximate number of counters that take as much memory. */
  get size(): number {
    return this.#exports.size + this.#buckets;
  }

  of(key: bigint): readonly HistogramExport[] | undefined {
    return this.#exports.get(key);
  }

  set(key: bigint, exports: readonly HistogramExport[]): void {
    this.#buckets += bucketsOf(exports) - bucketsOf(this.#exports.get(key) ?? []);
    this.#exports.set(key, exports);
  }

  addAll(newer: HistogramMemory): void {
    for (const [key, exports] of newer.#exports) this.set(key, exports);
  }
}

/** The exports once this one was sent: it takes the place of the one of the same process before it. */
export function withExport(exports: readonly HistogramExport[], sent: HistogramExport): readonly HistogramExport[] {
  return [...exports.filter((writer) => !isSameWriter(writer, sent)), sent].slice(-WRITERS_MAX);
}

type Writer = Pick<HistogramExport, 'startAt'>;

export function isSameWriter(a: Writer, b: Writer): boolean {
  if (Number.isNaN(a.startAt) || Number.isNaN(b.startAt)) return Number.isNaN(a.startAt) && Number.isNaN(b.startAt);
  return isSameStart(a.startAt, b.startAt);
}

function bucketsOf(exports: readonly HistogramExport[]): number {
  return exports.reduce((sum, { grid }) => sum + (grid?.buckets.length ?? 0), 0);
}
