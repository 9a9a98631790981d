import { isCounted, type PointKind } from '#modules/metrics/decide/point.ts';

/** Names of what is asked, the same in charts, widgets and rules. */
export const AGGREGATION_NAMES: Readonly<Record<ShownAggregation, string>> = {
  rate: 'Rate per second',
  avg: 'Average',
  sum: 'Sum, or increase of a counter',
  min: 'Lowest',
  max: 'Highest',
  last: 'Newest of each series, added up',
  count: 'Number of points',
};

/** Names of aggregations within a sentence: "average of queue_depth". */
export const AGGREGATION_NOUNS: Readonly<Record<Aggregation, string>> = {
  avg: 'average',
  sum: 'sum',
  min: 'lowest',
  max: 'highest',
  last: 'newest',
  count: 'number of points',
};

export const AGGREGATIONS = ['avg', 'sum', 'min', 'max', 'last', 'count'] as const;

/**
 * Function that makes one value of the samples of a period. `avg`, `min`, `max` and `count` cover all samples of all
 * series, counters by their raw value. `sum` adds gauges and deltas as they are, and counters by their increase. `last`
 * adds up the newest sample of each series that has not ended. The SQL of the store is tested against a plain
 * implementation.
 */
export type Aggregation = (typeof AGGREGATIONS)[number];

/** Choices of what a chart shows: an aggregation, or the rate at which a sum grows. */
export const SHOWN_AGGREGATIONS = ['rate', ...AGGREGATIONS] as const;
export type ShownAggregation = (typeof SHOWN_AGGREGATIONS)[number];

/** Returns what a query asks for something shown, and back. A counter's sum is shown as its rate unless asked otherwise. */
export function askedOf(shown: ShownAggregation): { readonly aggregation: Aggregation; readonly isRate: boolean } {
  return shown === 'rate' ? { aggregation: 'sum', isRate: true } : { aggregation: shown, isRate: false };
}

export function shownOf(aggregation: Aggregation, isRate: boolean): ShownAggregation {
  return isRate && aggregation === 'sum' ? 'rate' : aggregation;
}

/** Returns the default aggregation: the sum of what is counted, and the mean of other values. */
export function usualAggregation(kind: PointKind | null): 'sum' | 'avg' {
  return isCounted(kind) ? 'sum' : 'avg';
}

/**
 * Lookback before a window for the previous sample of a counter, so that its increase across the start of the window
 * counts. Prometheus considers a series without samples alive for as long.
 */
export const COUNTER_LOOKBACK_MS = 5 * 60_000;

/**
 * Time before a window within which the previous sample of a counter is sought if the lookback has none, as with a counter
 * that is sent only when it changes. A job that runs once a day is compared with its run of the day before. Starts count only
 * in the lookback: what a process counted long before it was first heard of is not growth of now.
 */
export const COUNTER_REACH_MS = 25 * 60 * 60_000;
