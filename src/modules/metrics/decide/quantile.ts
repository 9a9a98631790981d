import { gridBoundsBetween, isOfGrid, readRange } from '#modules/metrics/decide/exponential_buckets.ts';
import type { LabelMatcher, MetricSelector } from '#modules/metrics/decide/read_selector.ts';

/**
 * The labels of bounds and of quantiles, whose values are numbers: Prometheus 3 writes both as floats, where Prometheus
 * 2 kept what was exposed.
 */
const NUMBER_LABELS: ReadonlySet<string> = new Set(['le', 'quantile']);

/** A decimal number as Prometheus reads bounds, and no text that merely looks like one: `007`, `0x1`. */
const NUMERAL = /^[+-]?(?:(?:0|[1-9]\d*)(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;

/** Infinite upper bound, as Prometheus reads numbers, and as JavaScript and Java write them. */
const INFINITIES = /^\+?inf(?:inity)?$/i;
const INFINITE = '+Inf';

/** A fraction of zeros behind a digit, a class or a group in a pattern: `1.0`, `[15]\.0`. */
const ZERO_FRACTION = /(?<=[\d\])])\\?\.0+(?![\d*+?{])/g;

/** Query for a quantile of the observations of a histogram. */
export interface QuantileQuestion {
  /** Quantile from 0 to 1. */
  readonly quantile: number;
  /** The series of its buckets. */
  readonly buckets: MetricSelector;
}

const QUANTILE_LABEL = 'quantile';
const BUCKET_SUFFIX = '_bucket';

/** Series beside the buckets of a histogram, with the labels that all its buckets share. */
export const BESIDE_BUCKETS = ['min', 'max', 'count'] as const;
export type BesideBuckets = (typeof BESIDE_BUCKETS)[number];

/** The series of the least or greatest observations, or of the counts, of the histogram whose buckets these are. */
export function besideBuckets({ name, matchers }: MetricSelector, what: BesideBuckets): MetricSelector {
  return { name: `${name.slice(0, -BUCKET_SUFFIX.length)}_${what}`, matchers };
}

/** Returns the bounds of the observations: one counts only if as many series send it as count observations. */
export function valueBoundsOf(
  { min, max }: Readonly<Record<'min' | 'max', number | null>>,
  series: Readonly<Record<BesideBuckets, number>>,
): ValueBounds {
  const boundOf = (value: number | null, of: number): number | null =>
    value !== null && Number.isFinite(value) && of > 0 && of >= series.count ? value : null;
  return { least: boundOf(min, series.min), greatest: boundOf(max, series.max) };
}

/**
 * Reads the query for a quantile in `http_request_duration{quantile="0.95"}`, for a metric that is a histogram. Null
 * for a selector without `quantile="a number from 0 to 1"`. If a summary has series with this label, they are meant.
 */
export function quantileQuestionOf({ name, matchers }: MetricSelector): QuantileQuestion | null {
  const asked = matchers.filter(({ label }) => label === QUANTILE_LABEL);
  const [matcher] = asked;
  if (matcher === undefined || asked.length > 1) return null;
  const quantile = numberWanted(matcher);
  if (!(quantile >= 0 && quantile <= 1)) return null;
  const others = matchers.filter((candidate: LabelMatcher) => candidate !== matcher);
  return { quantile, buckets: { name: `${name}${BUCKET_SUFFIX}`, matchers: others } };
}

/** Kinds of metrics that are sent as single values. */
export const SINGLE_VALUE_KINDS = ['gauge', 'counter'] as const;
export type SingleValueKind = (typeof SINGLE_VALUE_KINDS)[number];

/** Explains why a quantile of such a metric cannot be answered, and what to do. */
export function noQuantilesText(metricName: string, kind: SingleValueKind): string {
  return `${metricName} is a ${kind} and has no quantiles: leave the label quantile out, or send it as a histogram`;
}

/** Explains why such a metric has no heatmap, and what to do. */
export function noHeatmapText(metricName: string, kind: SingleValueKind): string {
  return `${metricName} is a ${kind} and has no buckets: choose a histogram, or show it as a chart`;
}

/** Returns the series of the buckets of a histogram, named by its name or by that of its buckets. */
export function bucketsOfHistogram({ name, matchers }: MetricSelector): MetricSelector {
  return {
    name: name.endsWith(BUCKET_SUFFIX) ? name : `${name}${BUCKET_SUFFIX}`,
    matchers: matchers.filter(({ label }) => label !== QUANTILE_LABEL),
  };
}

/** Growth of the buckets with one bound or range, over all series: one of the two texts is empty. */
export interface BucketGrowth {
  /** Upper bound, in the text of the label `le`: the observations below lower bounds are included. */
  readonly le: string;
  /** Range (`exponential_buckets.ts`): no other observations are included. */
  readonly range: string;
  /** Text that classic buckets of the same bounds share; a bound says nothing of observations in others. */
  readonly layout: string;
  readonly growth: number;
}

/** Observations that lie above `from` and up to `to`. */
export interface Piece {
  readonly from: number;
  readonly to: number;
  readonly count: number;
  /** Whether they are spread evenly over logarithms, as in buckets of exponential histograms; else over values. */
  readonly isExponential: boolean;
}

/** Least and greatest observation, sent beside the buckets; null if not all senders send it. */
export interface ValueBounds {
  readonly least: number | null;
  readonly greatest: number | null;
}

const UNBOUNDED: ValueBounds = { least: null, greatest: null };

export interface QuantileValue {
  readonly value: number;
  /** The quantile lies above the highest bound, which is the value. */
  readonly isMoreThan: boolean;
}

/**
 * Returns the quantile of the observations that these buckets gained; null without any. Within a bucket observations
 * are taken to be spread evenly, as Prometheus does it: by value in classic buckets and those with bounds of the
 * sender's choice, by logarithm in exponential ones. Above the highest bound it is that bound, and below the lowest, if
 * that is not positive, the lowest. Null, too, in a bucket that bounds nothing.
 */
export function quantileOf(
  quantile: number,
  growths: readonly BucketGrowth[],
  bounds: ValueBounds = UNBOUNDED,
): QuantileValue | null {
  const pieces = boundedPieces(piecesOf(growths), bounds);
  const total = totalOf(pieces);
  if (!(total > 0)) return null;
  const rank = quantile * total;
  let before = 0;
  let last: Piece | null = null;
  let highest = -Infinity;
  for (const piece of pieces) {
    last = piece;
    if (before + piece.count >= rank) break;
    before += piece.count;
    highest = piece.to;
  }
  if (last === null) return null;
  // A sender with lower bounds than another says less of the highest observations, never less of a higher quantile.
  if (last.to === Infinity) return aboveAll(Math.max(last.from, highest === Infinity ? -Infinity : highest));
  return within(last, Math.min(1, Math.max(0, (rank - before) / last.count)));
}

/** Limit on the rows of a heatmap: with more of them, none can be told from the next. */
const HEATMAP_ROWS_MAX = 40;

/** Row of a heatmap: the observations above `from` and up to `to` in each column. */
export interface HeatmapRow {
  readonly from: number;
  readonly to: number;
  readonly counts: readonly number[];
}

/**
 * Returns the observations of each column in rows of common bounds, the lowest first; none without observations. Of a
 * bucket that several rows share, each has the share that `quantileOf` takes it to have. Rows at both ends hold something.
 */
export function heatmapOf(columns: readonly (readonly BucketGrowth[])[]): HeatmapRow[] {
  const pieces = columns.map(piecesOf);
  const bounds = rowBoundsOf(pieces.flat());
  const edges = [-Infinity, ...bounds, Infinity];
  const rows = edges
    .slice(1)
    .map((to, index) => ({ from: edges[index] ?? -Infinity, to, counts: columns.map(() => 0) }));
  for (const [column, ofColumn] of pieces.entries()) {
    for (const piece of ofColumn.filter(({ count }) => count > 0)) {
      for (const row of rows) {
        const share = shareWithin(piece, row);
        if (share > 0) row.counts[column] = (row.counts[column] ?? 0) + piece.count * share;
      }
    }
  }
  const isFilled = rows.map(({ counts }) => counts.some((count) => count > 0));
  return rows.slice(isFilled.indexOf(true), isFilled.lastIndexOf(true) + 1);
}

/** Returns the share of a piece that lies within a row; one that is open stands in the row where its bound is. */
function shareWithin(piece: Piece, { from, to }: Pick<HeatmapRow, 'from' | 'to'>): number {
  if (piece.to === Infinity) return piece.from >= from && piece.from < to ? 1 : 0;
  if (piece.from === -Infinity || piece.from === piece.to) return piece.to > from && piece.to <= to ? 1 : 0;
  const [low, high] = [Math.max(piece.from, from), Math.min(piece.to, to)];
  return low >= high ? 0 : shareBelow(piece, high) - shareBelow(piece, low);
}

/** Returns the bounds of rows: those of the buckets, the grid of exponential ones without gaps, and not too many. */
function rowBoundsOf(pieces: readonly Piece[]): number[] {
  const finite = new Set(pieces.flatMap(({ from, to }) => [from, to]).filter(Number.isFinite));
  const exponential = pieces.filter(({ isExponential, from }) => isExponential && from > 0);
  if (exponential.length > 0) {
    const lowest = exponential.reduce((least, { from }) => Math.min(least, from), Infinity);
    const highest = exponential.reduce((most, { to }) => Math.max(most, to), 0);
    for (const bound of gridBoundsBetween(lowest, highest)) finite.add(bound);
  }
  const bounds = [...finite].sort((a, b) => a - b);
  const each = Math.ceil(bounds.length / HEATMAP_ROWS_MAX);
  return bounds.filter((_, place) => place % each === 0 || place === bounds.length - 1);
}

function aboveAll(bound: number): QuantileValue | null {
  return bound === -Infinity ? null : { value: bound, isMoreThan: true };
}

/**
 * The pieces that hold anything, without what lies below the least and above the greatest observation. A metric with
 * the name of a greatest value that is something else contradicts the buckets, and then it is left out of account.
 */
function boundedPieces(pieces: readonly Piece[], { least, greatest }: ValueBounds): readonly Piece[] {
  const filled = pieces.filter(({ count }) => count > 0);
  const [first, last] = [filled[0], filled.at(-1)];
  if (first === undefined || last === undefined) return filled;
  const from = least !== null && least >= first.from && least <= first.to ? least : first.from;
  const to = greatest !== null && greatest > last.from && greatest <= last.to ? greatest : last.to;
  if (first === last) {
    // The observations up to a positive bound are taken to begin at zero, as in classic buckets.
    const isOpen = from === -Infinity && first.to === Infinity && to > 0 && to < Infinity;
    return from <= to ? [{ ...first, from: isOpen ? 0 : from, to }] : filled;
  }
  return [{ ...first, from }, ...filled.slice(1, -1), { ...last, to }];
}

/** Returns the finer of two forms that hold as many observations; both, if some senders use one and others the other. */
function piecesOf(growths: readonly BucketGrowth[]): readonly Piece[] {
  const layouts = [...Map.groupBy(growths, ({ layout }) => layout).values()].map(classicPieces);
  const [ranges, classic] = [rangePieces(growths), joinedPieces(layouts)];
  if (ranges.length === 0) return classic;
  const isSame =
    totalOf(classic) <= totalOf(ranges) * (1 + SAME_SHARE) && totalOf(classic) >= totalOf(ranges) * (1 - SAME_SHARE);
  return classic.length === 0 || isSame ? ranges : cutUp([...ranges, ...classic.filter(({ count }) => count > 0)]);
}

/**
 * The pieces of senders with different bounds, each cut at the bounds of the others. One that bounds nothing says nothing
 * where others do.
 */
function joinedPieces(layouts: readonly (readonly Piece[])[]): readonly Piece[] {
  const filled = layouts.map((pieces) => pieces.filter(({ count }) => count > 0)).filter((pieces) => pieces.length > 0);
  if (filled.length < 2) return filled[0] ?? [];
  const bounding = filled.flat().filter(({ from, to }) => from !== -Infinity || to !== Infinity);
  return cutUp(bounding.length === 0 ? filled.flat() : bounding);
}

/** Tolerance for both forms of a sender, which may be stored a moment apart. */
const SAME_SHARE = 0.02;

function totalOf(pieces: readonly Piece[]): number {
  return pieces.reduce((sum, { count }) => sum + count, 0);
}

/** Cuts pieces that overlap at each bound, so that they do not; each part has its share of the observations. */
function cutUp(pieces: readonly Piece[]): Piece[] {
  const bounds = [...new Set(pieces.flatMap(({ from, to }) => [from, to]))].sort((a, b) => a - b);
  const parts = new Map<string, Piece>();
  const add = (part: Piece): void => {
    const key = `${part.from} ${part.to}`;
    const earlierPart = parts.get(key);
    const isExponential = part.isExponential && (earlierPart?.isExponential ?? true);
    parts.set(key, { ...part, count: part.count + (earlierPart?.count ?? 0), isExponential });
  };
  for (const piece of pieces) {
    const { from, to } = piece;
    if (!Number.isFinite(to - from) || from === to) {
      add(piece);
      continue;
    }
    const cuts = bounds.filter((bound) => bound >= from && bound <= to);
    for (const [index, end] of cuts.slice(1).entries()) {
      const begin = cuts[index] ?? from;
      add({ ...piece, from: begin, to: end, count: piece.count * (shareBelow(piece, end) - shareBelow(piece, begin)) });
    }
  }
  return [...parts.values()].sort((a, b) => a.to - b.to || a.from - b.from);
}

/** Returns the share of a piece that lies below a value within it. */
function shareBelow({ from, to, isExponential }: Piece, value: number): number {
  if (!isExponential || from * to <= 0) return (value - from) / (to - from);
  return Math.log(value / from) / Math.log(to / from);
}

function within({ from, to, isExponential }: Piece, share: number): QuantileValue {
  const isEven = !isExponential || from * to <= 0;
  const value = isEven ? from + (to - from) * share : from * (to / from) ** share;
  if (from === -Infinity) return { value: to, isMoreThan: false };
  // Rounding leads a little beyond the ends.
  return { value: Math.min(Math.max(value, from), to), isMoreThan: false };
}

function rangePieces(growths: readonly BucketGrowth[]): Piece[] {
  const pieces: Piece[] = [];
  for (const { range, growth } of growths) {
    const read = range === '' ? null : readRange(range);
    if (read !== null && growth > 0) pieces.push({ ...read, count: growth, isExponential: isOfGrid(read) });
  }
  return pieces.sort((a, b) => a.to - b.to || a.from - b.from);
}

/**
 * Returns the pieces of classic buckets. Counts of bounds contain those of lower ones. If a higher bound has less, as a
 * sample was late, it has as much.
 */
function classicPieces(growths: readonly BucketGrowth[]): Piece[] {
  const bounds = new Map<number, number>();
  for (const { le, growth } of growths) {
    const bound = le === '' ? Number.NaN : readBound(le);
    if (!Number.isNaN(bound)) bounds.set(bound, (bounds.get(bound) ?? 0) + growth);
  }
  const pieces: Piece[] = [];
  let counted = 0;
  let from: number | null = null;
  for (const [to, upTo] of [...bounds].sort(([a], [b]) => a - b)) {
    const lowest = to > 0 && to < Infinity ? 0 : -Infinity;
    const count = Math.max(0, upTo - counted);
    pieces.push({ from: from ?? lowest, to, count, isExponential: false });
    counted += count;
    from = to;
  }
  return pieces;
}

function readBound(le: string): number {
  if (le === '+Inf' || le === 'Inf') return Infinity;
  return le.trim() === '' ? Number.NaN : Number(le);
}

/**
 * The bound in the one spelling that is stored, which is that of OpenTelemetry's numbers: `1.0`, `1` and `1e+00` are one
 * bucket. Prometheus 3 writes what Prometheus 2 wrote as `1` as `1.0`. Other texts stay as they are.
 */
export function boundText(text: string): string {
  if (INFINITIES.test(text)) return INFINITE;
  return NUMERAL.test(text) ? String(Number(text)) : text;
}

export function labelText(label: string, value: string): string {
  return NUMBER_LABELS.has(label) ? boundText(value) : value;
}

/** The same condition on the number, in every spelling that has been stored; null where nothing changes. */
export function boundMatcher({ label, operator, value }: LabelMatcher): LabelMatcher | null {
  if (!NUMBER_LABELS.has(label)) return null;
  if (operator === '=~' || operator === '!~') {
    const pattern = value.replaceAll(ZERO_FRACTION, '(?:$&)?');
    return pattern === value ? null : { label, operator, value: pattern };
  }
  const bound = boundText(value);
  const spellings = [...new Set([bound, value, ...(/^-?\d+$/.test(bound) ? [`${bound}.0`] : [])])];
  if (spellings.length === 1) return null;
  const pattern = spellings.map((spelling) => spelling.replaceAll(/[.+]/g, String.raw`\$&`)).join('|');
  return { label, operator: operator === '=' ? '=~' : '!~', value: pattern };
}

/** The one number that a matcher wants, in whichever spellings; NaN where it wants something else. */
function numberWanted({ operator, value }: LabelMatcher): number {
  if (operator !== '=' && operator !== '=~') return Number.NaN;
  const texts = operator === '=' ? [value] : value.replaceAll('\\', '').split('|');
  const [first = Number.NaN, ...others] = texts.map((text) => (text.trim() === '' ? Number.NaN : Number(text)));
  return others.every((other) => other === first) ? first : Number.NaN;
}
