/** The types of metrics that senders name, at their numbers in Prometheus. */
export const METRIC_TYPES = [
  'unknown',
  'counter',
  'gauge',
  'histogram',
  'gauge histogram',
  'summary',
  'info',
  'state set',
] as const;

/** Numbers of the types by which protocols decide. */
export const METRIC_TYPE = { unknown: 0, counter: 1, gauge: 2, histogram: 3, gaugeHistogram: 4, summary: 5 } as const;

type MetricType = (typeof METRIC_TYPES)[number];

export function metricTypeOf(number: number): MetricType {
  return METRIC_TYPES[number] ?? 'unknown';
}

const SUFFIX = /_(?:total|count|sum|bucket|min|max)$/;

/** Returns the names under which the type of a series may be known: its own, and that of the family it is a part of. */
export function familiesOf(name: string): string[] {
  const family = name.replace(SUFFIX, '');
  return family === name ? [name] : [name, family];
}
