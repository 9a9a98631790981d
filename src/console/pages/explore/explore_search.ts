import type { ChartQuery } from '#console/api/charts.ts';
import { pixelsWithin } from '#console/components/pixels_within.ts';
import { type RangeSearch, readRangeSearch } from '#console/components/text/time_range.ts';
import {
  askedOf,
  quantileName,
  SHOWN_AGGREGATIONS,
  type ShownAggregation,
} from '#modules/metrics/decide/aggregation.ts';
import { divideExpression } from '#modules/metrics/decide/ratio.ts';
import { type LabelCondition, selectorText } from '#modules/metrics/decide/selector_text.ts';

/** Periods to compare a metric with, in days before. */
export const COMPARISONS = { day: 1, week: 7 } as const;
export type Comparison = keyof typeof COMPARISONS;

const OPERATORS = ['=', '!='] as const;

/** State of the explorer in an address. Absent parameters have their default. */
export interface ExploreSearch extends RangeSearch {
  readonly service?: string;
  /** Name, or a whole selector that somebody wrote. */
  readonly metric?: string;
  readonly where?: readonly LabelCondition[];
  /** Aggregation that is shown; absent for the usual aggregation of the metric, which the server knows. */
  readonly agg?: ShownAggregation;
  readonly split?: string;
  readonly top?: number;
  /** Whether a histogram is shown as a heatmap. */
  readonly heatmap?: true;
  readonly compare?: Comparison;
  readonly q?: string;
  readonly order?: 'series';
}

const CONDITIONS_MAX = 20;

export function readExploreSearch(search: Record<string, unknown>): ExploreSearch {
  const { service, metric, where, agg, split, top, heatmap, compare, q, order } = search;
  const aggregation = SHOWN_AGGREGATIONS.find((aggregation) => aggregation === agg);
  const conditions = Array.isArray(where) ? where.filter(isCondition).slice(0, CONDITIONS_MAX) : [];
  return {
    ...readRangeSearch(search),
    ...(isText(service) && { service: String(service) }),
    ...(isText(metric) && { metric: String(metric) }),
    ...(conditions.length > 0 && { where: conditions }),
    ...(aggregation !== undefined && { agg: aggregation }),
    ...(isText(split) && { split: String(split) }),
    ...(typeof top === 'number' && Number.isInteger(top) && top >= 1 && top <= 20 && { top }),
    ...(heatmap === true && { heatmap }),
    ...((compare === 'day' || compare === 'week') && { compare }),
    ...(isText(q) && { q: String(q) }),
    ...(order === 'series' && { order }),
  };
}

function isText(value: unknown): value is string | number {
  return (typeof value === 'string' && value !== '') || typeof value === 'number';
}

function isCondition(value: unknown): value is LabelCondition {
  if (typeof value !== 'object' || value === null) return false;
  const { label, operator, value: wanted } = value as Record<string, unknown>;
  return (
    typeof label === 'string' && typeof wanted === 'string' && OPERATORS.some((candidate) => candidate === operator)
  );
}

/** Whether the metric is a whole selector, with its conditions in the text. */
export function isSelector(metric: string): boolean {
  return metric.includes('{');
}

/** Returns the metric with its conditions, as actions take it. */
export function metricNameOf({ metric = '', where = [] }: ExploreSearch): string {
  return isSelector(metric) ? metric : selectorText(metric, where);
}

/** Whether what is chosen is a histogram: by the quantile that is asked for, or as its buckets. */
export function isHistogram({ metric = '', where = [] }: ExploreSearch): boolean {
  if (divideExpression(metric).sides.length > 1) return false;
  const [name = ''] = metric.split('{', 1);
  return (
    name.trim().endsWith('_bucket') ||
    where.some(({ label }) => label === 'quantile') ||
    /\{.*\bquantile\s*=/.test(metric)
  );
}

/** Whether a heatmap is shown: only a histogram has one. */
export function isHeatmap(search: ExploreSearch): boolean {
  return search.heatmap === true && isHistogram(search);
}

/** Returns the queries of the address: the chosen period, then the one it is compared with. */
export function queriesOf(search: ExploreSearch, width: number): readonly ChartQuery[] {
  const { service, metric, split, top, compare } = search;
  if (service === undefined || metric === undefined) return [];
  if (isHeatmap(search)) {
    return [{ serviceId: service, metricName: metricNameOf(search), isHeatmap: true, pixels: pixelsWithin(width) }];
  }
  const query: ChartQuery = {
    serviceId: service,
    metricName: metricNameOf(search),
    ...(search.agg !== undefined && askedOf(search.agg)),
    pixels: pixelsWithin(width),
    ...(split !== undefined && { splitBy: split, top: top ?? 5 }),
  };
  return compare === undefined ? [query] : [query, { ...query, offsetDays: COMPARISONS[compare] }];
}

/** Metric that somebody chooses. */
export interface ChosenMetric {
  readonly metric: string;
  /** Quantile of a histogram to show. */
  readonly quantile?: string;
}

/** Returns the search after another metric is chosen, without the settings of the previous one. */
export function withMetric(
  { where: _, agg: __, split: ___, top: ____, ...kept }: ExploreSearch,
  { metric, quantile }: ChosenMetric,
): ExploreSearch {
  const chosen = { ...kept, metric };
  return quantile === undefined ? chosen : { ...chosen, where: [quantileCondition(quantile)] };
}

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
