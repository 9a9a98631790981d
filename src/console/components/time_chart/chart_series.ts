/** Line of a chart. Times are epoch milliseconds, oldest first; a value may stand at each. */
export interface ChartSeries {
  readonly name: string;
  readonly times: readonly number[];
  readonly values: readonly number[];
  /** Values that stand for more than themselves: the highest bound of a histogram, of quantiles that lie above it. */
  readonly openValues?: ReadonlySet<number>;
  /** Drawn dashed and pale, for what is compared with. */
  readonly isFaint?: boolean;
  /** Index of the colour in the palette; if left out, the index of the series. */
  readonly look?: number;
}

/** Moment marked by a vertical line, such as an incident or a deploy. */
export interface ChartMarker {
  readonly at: number;
  readonly label: string;
  /** Shorter forms of the label, the longest first, for where it has no room. */
  readonly shorter?: readonly string[];
  readonly tone: 'red' | 'amber' | 'green' | 'blue' | 'gray';
}

/** Period with a coloured background, such as the life of an incident. */
export interface ChartBand {
  readonly from: number;
  readonly to: number;
  readonly tone: ChartMarker['tone'];
  readonly label?: string;
}

/** Columns as uPlot takes them: one of x, in seconds, and one for each series. */
export type ChartColumns = [number[], ...(number | null | undefined)[][]];

/** Factor of the usual distance from which two points have a gap between them. */
const GAP_FACTOR = 2.5;

/**
 * Returns the usual distance between two neighbours: that of most of them. Points that were reduced stand in pairs, the
 * least and the greatest of a pixel, so every second point is compared.
 */
export function usualDistance(times: readonly number[], stepMs: number): number {
  const distances: number[] = [];
  for (let i = 2; i < times.length; i += 1) distances.push(((times[i] ?? 0) - (times[i - 2] ?? 0)) / 2);
  if (distances.length === 0) return times.length === 2 ? Number.POSITIVE_INFINITY : stepMs;
  distances.sort((a, b) => a - b);
  return Math.max(stepMs, distances[Math.floor(distances.length / 2)] ?? stepMs);
}

/** Returns the series in one table of all their times. A gap is null; a time that only others have is undefined. */
export function toColumns(series: readonly ChartSeries[], stepMs: number): ChartColumns {
  const columns = series.map((line) => withGaps(line, stepMs));
  const [only, ...others] = columns;
  if (only !== undefined && others.length === 0) return [only.times.map((at) => at / 1_000), only.values];
  const times = [...new Set(columns.flatMap(({ times: columnTimes }) => columnTimes))].sort((a, b) => a - b);
  const place = new Map(times.map((at, index) => [at, index]));
  return [
    times.map((at) => at / 1_000),
    ...columns.map(({ times: columnTimes, values }) => {
      const column: (number | null | undefined)[] = Array.from({ length: times.length });
      for (const [index, at] of columnTimes.entries()) column[place.get(at) ?? 0] = values[index];
      return column;
    }),
  ];
}

function withGaps({ times, values }: ChartSeries, stepMs: number): { times: number[]; values: (number | null)[] } {
  const limit = usualDistance(times, stepMs) * GAP_FACTOR;
  const spread = { times: [] as number[], values: [] as (number | null)[] };
  for (const [index, at] of times.entries()) {
    const before = times[index - 1];
    if (before !== undefined && at - before > limit) {
      spread.times.push((before + at) / 2);
      spread.values.push(null);
    }
    spread.times.push(at);
    spread.values.push(values[index] ?? null);
  }
  return spread;
}

/** Returns the lowest and the highest value of the axis: the threshold is always on it, and zero if it is near. */
export function yRangeOf(low: number | null, high: number | null, threshold: number | null): [number, number] {
  const bounds = [low, high, threshold].filter((value) => value !== null);
  if (bounds.length === 0) return [0, 1];
  const least = Math.min(...bounds);
  const greatest = Math.max(...bounds);
  const span = greatest - least;
  const size = Math.max(Math.abs(least), Math.abs(greatest));
  const isZeroNear = span === 0 || span > 0.2 * size;
  const min = least > 0 && isZeroNear ? 0 : least;
  const max = greatest < 0 && isZeroNear ? 0 : greatest;
  const room = (max - min || Math.abs(max) || 1) * 0.08;
  return [min === 0 ? 0 : min - room, max === 0 && min < 0 ? 0 : max + room];
}

/** Returns the value of the series at that time, or at its nearest point not further away than `withinMs`. */
export function valueNear(
  { times, values }: ChartSeries,
  at: number,
  withinMs: number,
): { readonly at: number; readonly value: number } | null {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((times[middle] ?? 0) < at) low = middle + 1;
    else high = middle;
  }
  const near = [low - 1, low]
    .filter((index) => index >= 0 && index < times.length)
    .sort((a, b) => Math.abs((times[a] ?? 0) - at) - Math.abs((times[b] ?? 0) - at))[0];
  if (near === undefined) return null;
  const nearest = { at: times[near] ?? 0, value: values[near] ?? 0 };
  return Math.abs(nearest.at - at) <= withinMs ? nearest : null;
}

/** Returns the chart as a sentence, for screen readers. */
export function summaryOf(
  series: readonly ChartSeries[],
  valueText: (value: number) => string,
  threshold: string | null = null,
): string {
  const said = series.filter(({ values }) => values.length > 0).slice(0, SAID_MAX);
  const parts = said.map(({ name, values }) => {
    const low = valueText(values.reduce((a, b) => Math.min(a, b)));
    const high = valueText(values.reduce((a, b) => Math.max(a, b)));
    return `${name}: ${values.length === 1 ? '1 point' : `${values.length} points`}, from ${low} to ${high}, last ${valueText(values.at(-1) ?? 0)}`;
  });
  if (parts.length === 0) return 'No points in this period.';
  const left = series.length - said.length;
  if (left > 0) parts.push(`${left} more series`);
  if (threshold !== null) parts.push(`threshold ${threshold}`);
  return `${parts.join('; ')}.`;
}

const SAID_MAX = 5;

/** Adds each column to those before it, for areas that stand on each other; a gap counts as nothing. */
export function stackColumns([times, ...columns]: ChartColumns): ChartColumns {
  const below = Array.from({ length: times.length }, () => 0);
  return [
    times,
    ...columns.map((column) =>
      column.map((value, index) => {
        if (value === null || value === undefined) return value;
        below[index] = (below[index] ?? 0) + value;
        return below[index];
      }),
    ),
  ];
}
