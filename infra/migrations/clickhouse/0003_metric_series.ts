import type { Rendering } from '#storage/clickhouse/migrate.ts';

/**
 * One row a series: labels stand here once, instead of at each point, where they were most of what an insert and a
 * merge cost. The rows of a series differ in nothing but when it was last seen; names are taken from here, too. The
 * points lose their column at once: no release has been out that would miss it.
 */
export const statements = ({ onCluster, engine }: Rendering): readonly string[] => [
  `CREATE TABLE IF NOT EXISTS metric_series${onCluster} (
    service_id UUID,
    metric LowCardinality(String),
    series UInt64,
    last_at DateTime64(3, 'UTC'),
    tags Map(LowCardinality(String), String) CODEC(ZSTD(1))
  ) ENGINE = ${engine('ReplacingMergeTree', 'last_at')}
  ORDER BY (service_id, metric, series)
  SETTINGS non_replicated_deduplication_window = 1000`,

  `ALTER TABLE metric_points${onCluster} ADD COLUMN IF NOT EXISTS tags Map(LowCardinality(String), String)`,

  `INSERT INTO metric_series
  SELECT service_id, metric, series, maxIf(ts, kind != 'stale'), any(tags) FROM metric_points
  WHERE (service_id, metric, series) NOT IN (SELECT service_id, metric, series FROM metric_series)
  GROUP BY service_id, metric, series`,

  `ALTER TABLE metric_points${onCluster} DROP COLUMN IF EXISTS tags`,

  `DROP VIEW IF EXISTS metric_names_of_points${onCluster}`,

  `CREATE MATERIALIZED VIEW IF NOT EXISTS metric_names_of_series${onCluster} TO metric_names AS
  SELECT service_id, metric, max(seen_at) AS last_at FROM (
    SELECT service_id, metric, last_at AS seen_at FROM metric_series WHERE toUnixTimestamp64Milli(last_at) > 0)
  GROUP BY service_id, metric`,
];
