import type { ChartQuery } from '#console/api/charts.ts';
import { pixelsWithin } from '#console/components/pixels_within.ts';
import type { ExploreSearch } from '#console/pages/explore/explore_search.ts';
import { askedOf, quantileCondition } from '#modules/metrics/decide/aggregation.ts';
import { divideExpression } from '#modules/metrics/decide/ratio.ts';
import { selectorText } from '#modules/metrics/decide/selector_text.ts';

/** Periods to compare a metric with, in days before. */
export const COMPARISONS = { day: 1, week: 7 } as const;
export type Comparison = keyof typeof COMPARISONS;

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
