/**
 * Returns what each bucket of a histogram held in the export before, in the layout of `now`; null if both have the same
 * layout. By Prometheus's specification of native histograms, a lower resolution and a wider zero bucket merge buckets
 * and are no reset; a higher resolution is one.
 */
export function bucketsBefore(before: SentHistogram, now: SentHistogram): readonly number[] | null {
  if ('bounds' in before && 'bounds' in now) return boundedBefore(before, now);
  if ('bounds' in before || 'bounds' in now) return now.buckets.map(() => 0);
  if (before.scale === now.scale && before.zeroThreshold === now.zeroThreshold) return null;
  if (now.scale > before.scale || now.zeroThreshold < before.zeroThreshold) return now.buckets.map(() => 0);
  const merged = new Map<string, number>();
  for (const bucket of before.buckets) {
    const index = bucket.side === 0 ? 0 : Math.floor(bucket.index / 2 ** (before.scale - now.scale));
    const isZero = bucket.side === 0 || isWithinZero(boundOf(bucket.index, before.scale), now.zeroThreshold);
    const key = isZero ? ZERO : keyOf({ side: bucket.side, index });
    merged.set(key, (merged.get(key) ?? 0) + bucket.count);
  }
  return now.buckets.map((bucket) => merged.get(keyOf(bucket)) ?? 0);
}

/**
 * Returns a histogram in a layout that is nowhere finer than in the export before, unless its sender's own became finer:
 * a wider zero bucket leaves fewer others, which would no longer have to be merged here, and that is no reset.
 */
export function asCoarse(now: SentHistogram, before: SentHistogram): SentHistogram {
  if ('bounds' in now || 'bounds' in before) return now;
  const isFiner = now.scale > before.scale || now.zeroThreshold < before.zeroThreshold;
  const isReset = now.sent.scale > before.sent.scale || now.sent.zeroThreshold < before.sent.zeroThreshold;
  if (!isFiner || isReset || totalOf(now) < totalOf(before)) return now;
  const scale = Math.min(now.scale, before.scale);
  const sideOf = (wanted: -1 | 1): Map<number, number> => {
    const buckets = now.buckets.filter(({ side }) => side === wanted);
    const side = { offset: 0, counts: buckets.map(({ count }) => count), indexes: buckets.map(({ index }) => index) };
    return merge(side, now.scale - scale);
  };
  return layOut({
    scale,
    zeroCount: now.buckets.find(({ side }) => side === 0)?.count ?? 0,
    zeroThreshold: Math.max(now.zeroThreshold, before.zeroThreshold),
    below: sideOf(-1),
    above: sideOf(1),
    sent: now.sent,
  });
}

/**
 * The same where the sender chose the bounds: between two bounds that both exports have, observations are counted
 * whatever further bounds divide them. Of what was there before, each bucket has the share that it has now.
 */
function boundedBefore(before: BoundedHistogram, now: BoundedHistogram): readonly number[] | null {
  const isSame =
    before.bounds.length === now.bounds.length && before.bounds.every((bound, place) => bound === now.bounds[place]);
  if (isSame) return null;
  if (totalOf(now) < totalOf(before)) return now.buckets.map(() => 0);
  const later = new Set(now.bounds);
  const common = before.bounds.filter((bound) => later.has(bound));
  const [places, earlierPlaces] = [placesAmong(common, now), placesAmong(common, before)];
  const [holds, held] = [countsByPlace(now, places), countsByPlace(before, earlierPlaces)];
  return now.buckets.map(({ count }, index) => {
    const place = places[index] ?? 0;
    return Math.min(count, (count * (held.get(place) ?? 0)) / (holds.get(place) ?? 1));
  });
}

/** Returns for each bucket how many of the bounds are below its upper one; bounds and buckets ascend. */
function placesAmong(bounds: readonly number[], { buckets }: BoundedHistogram): readonly number[] {
  let place = 0;
  return buckets.map(({ to }) => {
    while ((bounds[place] ?? Infinity) < to) place += 1;
    return place;
  });
}

function countsByPlace({ buckets }: BoundedHistogram, places: readonly number[]): ReadonlyMap<number, number> {
  const counts = new Map<number, number>();
  for (const [index, { count }] of buckets.entries()) {
    const place = places[index] ?? 0;
    counts.set(place, (counts.get(place) ?? 0) + count);
  }
  return counts;
}

function totalOf({ buckets }: SentHistogram): number {
  return buckets.reduce((sum: number, { count }) => sum + count, 0);
}

const ZERO = '0 0';
/** Tolerance for bounds, which are rounded. */
const TOLERANCE = 1e-5;

function keyOf({ side, index }: Pick<GridBucket, 'side' | 'index'>): string {
  return `${side} ${index}`;
}

