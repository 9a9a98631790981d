import type { Aggregation } from '#modules/metrics/decide/aggregation.ts';
import { addUpByLayout } from '#modules/metrics/decide/bucket_layouts.ts';
import {
  type BesideBuckets,
  quantileOf,
  type QuantileValue,
  type ValueBounds,
  valueBoundsOf,
} from '#modules/metrics/decide/quantile.ts';
import type { PointWindow } from '#modules/metrics/decide/series_points.ts';
import { readBucketText } from '#modules/metrics/store/metric_query.ts';
import type { Shape } from '#modules/rules/store/rule_plan.ts';

/** A row of an answer, its metric and series aside. */
export interface Slot {
  readonly fromMs: number;
  readonly columns: readonly number[];
}

/** Answers for the window of a rule; a shape that was asked for and is null had no points. */
export type Windows = Partial<Record<Shape, readonly number[] | null>>;

type Combine = (a: number, b: number) => number;

const sum: Combine = (a, b) => a + b;

/** Functions that combine the columns after the slot when rows are merged. */
const COLUMNS: Readonly<Record<Shape, readonly Combine[]>> = {
  /**
   * Count of samples, their sum, least and greatest; count and sum of those of no counter; number of series whose newest
   * sample is here, and the sum of these.
   */
  samples: [sum, sum, Math.min, Math.max, sum, sum, sum, sum],
  /** Growth of counters; time of their newest sample, in epoch milliseconds. */
  growth: [sum, Math.max],
};

/** ClickHouse writes whole numbers of 64 bits, and those that JSON lacks, as texts. */
export function toSlot(from: unknown, columns: readonly unknown[]): Slot {
  return { fromMs: Number(from), columns: columns.map(toNumber) };
}

/** All that lies in the window; null when there is nothing. */
export function windowOf(shape: Shape, slots: readonly Slot[], fromMs: number): readonly number[] | null {
  const within = slots.filter((slot) => slot.fromMs >= fromMs).map(({ columns }) => columns);
  const all = shape === 'growth' ? withNewest(within, slots) : within;
  const [first, ...rest] = all;
  if (first === undefined) return null;
  return first.map((value, index) => {
    const combine = COLUMNS[shape][index] ?? sum;
    return rest.reduce((combined, columns) => combine(combined, columns[index] ?? 0), value);
  });
}

/** The same of points in memory. */
export function windowsOf(answer: PointWindow): Windows {
  const { samples, total, least, greatest, others, othersTotal, newest, newestTotal } = answer;
  return {
    samples: answer.points === 0 ? null : [samples, total, least, greatest, others, othersTotal, newest, newestTotal],
    growth: Number.isFinite(answer.counterAtMs) ? [answer.grown, answer.counterAtMs] : null,
  };
}

/** A counter's first sample grows by nothing and may stand in an earlier slot: it is there all the same. */
function withNewest(within: (readonly number[])[], slots: readonly Slot[]): (readonly number[])[] {
  return [...within, ...slots.map(({ columns }) => [0, columns[1] ?? 0])];
}

/** The value of a rule over its window, which begins at `fromMs`; null without data. */
export function valueOf(aggregation: Aggregation, { samples, growth }: Windows, fromMs: number): number | null {
  const hasSamples = samples ? at(samples, 0) > 0 : false;
  switch (aggregation) {
    case 'avg':
      return samples && hasSamples ? finite(at(samples, 1) / at(samples, 0)) : null;
    case 'count':
      return samples && hasSamples ? finite(at(samples, 0)) : null;
    case 'min':
      return samples && hasSamples ? finite(at(samples, 2)) : null;
    case 'max':
      return samples && hasSamples ? finite(at(samples, 3)) : null;
    case 'last':
      return samples && at(samples, 6) > 0 ? finite(at(samples, 7)) : null;
    case 'sum': {
      const hasCounters = growth ? at(growth, 1) >= fromMs : false;
      const hasOthers = samples ? at(samples, 4) > 0 : false;
      if (!hasCounters && !hasOthers) return null;
      return finite((growth ? at(growth, 0) : 0) + (samples ? at(samples, 5) : 0));
    }
  }
}

/** The same of the observations that the buckets of a histogram gained; null when they gained nothing. */
export function quantileWithin(
  quantile: number,
  buckets: ReadonlyMap<string, Windows>,
  fromMs: number,
  bounds: ValueBounds,
): QuantileValue | null {
  const senderBuckets = [...buckets].flatMap(([text, windows]) => {
    const growth = valueOf('sum', windows, fromMs);
    if (growth === null) return [];
    const { apart: sender, le, range } = readBucketText(text);
    const { samples, growth: counters } = windows;
    const counted = { samples: samples ? at(samples, 0) : 0, newestMs: counters ? at(counters, 1) : 0 };
    return [{ sender, le, range, growth, ...counted }];
  });
  return quantileOf(quantile, addUpByLayout(senderBuckets), bounds);
}

/** Returns the bounds of observations from the series beside the buckets, each in its window. */
export function boundsWithin(windowsOf: (what: BesideBuckets) => Windows): ValueBounds {
  const [min, max, count] = [windowsOf('min'), windowsOf('max'), windowsOf('count')];
  const series = ({ samples }: Windows): number => (samples ? at(samples, NEWEST_SERIES) : 0);
  return valueBoundsOf(
    { min: valueOf('min', min, 0), max: valueOf('max', max, 0) },
    { min: series(min), max: series(max), count: series(count) },
  );
}

/** The column of `samples` that says how many series have their newest sample in the window. */
const NEWEST_SERIES = 6;

function at(columns: readonly number[], index: number): number {
  return columns[index] ?? 0;
}

/** Sums beyond the range of numbers are the largest of them, as in what a query answers. */
function finite(value: number): number {
  if (Number.isNaN(value)) return 0;
  return Math.min(Math.max(value, -Number.MAX_VALUE), Number.MAX_VALUE);
}

function toNumber(value: unknown): number {
  if (value === 'inf') return Infinity;
  return value === '-inf' ? -Infinity : Number(value);
}
