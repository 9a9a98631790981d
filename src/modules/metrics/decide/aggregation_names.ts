import type { ShownAggregation } from '#modules/metrics/decide/aggregation.ts';

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
