import type { PointKind } from '#core/metrics/point.ts';

/** `MetricMetadata.type` of prompb, as far as it matters here; every other known type is no counter. */
const TYPE = { unknown: 0, counter: 1, gaugeHistogram: 4 } as const;

/** What a request's metadata says of its metric families: the type's number by family name. */
export type FamilyTypes = ReadonlyMap<string, number>;

const SUFFIX = /_(?:total|count|sum|bucket)$/;

/**
 * Whether a series counts. Remote write 1.0 gives samples no type, so the name decides, by the conventions that every
 * Prometheus client library keeps: `_total`, and the `_count`, `_sum` and `_bucket` of histograms and summaries. A
 * series with the label `quantile` is a summary's quantile, whatever it is called. Metadata in the same request
 * overrules the name. (Prometheus sends metadata in requests of its own, once a minute; nothing is remembered from one
 * request to the next.)
 */
export function kindOfSeries(name: string, hasLabel: (label: string) => boolean, types: FamilyTypes): PointKind {
  const suffix = SUFFIX.exec(name)?.[0];
  if (types.size > 0) {
    const own = types.get(name) ?? TYPE.unknown;
    if (own !== TYPE.unknown) return own === TYPE.counter ? 'counter' : 'gauge';
    const family = suffix === undefined ? undefined : types.get(name.slice(0, -suffix.length));
    if (family === TYPE.gaugeHistogram) return 'gauge';
  }
  return suffix === undefined || hasLabel('quantile') ? 'gauge' : 'counter';
}
