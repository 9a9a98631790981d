import { type Labels, type PointBatch, POINT_KINDS, type Series } from '#core/metrics/point.ts';
import { TextNumbers } from '#core/metrics/text_numbers.ts';

/**
 * Points on their way to the store, in columns: row `i` is of the metric `names[name[i]]` and the series `key[i]`. Most
 * go without labels, which the store knows by the series' key once it has been told them.
 */
export interface PointColumns {
  readonly length: number;
  readonly names: readonly string[];
  readonly key: BigUint64Array;
  readonly value: Float64Array;
  /** Epoch milliseconds. */
  readonly at: Float64Array;
  readonly name: Uint32Array;
  /** A place in `POINT_KINDS`. */
  readonly kind: Uint8Array;
  readonly told: readonly ToldSeries[];
}

/** What the store is told of a series. */
export interface ToldSeries {
  readonly name: string;
  readonly key: bigint;
  readonly labels: Labels;
  /** When the newest of the points at hand was taken; 0 where there are only marks of its end. */
  readonly newestAt: number;
}

/** Whether a series is to be told; `newestAt` as there. */
export type NeedsTelling = (series: Series, newestAt: number) => boolean;

/** All points of the batch, with the labels of all series. */
export function columnsOf(points: PointBatch): PointColumns {
  const writer = new ColumnsWriter(points.length);
  writer.add(points, 0, points.length, () => true);
  return { ...writer.memory.rows(0, points.length), length: points.length, names: writer.names, told: writer.told };
}

type Rows = Pick<PointColumns, 'key' | 'value' | 'at' | 'name' | 'kind'>;

const ROW_BYTES = 29;

/** The columns of so many points in one stretch of memory, wide ones first so that each is aligned. */
export class ColumnsMemory {
  readonly bytes: Uint8Array;
  readonly #all: Rows;

  /** `from` holds what another's `bytes` held. */
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

  /** Not copies. */
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

/** Fills columns from batches, one behind the other. */
export class ColumnsWriter {
  readonly memory: ColumnsMemory;
  readonly told: ToldSeries[] = [];
  /** Rows written. */
  length = 0;
  readonly #numbers = new TextNumbers();
  #lastName: string | null = null;
  #lastNumber = 0;

  constructor(length: number) {
    this.memory = new ColumnsMemory(length);
  }

  get names(): readonly string[] {
    return this.#numbers.all;
  }

  /** Adds the points `from` up to `to` of a batch. */
  add(
    { at, value, kind, seriesIndex, series }: PointBatch,
    from: number,
    to: number,
    needsTelling: NeedsTelling,
  ): void {
    const rows = this.memory.rows(this.length, this.length + to - from);
    rows.at.set(at.subarray(from, to));
    rows.value.set(value.subarray(from, to));
    rows.kind.set(kind.subarray(from, to));
    const newest = new Float64Array(series.length).fill(Number.NaN);
    let key = 0n;
    let name = 0;
    let keyed = -1;
    for (let i = from; i < to; i += 1) {
      const index = seriesIndex[i] ?? 0;
      if (index !== keyed) {
        const one = series[index];
        if (one === undefined) throw new RangeError('a point is of no series');
        key = one.key;
        name = this.#numberOf(one.name);
        keyed = index;
      }
      rows.key[i - from] = key;
      rows.name[i - from] = name;
      const before = newest[index] ?? Number.NaN;
      const own = kind[i] === STALE ? 0 : (at[i] ?? 0);
      newest[index] = before > own ? before : own;
    }
    for (let index = 0; index < newest.length; index += 1) {
      const newestAt = newest[index] ?? Number.NaN;
      const one = series[index];
      if (one === undefined || Number.isNaN(newestAt) || !needsTelling(one, newestAt)) continue;
      this.told.push({ ...one, newestAt });
    }
    this.length += to - from;
  }

  /** In a scrape the series of a metric follow each other. */
  #numberOf(name: string): number {
    if (name !== this.#lastName) {
      this.#lastNumber = this.#numbers.of(name);
      this.#lastName = name;
    }
    return this.#lastNumber;
  }
}

const STALE = POINT_KINDS.indexOf('stale');
