import { isOfGrid, readRange } from '#core/metrics/exponential_buckets.ts';
import type { LabelMatcher, MetricSelector } from '#core/metrics/read_selector.ts';

/** A question for a quantile of the observations of a histogram. */
export interface QuantileQuestion {
  /** From 0 to 1. */
  readonly quantile: number;
  /** The series of its buckets. */
  readonly buckets: MetricSelector;
}

const QUANTILE_LABEL = 'quantile';
const BUCKET_SUFFIX = '_bucket';

/**
 * What `http_request_duration{quantile="0.95"}` asks where the metric is a histogram. Null for a selector without
 * `quantile="a number from 0 to 1"`. A summary has series with this label, and then they are meant.
 */
export function quantileQuestionOf({ name, matchers }: MetricSelector): QuantileQuestion | null {
  const asked = matchers.filter(({ label }) => label === QUANTILE_LABEL);
  const [matcher] = asked;
  if (matcher === undefined || asked.length > 1 || matcher.operator !== '=') return null;
  const quantile = matcher.value.trim() === '' ? Number.NaN : Number(matcher.value);
  if (!(quantile >= 0 && quantile <= 1)) return null;
  const others = matchers.filter((one: LabelMatcher) => one !== matcher);
  return { quantile, buckets: { name: `${name}${BUCKET_SUFFIX}`, matchers: others } };
}

/** What a metric is that is sent as single values. */
export const SINGLE_VALUE_KINDS = ['gauge', 'counter'] as const;
export type SingleValueKind = (typeof SINGLE_VALUE_KINDS)[number];

/** Why a quantile of such a metric cannot be answered, and what to do. */
export function noQuantilesText(metricName: string, kind: SingleValueKind): string {
  return `${metricName} is a ${kind} and has no quantiles: leave the label quantile out, or send it as a histogram`;
}

/** What the buckets with one bound or range gained, over all series: one of the two texts is empty. */
interface BucketGrowth {
  /** Up to this bound, in the text of the label `le`: what lower bounds hold is contained. */
  readonly le: string;
  /** Within this range (`exponential_buckets.ts`): nothing else is contained. */
  readonly range: string;
  readonly growth: number;
}

/** Observations that lie above `from` and up to `to`. */
interface Piece {
  readonly from: number;
  readonly to: number;
  readonly count: number;
  /** Spread evenly over the logarithms, as in a bucket of an exponential histogram; else over the values. */
  readonly isExponential: boolean;
}

/**
 * The quantile of the observations that these buckets gained; null without any. Within a bucket observations are taken
 * to be spread evenly, as Prometheus does it: by value in classic buckets and those with bounds of the sender's choice, by
 * logarithm in exponential ones. Above the highest bound it is that bound, and below the lowest, if that is not positive,
 * the lowest.
 */
export function quantileOf(quantile: number, growths: readonly BucketGrowth[]): number | null {
  const pieces = piecesOf(growths);
  const total = totalOf(pieces);
  if (!(total > 0)) return null;
  const rank = quantile * total;
  let before = 0;
  let last: Piece | null = null;
  for (const piece of pieces) {
    if (piece.count <= 0) continue;
    last = piece;
    if (before + piece.count >= rank) break;
    before += piece.count;
  }
  return last === null ? null : within(last, Math.min(1, Math.max(0, (rank - before) / last.count)));
}

/** Of two forms of as many observations the finer one; where some senders have one form and others the other, both. */
function piecesOf(growths: readonly BucketGrowth[]): readonly Piece[] {
  const [ranges, classic] = [rangePieces(growths), classicPieces(growths)];
  if (ranges.length === 0) return classic;
  const isSame =
    totalOf(classic) <= totalOf(ranges) * (1 + SAME_SHARE) && totalOf(classic) >= totalOf(ranges) * (1 - SAME_SHARE);
  return classic.length === 0 || isSame ? ranges : cutUp([...ranges, ...classic.filter(({ count }) => count > 0)]);
}

/** Both forms of a sender may be stored a moment apart. */
const SAME_SHARE = 0.02;

function totalOf(pieces: readonly Piece[]): number {
  return pieces.reduce((sum, { count }) => sum + count, 0);
}

/** Pieces that overlap, as pieces that do not: cut at each bound, each part with its share of the observations. */
function cutUp(pieces: readonly Piece[]): Piece[] {
  const bounds = [...new Set(pieces.flatMap(({ from, to }) => [from, to]))].sort((a, b) => a - b);
  const parts = new Map<string, Piece>();
  const add = (part: Piece): void => {
    const key = `${part.from} ${part.to}`;
    const known = parts.get(key);
    const isExponential = part.isExponential && (known?.isExponential ?? true);
    parts.set(key, { ...part, count: part.count + (known?.count ?? 0), isExponential });
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

/** How much of a piece lies below a value within it. */
function shareBelow({ from, to, isExponential }: Piece, value: number): number {
  if (!isExponential || from * to <= 0) return (value - from) / (to - from);
  return Math.log(value / from) / Math.log(to / from);
}

function within({ from, to, isExponential }: Piece, share: number): number {
  if (to === Infinity) return from;
  if (from === -Infinity) return to;
  if (!isExponential || from * to <= 0) return from + (to - from) * share;
  return from * (to / from) ** share;
}

function rangePieces(growths: readonly BucketGrowth[]): Piece[] {
  const pieces: Piece[] = [];
  for (const { range, growth } of growths) {
    const read = range === '' ? null : readRange(range);
    if (read !== null && growth > 0) pieces.push({ ...read, count: growth, isExponential: isOfGrid(read) });
  }
  return pieces.sort((a, b) => a.to - b.to || a.from - b.from);
}

/** Counts of bounds contain those of lower ones. Where a higher bound has less, as a sample was late, it has as much. */
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
    const lowest = to > 0 ? 0 : -Infinity;
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
