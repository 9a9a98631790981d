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

/** Returns the type and the unit of a metric among those that senders have announced. The unit of a histogram is not that of its counts. */
export function announcedOf(
  types: ReadonlyMap<string, { readonly type: number; readonly unit: string }>,
  name: string,
): { readonly type: MetricType | null; readonly unit: string | null } {
  const family = familiesOf(name).find((candidate) => types.has(candidate));
  const announced = family === undefined ? undefined : types.get(family);
  if (announced === undefined) return { type: null, unit: null };
  const isCount = family !== name && /_(?:count|bucket)$/.test(name);
  return { type: metricTypeOf(announced.type), unit: isCount || announced.unit === '' ? null : announced.unit };
}

/** Names of units by their codes in OpenTelemetry (UCUM), as far as they differ. */
const UNIT_NAMES: Readonly<Record<string, string>> = {
  s: 'seconds',
  min: 'minutes',
  h: 'hours',
  d: 'days',
  By: 'bytes',
  kBy: 'kilobytes',
  MBy: 'megabytes',
  GBy: 'gigabytes',
  KiBy: 'kibibytes',
  MiBy: 'mebibytes',
  GiBy: 'gibibytes',
  bit: 'bits',
  '%': 'percent',
  Cel: 'celsius',
  Hz: 'hertz',
  V: 'volts',
  W: 'watts',
};

/** Returns the name by which `measureOf` knows a unit. That of a share is 1, as that of a number is. */
export function unitNameOf(unit: string | null, metricName: string): string | null {
  if (unit === '1' && metricName.endsWith('utilization')) return 'ratio';
  return unit === null ? null : (UNIT_NAMES[unit] ?? unit);
}
