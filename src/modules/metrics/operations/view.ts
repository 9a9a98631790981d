import { type Static, Type } from 'typebox';

import { IdText, nullable, Timestamp } from '#actions/fields.ts';
import { AGGREGATIONS } from '#modules/metrics/decide/aggregation.ts';
import { bucketStart, type BucketValue, summaryOf } from '#modules/metrics/decide/buckets.ts';
import { Temporal, toTimestamp } from '#kernel/time.ts';
import type { MetricQuery } from '#modules/metrics/store/metric_query.ts';

export const MetricSeriesView = Type.Object({
  serviceId: IdText,
  metricName: Type.String({ description: 'as asked, with its selector' }),
  aggregation: Type.Enum([...AGGREGATIONS]),
  windowMinutes: Type.Integer(),
  from: Timestamp,
  to: Timestamp,
  stepSeconds: Type.Integer({ description: 'the width of a bucket' }),
  points: Type.Array(
    Type.Object({
      at: Timestamp,
      value: Type.Number(),
      isMoreThan: Type.Optional(
        Type.Boolean({ description: 'a quantile above the highest bound of a histogram: it is more than the value' }),
      ),
    }),
    { description: 'oldest first; at is where the bucket begins; buckets without data are left out' },
  ),
  summary: nullable(
    Type.Object(
      { min: Type.Number(), p50: Type.Number(), p95: Type.Number(), max: Type.Number(), last: Type.Number() },
      { description: 'of the values of the points; null when there are none' },
    ),
  ),
  nearestNames: Type.Array(Type.String(), {
    description:
      'when no metric of this name, or none with these values of its labels, has arrived: those that may be meant, the nearest first',
  }),
});

/** Returns the view of a series. Its `from` is the first bucket, or the oldest that is kept if that is later. */
export function toMetricSeriesView(
  query: Omit<MetricQuery, 'selector'>,
  asked: { readonly metricName: string; readonly windowMinutes: number },
  values: readonly BucketValue[],
  nearestNames: readonly string[],
): Static<typeof MetricSeriesView> {
  const { fromMs, toMs, stepMs } = query.buckets;
  return {
    serviceId: query.serviceId,
    metricName: asked.metricName,
    aggregation: query.aggregation,
    windowMinutes: asked.windowMinutes,
    from: timestampOf(Math.max(fromMs, bucketStart(query.keptSince.epochMilliseconds, stepMs))),
    to: timestampOf(toMs),
    stepSeconds: stepMs / 1_000,
    points: values.map(({ at, ...measured }) => ({ at: timestampOf(at), ...measured })),
    summary: summaryOf(values.map(({ value }) => value)),
    nearestNames: [...nearestNames],
  };
}

function timestampOf(epochMs: number): string {
  return toTimestamp(Temporal.Instant.fromEpochMilliseconds(epochMs));
}
