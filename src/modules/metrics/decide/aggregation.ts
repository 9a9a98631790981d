import type { LabelCondition } from '#modules/metrics/decide/selector_text.ts';
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

/** Returns the name of a quantile: 95% for `0.95`, of all observations that many are at most its value. */
export const quantileName = (quantile: string): string => `${Number((Number(quantile) * 100).toFixed(2))}%`;

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

/** Returns the default of a chart: what is counted as its rate; of a division, which has no rate, as its sum. */
export function usuallyShown(kind: PointKind | null, isRatio: boolean): ShownAggregation {
  return shownOf(usualAggregation(kind), !isRatio);
}

/** Aggregations that say something of what is counted, and of other values: the usual one first. */
const OFFERED = {
  counted: ['rate', 'sum', 'last', 'count'],
  measured: ['avg', 'min', 'max', 'last', 'sum', 'count'],
} as const satisfies Readonly<Record<string, readonly ShownAggregation[]>>;

export interface ShownMetric {
  /** Null while it is not known, or of a metric that has not arrived. */
  readonly kind: PointKind | null;
  /** Whether rates can be shown: not of a division, nor by a rule. */
  readonly hasRate: boolean;
  /** The choice that is shown, which stays one. */
  readonly shown: ShownAggregation | null;
}

/** Returns what is offered of a metric, with its name. A histogram has quantiles in place of them. */
export function aggregationChoices({
  kind,
  hasRate,
  shown,
}: ShownMetric): { value: ShownAggregation; label: string }[] {
  const offered: readonly ShownAggregation[] =
    kind === null ? SHOWN_AGGREGATIONS : OFFERED[isCounted(kind) ? 'counted' : 'measured'];
  return SHOWN_AGGREGATIONS.filter(
    (value) => value === shown || (offered.includes(value) && (hasRate || value !== 'rate')),
  ).map((value) => ({ value, label: aggregationName(value, kind) }));
}

/** Returns the name of what is shown: the sum of what is counted is its increase. */
export function aggregationName(shown: ShownAggregation, kind: PointKind | null): string {
  if (shown !== 'sum' || kind === null) return AGGREGATION_NAMES[shown];
  return isCounted(kind) ? 'Increase' : 'Sum';
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

/** Quantiles of a histogram that can be shown. */
export const QUANTILES = ['0.5', '0.9', '0.95', '0.99', '0.999'] as const;

/** Returns the quantiles to choose from, with their names; one that was chosen before stays. */
export function quantileChoices(chosen: string | undefined): { value: string; label: string }[] {
  return [...new Set([...QUANTILES, ...(chosen === undefined ? [] : [chosen])])]
    .toSorted()
    .map((value) => ({ value, label: quantileName(value) }));
}

export function quantileCondition(value = '0.95'): LabelCondition {
  return { label: 'quantile', operator: '=', value };
}