/** Whether a bucket above `from` lies within the zero bucket, or partly: then the zero bucket takes up the whole of it. */
function isWithinZero(from: number, zeroThreshold: number): boolean {
  return from < zeroThreshold * (1 - TOLERANCE);
}

/**
 * Scale of the grid. Exponential and native histograms are stored with the bounds of one fixed grid: the powers of two
 * and seven steps between each two of them (scale 3, a bucket is 9 % wide). Whatever scale a sender chooses, and
 * however it changes it, its buckets merge into these exactly, so the buckets of all senders and times add up. A
 * sender's coarser buckets stay what they are: their bounds lie on the grid too.
 */
const GRID_SCALE = 3;
const STEPS = 2 ** GRID_SCALE;
/** The bounds of the grid from 1 to 2. */
const MANTISSAS = [
  1,
  1.0905077326652577,
  1.189207115002721,
  1.2968395546510096,
  Math.SQRT2,
  1.5422108254079407,
  1.681792830507429,
  1.8340080864093424,
] as const;

/** The scales that OpenTelemetry and Prometheus know. */
const SCALE_MIN = -10;
const SCALE_MAX = 20;
const INDEX_MAX = 2 ** 33;
/** Digits of a bound: bounds are labels that people read, and a millionth is nothing to a bucket of 9 %. */
const DIGITS = 6;
/** Limit on the buckets of one histogram at one time. A wider one is merged further. */
const BUCKETS_MAX = 160;

/** Number of observations in a bucket: above `from` and up to `to`, in the notation of a range's label. */
export interface RangeCount {
  readonly range: string;
  readonly count: number;
}

/** The buckets on one side of zero: those of index i lie above `base ** i` and up to `base ** (i + 1)`. */
export interface BucketSide {
  /** The index of the first; each that follows has the next one. */
  readonly offset: number;
  readonly counts: readonly number[];
  /** Index of each bucket after the offset, if there are gaps between them. */
  readonly indexes?: readonly number[];
}

/** A histogram with buckets around zero, and on both sides. */
interface ExponentialHistogram {
  readonly scale: number;
  readonly zeroCount: number;
  readonly zeroThreshold: number;
  readonly positive: BucketSide;
  readonly negative: BucketSide;
}

/** A bucket of the grid on one side of zero, or the zero bucket (side 0, index 0). */
interface GridBucket extends RangeCount {
  readonly side: -1 | 0 | 1;
  readonly index: number;
}

/** A histogram in buckets of the grid, or of a coarser one of `scale`. */
export interface GridHistogram {
  readonly scale: number;
  readonly zeroThreshold: number;
  /** Buckets that are not empty, lowest first. */
  readonly buckets: readonly GridBucket[];
  /** Layout in which it was sent. */
  readonly sent: { readonly scale: number; readonly zeroThreshold: number };
}

interface BoundedBucket extends RangeCount {
  readonly to: number;
}

/** A histogram with bounds of its sender's choice. */
interface BoundedHistogram {
  readonly bounds: readonly number[];
  /** Buckets that are not empty. */
  readonly buckets: readonly BoundedBucket[];
}

/** A histogram as it is stored and compared with the export before. */
export type SentHistogram = GridHistogram | BoundedHistogram;

/**
 * Returns the buckets between bounds of the sender's choice: those of index i lie above the bound before `bounds[i]`, and
 * up to it. Null for a histogram that nobody sends.
 */
export function toBounded(
  sent: readonly number[],
  counts: readonly number[],
  indexes: readonly number[],
): BoundedHistogram | null {
  // Some senders tell the bound of the last bucket, too.
  const bounds = sent.at(-1) === Infinity ? sent.slice(0, -1) : sent.slice();
  const isRising = bounds.every((bound, i) => Number.isFinite(bound) && (i === 0 || bound > (bounds[i - 1] ?? bound)));
  if (!isRising || indexes.some((index) => index < 0 || index > bounds.length)) return null;
  const buckets = counts.flatMap((count, i) => {
    const index = indexes[i] ?? 0;
    const to = bounds[index] ?? Infinity;
    const from = index === 0 ? Math.min(0, to) : (bounds[index - 1] ?? 0);
    return count > 0 ? [{ range: rangeOf(from, to), count, to }] : [];
  });
  return { bounds, buckets };
}

/** Returns the buckets of the grid; null for a histogram that nobody sends. */
export function toGrid(histogram: ExponentialHistogram): GridHistogram | null {
  const { scale, zeroCount, zeroThreshold, positive, negative } = histogram;
  const isSound = Number.isInteger(scale) && scale >= SCALE_MIN && scale <= SCALE_MAX;
  if (!isSound || !(zeroThreshold >= 0) || !isSoundSide(positive) || !isSoundSide(negative)) return null;
  let grid = Math.min(scale, GRID_SCALE);
  let sides = [merge(negative, scale - grid), merge(positive, scale - grid)] as const;
  while (grid > SCALE_MIN && sides[0].size + sides[1].size > BUCKETS_MAX) {
    grid -= 1;
    sides = [merge(negative, scale - grid), merge(positive, scale - grid)];
  }
  const [below, above] = sides;
  return layOut({ scale: grid, zeroCount, zeroThreshold, below, above, sent: { scale, zeroThreshold } });
}

