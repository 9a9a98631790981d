import type { Rendering } from '#storage/clickhouse/migrate.ts';

/**
 * One row for each series. Labels are stored here once instead of with each point, where they were most of the cost of inserts
 * and merges. Rows of the same series differ only in when it was last seen. Names are read from here, too. The column of the
 * points is dropped at once, because no earlier release was published.
 */
export const statements = (rendering: Rendering): readonly string[] => {
  const { isCluster, onCluster, stored, engine, settings, distributed } = rendering;
  return [
    `CREATE TABLE IF NOT EXISTS ${stored('metric_series')}${onCluster} (
    service_id UUID,
    metric LowCardinality(String),
    series UInt64,
    last_at DateTime64(3, 'UTC'),
    tags Map(LowCardinality(String), String) CODEC(ZSTD(1))
  ) ENGINE = ${engine('ReplacingMergeTree', 'metric_series', 'last_at')}
  ORDER BY (service_id, metric, series)
  SETTINGS non_replicated_deduplication_window = 1000${settings}`,

    ...distributed('metric_series', 'cityHash64(service_id, series)'),

    ...(isCluster ? [] : LABELS_OF_POINTS),

    // Each shard has the names of its own series; reads put them together.
    `CREATE MATERIALIZED VIEW IF NOT EXISTS metric_names_of_series${onCluster} TO ${stored('metric_names')} AS
  SELECT service_id, metric, max(seen_at) AS last_at FROM (
    SELECT service_id, metric, last_at AS seen_at FROM ${stored('metric_series')} WHERE toUnixTimestamp64Milli(last_at) > 0)
  GROUP BY service_id, metric`,
  ];
};

const LABELS_OF_POINTS = [
  `ALTER TABLE metric_points ADD COLUMN IF NOT EXISTS tags Map(LowCardinality(String), String)`,

  `INSERT INTO metric_series
  SELECT service_id, metric, series, maxIf(ts, kind != 'stale'), any(tags) FROM metric_points
  WHERE (service_id, metric, series) NOT IN (SELECT service_id, metric, series FROM metric_series)
  GROUP BY service_id, metric, series`,

  `ALTER TABLE metric_points DROP COLUMN IF EXISTS tags`,

  `DROP VIEW IF EXISTS metric_names_of_points`,
];
