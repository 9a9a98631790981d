import { AnnouncedBuilder, type PointColumns } from '#modules/metrics/decide/announced_table.ts';
import { POINT_KINDS, type Series } from '#modules/metrics/decide/point.ts';
import type { PointBatch } from '#ingest/admission/point_batch.ts';
import { StringInterner } from '#kernel/string_interner.ts';

/** Whether to send the series' labels along; `newestAt` as in `AnnouncedSeries`. */
export type NeedsLabels = (series: Series, newestAt: number) => boolean;

type Rows = Pick<PointColumns, 'key' | 'value' | 'at' | 'name' | 'kind'>;

/** Bytes of a point in the columns. */
export const ROW_BYTES = 29;

/** The columns of `length` points in one allocation; the wide ones come first so that each is aligned. */
export class ColumnMemory {
  readonly bytes: Uint8Array;
  readonly #all: Rows;

  /** Allocates columns for `length` points; `from` is a copy of another instance's `bytes`. */
  constructor(length: number, from?: Uint8Array) {
    const memory = new ArrayBuffer(length * ROW_BYTES);
    this.bytes = new Uint8Array(memory);
    if (from !== undefined) this.bytes.set(from.subarray(0, memory.byteLength));
    this.#all = {
      key: new BigUint64Array(memory, 0, length),
      value: new Float64Array(memory, length * 8, length),
      at: new Float64Array(memory, length * 16, length),
      name: new Uint32Array(memory, length * 24, length),
      kind: new Uint8Array(memory, length * 28, length),
    };
  }

  /** Views, not copies. */
  rows(from: number, to: number): Rows {
    const { key, value, at, name, kind } = this.#all;
    return {
      key: key.subarray(from, to),
      value: value.subarray(from, to),
      at: at.subarray(from, to),
      name: name.subarray(from, to),
      kind: kind.subarray(from, to),
    };
  }
}

/** The first and the last of these positions of series. A request of many series is cut into parts, of a few series each. */
function rangeOf(
  seriesIndex: Uint32Array,
  from: number,
  to: number,
): { readonly first: number; readonly last: number } {
  let [first, last] = [Infinity, -1];
  for (let i = from; i < to; i += 1) {
    const index = seriesIndex[i] ?? 0;
    if (index < first) first = index;
    if (index > last) last = index;
  }
  return { first, last };
}

/** Copies parts of batches into columns, one after the other. */
export class ColumnWriter {
  readonly memory: ColumnMemory;
  readonly announced = new AnnouncedBuilder();
  /** Number of rows written so far. */
  length = 0;
  readonly #names = new StringInterner();
  #lastName: string | null = null;
  #lastNumber = 0;

  constructor(capacity: number) {
    this.memory = new ColumnMemory(capacity);
  }

  get names(): readonly string[] {
    return this.#names.strings;
  }

  /** Adds the points from `from` up to, but not including, `to`. */
  add({ at, value, kind, seriesIndex, series }: PointBatch, from: number, to: number, needsLabels: NeedsLabels): void {
    const rows = this.memory.rows(this.length, this.length + to - from);
    rows.at.set(at.subarray(from, to));
    rows.value.set(value.subarray(from, to));
    rows.kind.set(kind.subarray(from, to));
    const { first, last } = rangeOf(seriesIndex, from, to);
    /** Newest time of each series from the first on; NaN for one without points among these. */
    const newest = new Float64Array(Math.max(0, last - first + 1)).fill(Number.NaN);
    let key = 0n;
    let name = 0;
    let currentIndex = -1;
    for (let i = from; i < to; i += 1) {
      const index = seriesIndex[i] ?? 0;
      if (index !== currentIndex) {
        const current = series[index];
        if (current === undefined) throw new RangeError(`point ${i} refers to series ${index}, which does not exist`);
        key = current.key;
        name = this.#numberOf(current.name);
        currentIndex = index;
      }
      rows.key[i - from] = key;
      rows.name[i - from] = name;
      const code = kind[i];
      const time = code === STALE || code === START ? 0 : (at[i] ?? 0);
      const before = newest[index - first] ?? 0;
      newest[index - first] = before > time ? before : time;
    }
    for (let index = first; index <= last; index += 1) {
      const newestAt = newest[index - first] ?? Number.NaN;
      const entry = series[index];
      if (entry === undefined || Number.isNaN(newestAt) || !needsLabels(entry, newestAt)) continue;
      this.announced.add(entry, newestAt);
    }
    this.length += to - from;
  }

  /**
   * Returns the number of a name; cached for the last one, because in a scrape the series of one metric follow each
   * other.
   */
  #numberOf(name: string): number {
    if (name !== this.#lastName) {
      this.#lastNumber = this.#names.intern(name);
      this.#lastName = name;
    }
    return this.#lastNumber;
  }
}

const STALE = POINT_KINDS.indexOf('stale');
const START = POINT_KINDS.indexOf('start');
