import type { Rendering } from '#storage/clickhouse/migrate.ts';

/**
 * The same points with a smaller index granularity. ClickHouse reads whole granules, and an hour of a metric has a few hundred
 * to a few thousand rows: with 8192 rows in a granule, rules, which read the last minutes of all metrics, read several times
 * what they need. The index takes about 40 bytes of memory for each granule.
 *
 * Other processes write meanwhile, so rows are copied twice: before the tables are swapped, so that queries miss none, and
 * afterwards those that arrived in between. A row that was copied twice counts once. A service that replicates by itself
 * may ask another server for each statement: each copy sees all that was acknowledged. A cluster begins with this index.
 */
export const statements = ({ isCluster, engine }: Rendering): readonly string[] => {
  if (isCluster) return [];
  const create = `CREATE TABLE IF NOT EXISTS metric_points_next (
    service_id UUID,
    metric LowCardinality(String),
    series UInt64,
    ts DateTime64(3, 'UTC') CODEC(DoubleDelta, ZSTD(1)),
    value Float64 CODEC(ZSTD(1)),
    kind Enum8('gauge' = 0, 'counter' = 1, 'delta' = 2, 'stale' = 3) CODEC(ZSTD(1))
  ) ENGINE = ${engine('ReplacingMergeTree', 'metric_points')}
  PARTITION BY toDate(ts)
  ORDER BY (service_id, metric, toStartOfHour(ts), series, ts)
  TTL toDateTime(ts) + INTERVAL 401 DAY
  SETTINGS non_replicated_deduplication_window = 1000, ttl_only_drop_parts = 1,
    index_granularity = 1024, min_compress_block_size = 16384`;
  const drop = `DROP TABLE metric_points_next SYNC`;
  const copy = (from: string, to: string): string => `
    INSERT INTO ${to} SELECT service_id, metric, series, ts, value, kind FROM ${from}
    SETTINGS max_partitions_per_insert_block = 0, max_insert_threads = 1, select_sequential_consistency = 1`;
  return [
    // The table of an interrupted run may hold the only copy of some rows.
    create,
    copy('metric_points_next', 'metric_points'),
    drop,

    create,
    copy('metric_points', 'metric_points_next'),
    `EXCHANGE TABLES metric_points_next AND metric_points`,
    copy('metric_points_next', 'metric_points'),
    drop,
  ];
};
