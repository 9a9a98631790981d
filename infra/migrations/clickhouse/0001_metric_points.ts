import type { Rendering } from '#storage/clickhouse/migrate.ts';

/**
 * One row for each point. A retry of the sender repeats (series, ts): the latest row counts, in merges and, by FINAL, in reads.
 * Within a metric, rows are ordered by hour, so that a short window over many series reads little, and within the hour by series,
 * so that they compress well and counters are read in order. The table of names answers list_metric_names without reading points.
 *
 * A cluster begins with what later migrations made of this on one server (0003, 0004): its rows are never written anew.
 */
export const statements = ({ isCluster, onCluster, stored, engine, settings, distributed }: Rendering) => [
  `CREATE TABLE IF NOT EXISTS ${stored('metric_points')}${onCluster} (
    service_id UUID,
    metric LowCardinality(String),
    series UInt64,
    ts DateTime64(3, 'UTC') CODEC(DoubleDelta, ZSTD(1)),
    value Float64 CODEC(ZSTD(1)),
    kind Enum8('gauge' = 0, 'counter' = 1, 'delta' = 2, 'stale' = 3) CODEC(ZSTD(1))${
      isCluster ? '' : ',\n    tags Map(LowCardinality(String), String) CODEC(ZSTD(1))'
    }
  ) ENGINE = ${engine('ReplacingMergeTree', 'metric_points')}
  PARTITION BY toDate(ts)
  ORDER BY (service_id, metric, toStartOfHour(ts), series, ts)
  TTL toDateTime(ts) + INTERVAL 401 DAY
  SETTINGS non_replicated_deduplication_window = 1000, ttl_only_drop_parts = 1${
    isCluster ? ', index_granularity = 1024, min_compress_block_size = 16384' : ''
  }${settings}`,

  ...distributed('metric_points', 'cityHash64(service_id, series)'),

  `CREATE TABLE IF NOT EXISTS ${stored('metric_names')}${onCluster} (
    service_id UUID,
    metric LowCardinality(String),
    last_at SimpleAggregateFunction(max, DateTime64(3, 'UTC'))
  ) ENGINE = ${engine('AggregatingMergeTree', 'metric_names')}
  ORDER BY (service_id, metric)`,

  ...distributed('metric_names', 'cityHash64(service_id)'),

  ...(isCluster
    ? []
    : [
        `CREATE MATERIALIZED VIEW IF NOT EXISTS metric_names_of_points TO metric_names AS
  SELECT service_id, metric, max(ts) AS last_at FROM metric_points WHERE kind != 'stale' GROUP BY service_id, metric`,
      ]),
];
