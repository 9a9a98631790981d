import { METRIC_TYPE as TYPE } from '#modules/metrics/decide/metric_type.ts';
import type { PointKind } from '#modules/metrics/decide/point.ts';

/** The type of a metric family, by its number; undefined or 0 for one of which nothing is known. */
export type TypeOfFamily = (family: string) => number | undefined;

const SUFFIX = /_(?:total|count|sum|bucket)$/;
const ENDS_OF_SUFFIXES: ReadonlySet<string> = new Set(['l', 't', 'm']);

/**
 * Whether a series is a counter. Samples of remote write 1.0 have no type: what the sender's metadata says of the family
 * decides, whether it came in this request or before. Without it the name does, by the conventions of all Prometheus
 * client libraries: `_total`, and `_count`, `_sum` and `_bucket` of histograms and summaries. A series with the label
 * `quantile` is the quantile of a summary and no counter.
 */
export function kindOfSeries(name: string, hasLabel: (label: string) => boolean, typeOf: TypeOfFamily): PointKind {
  const suffix = ENDS_OF_SUFFIXES.has(name.at(-1) ?? '') ? SUFFIX.exec(name)?.[0] : undefined;
  const type = typeOf(name) ?? TYPE.unknown;
  if (type !== TYPE.unknown) return kindOfTyped(type, name, hasLabel('quantile'));
  if (suffix === undefined) return 'gauge';
  const family = typeOf(name.slice(0, -suffix.length)) ?? TYPE.unknown;
  if (family === TYPE.gaugeHistogram) return 'gauge';
  return hasLabel('quantile') ? 'gauge' : 'counter';
}

/** Returns the kind of a series that declares its type. */
export function kindOfTyped(type: number, name: string, hasQuantile: boolean): PointKind {
  const suffix = SUFFIX.exec(name)?.[0];
  switch (type) {
    case TYPE.unknown:
      return suffix === undefined || hasQuantile ? 'gauge' : 'counter';
    case TYPE.counter:
      return 'counter';
    case TYPE.histogram:
    case TYPE.summary:
      return suffix === undefined || suffix === '_total' ? 'gauge' : 'counter';
    default:
      return 'gauge';
  }
}

/** The metric family that a series with this type and name belongs to. */
export function familyOf(type: number, name: string): string {
  return type === TYPE.histogram || type === TYPE.summary ? name.replace(/_(?:count|sum|bucket)$/, '') : name;
}
