/** What a point's value means. The position is the code in `PointBatch.kind` and in the store: append only. */
export const POINT_KINDS = ['gauge', 'counter', 'delta', 'stale'] as const;

/**
 * - `gauge`: a value that stands for itself.
 * - `counter`: the running total of a monotonic series, kept raw; what it grew by is worked out when it is read.
 * - `delta`: what was added since the point before; deltas are summed as they are.
 * - `stale`: the series ends here. Never a value: `value` is 0 and no aggregation sees it.
 */
export type PointKind = (typeof POINT_KINDS)[number];

/** To look it up by its text would take as long as all else about adding a point. */
function codeOf(kind: PointKind): number {
  switch (kind) {
    case 'gauge':
      return 0;
    case 'counter':
      return 1;
    case 'delta':
      return 2;
    case 'stale':
      return 3;
  }
}

/** Label names and values in turn, sorted by name, none empty: `['code', '200', 'route', '/a']`. */
export type Labels = readonly string[];

export interface Series {
  readonly name: string;
  readonly labels: Labels;
  /** What `seriesKey` says, an unsigned number of 64 bits. */
  readonly key: bigint;
}

/** One point on its own, as people and tests read it. `at` is in epoch milliseconds. */
export interface MetricPoint {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly at: number;
  readonly value: number;
  readonly kind: PointKind;
}

/** The label set as an object without a prototype, so that a label may be called `__proto__`. */
function toLabelRecord(labels: Labels): Record<string, string> {
  const record: Record<string, string> = Object.create(null);
  for (let i = 0; i < labels.length; i += 2) record[labels[i] ?? ''] = labels[i + 1] ?? '';
  return record;
}

const CAPACITY_LEAST = 64;
const POINT_BYTES = 21;

/**
 * The points of one request in columns: 21 bytes a point and no object each, which is what 100,000 points need.
 * Point `i` is `at[i]`, `value[i]`, `kind[i]` of `series[seriesIndex[i]]`; only the first `length` places count.
 * The same series may stand in `series` more than once.
 */
export class PointBatch {
  readonly series: Series[] = [];
  length = 0;
  at: Float64Array;
  value: Float64Array;
  seriesIndex: Uint32Array;
  kind: Uint8Array;

  /** With room for so many points, and for more when they come. */
  constructor(capacity = 256) {
    const columns = columnsFor(Math.max(CAPACITY_LEAST, capacity));
    this.at = columns.at;
    this.value = columns.value;
    this.seriesIndex = columns.seriesIndex;
    this.kind = columns.kind;
  }

  /** Returns the index under which points name the series. */
  addSeries(series: Series): number {
    return this.series.push(series) - 1;
  }

  add(seriesIndex: number, at: number, value: number, kind: PointKind): void {
    const i = this.length;
    if (i === this.at.length) this.#grow();
    this.seriesIndex[i] = seriesIndex;
    this.at[i] = at;
    this.value[i] = value;
    this.kind[i] = codeOf(kind);
    this.length = i + 1;
  }

  point(index: number): MetricPoint {
    const series = this.series[this.seriesIndex[index] ?? -1];
    const kind = POINT_KINDS[this.kind[index] ?? -1];
    if (index >= this.length || series === undefined || kind === undefined) throw new RangeError(`no point ${index}`);
    const labels = toLabelRecord(series.labels);
    return { name: series.name, labels, at: this.at[index] ?? 0, value: this.value[index] ?? 0, kind };
  }

  #grow(): void {
    const { at, value, seriesIndex, kind } = columnsFor(this.at.length * 2);
    at.set(this.at);
    value.set(this.value);
    seriesIndex.set(this.seriesIndex);
    kind.set(this.kind);
    Object.assign(this, { at, value, seriesIndex, kind });
  }
}

type Columns = Pick<PointBatch, 'at' | 'value' | 'seriesIndex' | 'kind'>;

/** In one stretch of memory, wide ones first so that each is aligned. */
function columnsFor(capacity: number): Columns {
  const memory = new ArrayBuffer(capacity * POINT_BYTES);
  return {
    at: new Float64Array(memory, 0, capacity),
    value: new Float64Array(memory, capacity * 8, capacity),
    seriesIndex: new Uint32Array(memory, capacity * 16, capacity),
    kind: new Uint8Array(memory, capacity * 20, capacity),
  };
}
