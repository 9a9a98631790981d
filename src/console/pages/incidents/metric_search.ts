import type { Incident } from '#console/api/actions.ts';
import type { ExploreSearch } from '#console/pages/explore/explore_search.ts';
import type { MetricThreshold } from '#modules/rules/decide/metric_threshold.ts';

const MINUTE_MS = 60_000;
/** Minutes before the trigger that the chart of an incident shows. */
export const BEFORE_MINUTES = 30;
/** Minutes after the end of an incident that the page of its metric shows. */
const AFTER_MINUTES = 30;

/** Returns the address of the page of the metric that opened the incident, with the same selector and time. */
export function metricSearch(
  { serviceId, triggeredAt, resolvedAt }: Pick<Incident, 'serviceId' | 'triggeredAt' | 'resolvedAt'>,
  { metricName, aggregation }: Pick<MetricThreshold, 'metricName' | 'aggregation'>,
  now: number,
): ExploreSearch {
  const end = resolvedAt === null ? now : Math.min(Date.parse(resolvedAt) + AFTER_MINUTES * MINUTE_MS, now);
  const from = Date.parse(triggeredAt) - BEFORE_MINUTES * MINUTE_MS;
  return { service: serviceId, metric: metricName, agg: aggregation, from, to: Math.max(end, from + MINUTE_MS) };
}