interface Layout extends Pick<GridHistogram, 'scale' | 'zeroThreshold' | 'sent'> {
  readonly zeroCount: number;
  /** The buckets below and above zero, by their index. */
  readonly below: ReadonlyMap<number, number>;
  readonly above: ReadonlyMap<number, number>;
}

/**
 * Names the buckets. By Prometheus's specification of native histograms, a zero bucket that ends within a bucket which
 * holds anything is widened to the end of that one.
 */
function layOut({ scale, zeroCount, zeroThreshold, below, above, sent }: Layout): GridHistogram {
  let [zeros, threshold] = [zeroCount, zeroThreshold];
  const buckets: GridBucket[] = [];
  for (const [side, counts] of [
    [-1, below],
    [1, above],
  ] as const) {
    for (const [index, count] of counts) {
      const [from, to] = [boundOf(index, scale), boundOf(index + 1, scale)];
      if (isWithinZero(from, zeroThreshold)) {
        zeros += count;
        threshold = Math.max(threshold, to);
      } else buckets.push({ range: side < 0 ? rangeOf(-to, -from) : rangeOf(from, to), count, side, index });
    }
  }
  if (zeros > 0) buckets.push({ range: rangeOf(0, threshold), count: zeros, side: 0, index: 0 });
  buckets.sort((a, b) => a.side - b.side || a.side * (a.index - b.index));
  return { scale, zeroThreshold: threshold, buckets, sent };
}

/** Returns the ranges and counts of `toGrid` alone. */
export function toRanges(histogram: ExponentialHistogram): readonly RangeCount[] | null {
  return toGrid(histogram)?.buckets ?? null;
}

/** The label that bears the range of a bucket which does not contain those below it, unlike one with `le`. */
export const RANGE_LABEL = 'vmrange';

export function rangeOf(from: number, to: number): string {
  return `${from}...${to}`;
}

/** Reads a range; null for any other text. */
export function readRange(text: string): { readonly from: number; readonly to: number } | null {
  const [from = Number.NaN, to = Number.NaN, ...rest] = text.split('...').map(Number);
  return rest.length > 0 || Number.isNaN(from) || Number.isNaN(to) || from > to ? null : { from, to };
}

/** Whether both bounds are of the grid, as those of exponential buckets are; else they are a sender's own choice. */
export function isOfGrid({ from, to }: { readonly from: number; readonly to: number }): boolean {
  return isBoundOfGrid(from) && isBoundOfGrid(to);
}

/** Returns the bounds of the grid from one positive bound of it to a higher one. */
export function gridBoundsBetween(from: number, to: number): number[] {
  const [first, last] = [from, to].map((bound) => Math.round(Math.log2(bound) * STEPS));
  if (first === undefined || last === undefined || !Number.isFinite(last - first)) return [];
  return Array.from({ length: last - first + 1 }, (_, place) => boundOf(first + place, GRID_SCALE));
}

function isBoundOfGrid(bound: number): boolean {
  if (bound === 0 || !Number.isFinite(bound)) return true;
  const steps = Math.log2(Math.abs(bound)) * STEPS;
  return Math.abs(steps - Math.round(steps)) < 1e-4;
}

function isSoundSide({ offset, counts, indexes = [] }: BucketSide): boolean {
  const isIndex = (index: number): boolean => Number.isInteger(index) && Math.abs(index) <= INDEX_MAX;
  return isIndex(offset) && indexes.every(isIndex) && counts.every((count) => count >= 0 && count < Infinity);
}

/** Returns the counts by their index where `halvings` times two neighbours became one. */
function merge({ offset, counts, indexes }: BucketSide, halvings: number): Map<number, number> {
  const merged = new Map<number, number>();
  for (let i = 0; i < counts.length; i += 1) {
    const count = counts[i] ?? 0;
    if (count === 0) continue;
    const index = Math.floor((offset + (indexes?.[i] ?? i)) / 2 ** halvings);
    merged.set(index, (merged.get(index) ?? 0) + count);
  }
  return merged;
}

/** Returns `2 ** (index / 2 ** scale)`, within the range of numbers. */
function boundOf(index: number, scale: number): number {
  const steps = index * 2 ** (GRID_SCALE - scale);
  const power = Math.floor(steps / STEPS);
  if (power > 1023) return Number.MAX_VALUE;
  if (power < -1074) return 0;
  return Number(((MANTISSAS[steps - power * STEPS] ?? 1) * 2 ** power).toPrecision(DIGITS));
}
