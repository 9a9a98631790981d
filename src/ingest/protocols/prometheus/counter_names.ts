import type { PointKind } from '#core/metrics/point.ts';

/** `MetricMetadata.type` of prompb; all types that are not listed here are not counters. */
const TYPE = { unknown: 0, counter: 1, gaugeHistogram: 4 } as const;

/** The metric families in a request's metadata: the number of the type by the name of the family. */
export type FamilyTypes = ReadonlyMap<string, number>;

const SUFFIX = /_(?:total|count|sum|bucket)$/;

/**
 * Whether a series is a counter. Samples of remote write 1.0 have no type, so the name decides, by the conventions of all
 * Prometheus client libraries: `_total`, and `_count`, `_sum` and `_bucket` of histograms and summaries. A series with
 * the label `quantile` is the quantile of a summary and no counter. Metadata in the same request overrules the name.
 * (Prometheus sends metadata in separate requests, once a minute; it is not remembered between requests.)
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
