import type { Aggregation } from '#modules/metrics/decide/aggregation.ts';
import type { Buckets } from '#modules/metrics/decide/buckets.ts';
import { type Id, uuidOf } from '#kernel/ids.ts';

/** A question about one metric. */
export interface Asked {
  readonly serviceId: Id<'service'>;
  readonly metric: string;
  /** A condition on the map `tags`, in SQL; null for all series. */
  readonly condition: string | null;
  readonly aggregation: Aggregation;
  readonly isCounter: boolean;
  readonly buckets: Buckets;
}

/** The query that a person would write by hand who knows that there are no duplicates, ended series or expired points. */
export function queryByHand({ serviceId, metric, condition, aggregation, isCounter, buckets }: Asked): string {
  const of = `service_id = '${uuidOf(serviceId)}' AND metric = '${metric}'`;
  const series =
    condition === null ? '' : ` AND series IN (SELECT series FROM metric_series WHERE ${of} AND ${condition})`;
  const points = `metric_points WHERE ${of} AND ts >= ${time(buckets.fromMs)} AND ts < ${time(buckets.toMs)}${series}`;
  const bucket = `toStartOfInterval(ts, INTERVAL ${buckets.stepMs / 1_000} SECOND) AS bucket`;
  const perBucket = 'GROUP BY bucket ORDER BY bucket';
  if (aggregation === 'last') {
    const newest = `SELECT ${bucket}, argMax(value, ts) AS newest FROM ${points} GROUP BY bucket, series`;
    return `SELECT bucket, sum(newest) FROM (${newest}) ${perBucket}`;
  }
  if (aggregation === 'sum' && isCounter) {
    const before = 'lagInFrame(value, 1, value) OVER (PARTITION BY series ORDER BY ts) AS before';
    const grown = 'sum(if(value < before, value, value - before))';
    return `SELECT bucket, ${grown} FROM (SELECT ${bucket}, value, ${before} FROM ${points}) ${perBucket}`;
  }
  const value = aggregation === 'count' ? 'count()' : `${aggregation}(value)`;
  return `SELECT ${bucket}, ${value} FROM ${points} ${perBucket}`;
}

function time(epochMs: number): string {
  return `fromUnixTimestamp64Milli(${epochMs}, 'UTC')`;
}
