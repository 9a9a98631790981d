/** What a point's value means. The position is the code in `PointBatch.kind` and in the store: append only. */
export const POINT_KINDS = ['gauge', 'counter', 'delta', 'stale'] as const;

/**
 * - `gauge`: a value that stands for itself.
 * - `counter`: the running total of a monotonic series, kept raw; what it grew by is worked out when it is read.
 * - `delta`: what was added since the point before; deltas are summed as they are.
 * - `stale`: the series ends here. Never a value: `value` is 0 and no aggregation sees it.
 */
export type PointKind = (typeof POINT_KINDS)[number];

const KIND_CODES = { gauge: 0, counter: 1, delta: 2, stale: 3 } as const satisfies Record<PointKind, number>;

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

const FIRST_CAPACITY = 256;

/**
 * The points of one request in columns: 21 bytes a point and no object each, which is what 100,000 points need.
 * Point `i` is `at[i]`, `value[i]`, `kind[i]` of `series[seriesIndex[i]]`; only the first `length` places count.
 * The same series may stand in `series` more than once.
 */
export class PointBatch {
  readonly series: Series[] = [];
  length = 0;
  seriesIndex: Uint32Array = new Uint32Array(FIRST_CAPACITY);
  at: Float64Array = new Float64Array(FIRST_CAPACITY);
  value: Float64Array = new Float64Array(FIRST_CAPACITY);
  kind: Uint8Array = new Uint8Array(FIRST_CAPACITY);

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
    this.kind[i] = KIND_CODES[kind];
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
    const capacity = this.at.length * 2;
    this.seriesIndex = copyInto(new Uint32Array(capacity), this.seriesIndex);
    this.at = copyInto(new Float64Array(capacity), this.at);
    this.value = copyInto(new Float64Array(capacity), this.value);
    this.kind = copyInto(new Uint8Array(capacity), this.kind);
  }
}

function copyInto<Column extends Uint32Array | Float64Array | Uint8Array>(wider: Column, column: Column): Column {
  wider.set(column);
  return wider;
}
