/** Names in a message; the count is of all. */
const NAMED_MAX = 5;
const COUNTED_MAX = 1_000;

/** Metrics of one request with series that several streams share. */
export interface SharedSeries {
  readonly count: number;
  readonly named: readonly string[];
}

export const NOTHING_SHARED: SharedSeries = { count: 0, named: [] };

/**
 * Finds series of one request that several streams share: of points of one time, only the last is stored. A stream is a
 * resource with its scope; two points of one time that differ are two streams, too.
 */
export class SharedSeriesFinder {
  readonly #streams: number[] = [];
  readonly #times: number[] = [];
  readonly #values: number[] = [];
  readonly #metrics = new Set<string>();

  /** Notes a point of the series with this index in the batch. */
  note(series: number, stream: number, at: number, value: number, metricName: string): void {
    const before = this.#streams[series];
    const isOther = before !== undefined && (before !== stream || this.#isOverwritten(series, at, value));
    if (isOther && this.#metrics.size < COUNTED_MAX) this.#metrics.add(metricName);
    this.#streams[series] = stream;
    this.#times[series] = at;
    this.#values[series] = value;
  }

  result(): SharedSeries {
    if (this.#metrics.size === 0) return NOTHING_SHARED;
    return { count: this.#metrics.size, named: [...this.#metrics].slice(0, NAMED_MAX) };
  }

  #isOverwritten(series: number, at: number, value: number): boolean {
    return this.#times[series] === at && this.#values[series] !== value;
  }
}

/** Describes shared series: `2 metrics have series that several streams share: up, down. …` */
export function describeSharedSeries({ count, named }: SharedSeries): string {
  const more = count > named.length ? ', …' : '';
  const what = count === 1 ? 'metric has series' : 'metrics have series';
  return (
    `${count} ${what} that several streams of this request share, so of points of one time only the last is stored: ` +
    `${named.join(', ')}${more}. Give each stream an attribute that distinguishes it, such as service.instance.id`
  );
}
