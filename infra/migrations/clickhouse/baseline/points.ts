import type { Rendering } from '#storage/clickhouse/migrate.ts';

/**
 * One row for each point. A retry of the sender repeats (series, ts): the latest row counts, in merges and, by FINAL, in reads.
 * Within a metric, rows are ordered by hour, so that a short window over many series reads little, and within the hour by series,
 * so that they compress well and counters are read in order.
 *
 * A granule has 1,024 rows: rules read the last minutes of all metrics, and with 8,192 they read several times what they need;
 * the index takes about 40 bytes of memory for each granule. A value is stored as the difference to the one before it, which is 0
 * for most series; the other columns repeat themselves for thousands of rows, so their blocks are large. Together 0.18 bytes a
 * point of recorded node exporters. `start` is a kind of rows that says that a counter began at 0.
 */
export const pointTables = ({ onCluster, stored, engine, settings, distributed }: Rendering): readonly string[] => [
  `CREATE TABLE IF NOT EXISTS ${stored('metric_points')}${onCluster} (
    service_id UUID CODEC(ZSTD(1)),
    metric LowCardinality(String) CODEC(ZSTD(1)),
    series UInt64 CODEC(ZSTD(1)),
    ts DateTime64(3, 'UTC') CODEC(DoubleDelta, ZSTD(1)),
    value Float64 CODEC(Delta(8), ZSTD(3)) SETTINGS (min_compress_block_size = 65536),
    kind Enum8('gauge' = 0, 'counter' = 1, 'delta' = 2, 'stale' = 3, 'start' = 4) CODEC(ZSTD(1))
  ) ENGINE = ${engine('ReplacingMergeTree', 'metric_points')}
  PARTITION BY toDate(ts)
  ORDER BY (service_id, metric, toStartOfHour(ts), series, ts)
  TTL toDateTime(ts) + INTERVAL 401 DAY
  SETTINGS ttl_only_drop_parts = 1, index_granularity = 1024, min_compress_block_size = 262144${settings}`,

  ...distributed('metric_points', 'cityHash64(service_id, series)'),

  // Labels are stored once instead of with each point, where they were most of the cost of inserts and merges. Rows of the
  // same series differ only in when it was last seen.
  `CREATE TABLE IF NOT EXISTS ${stored('metric_series')}${onCluster} (
    service_id UUID,
    metric LowCardinality(String),
    series UInt64,
    last_at DateTime64(3, 'UTC'),
    tags Map(LowCardinality(String), String) CODEC(ZSTD(1))
  ) ENGINE = ${engine('ReplacingMergeTree', 'metric_series', 'last_at')}
  ORDER BY (service_id, metric, series)
  SETTINGS index_granularity = 8192${settings}`,

  ...distributed('metric_series', 'cityHash64(service_id, series)'),

  // list_metric_names is answered from here, without reading points.
  `CREATE TABLE IF NOT EXISTS ${stored('metric_names')}${onCluster} (
    service_id UUID,
    metric LowCardinality(String),
    last_at SimpleAggregateFunction(max, DateTime64(3, 'UTC'))
  ) ENGINE = ${engine('AggregatingMergeTree', 'metric_names')}
  ORDER BY (service_id, metric)`,

  ...distributed('metric_names', 'cityHash64(service_id)'),

  // Each shard has the names of its own series; reads put them together.
  `CREATE MATERIALIZED VIEW IF NOT EXISTS metric_names_of_series${onCluster} TO ${stored('metric_names')} AS
  SELECT service_id, metric, max(seen_at) AS last_at FROM (
    SELECT service_id, metric, last_at AS seen_at FROM ${stored('metric_series')} WHERE toUnixTimestamp64Milli(last_at) > 0)
  GROUP BY service_id, metric`,

  // Single observations with the trace that they belong to, a few for each series and minute: dots of a chart.
  `CREATE TABLE IF NOT EXISTS ${stored('metric_exemplars')}${onCluster} (
    service_id UUID,
    metric LowCardinality(String),
    at DateTime64(3, 'UTC') CODEC(DoubleDelta, ZSTD(1)),
    trace_id String CODEC(ZSTD(1)),
    span_id String CODEC(ZSTD(1)),
    value Float64 CODEC(ZSTD(1)),
    tags Map(LowCardinality(String), String) CODEC(ZSTD(1))
  ) ENGINE = ${engine('ReplacingMergeTree', 'metric_exemplars')}
  PARTITION BY toMonday(at)
  ORDER BY (service_id, metric, at, trace_id, span_id)
  TTL toDateTime(at) + INTERVAL 401 DAY
  SETTINGS index_granularity = 8192${settings}`,

  ...distributed('metric_exemplars', 'cityHash64(service_id, metric)'),
];
