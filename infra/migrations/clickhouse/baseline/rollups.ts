import type { Rendering } from '#storage/clickhouse/migrate.ts';

/** Sums of a series over a period: see `modules/metrics/store/rollups.ts`. */
const COLUMNS = `
    service_id UUID,
    metric LowCardinality(String),
    series UInt64,
    start DateTime('UTC') CODEC(Delta, ZSTD(1)),
    version UInt64 CODEC(ZSTD(1)),
    samples UInt32 CODEC(ZSTD(1)),
    added Float64 CODEC(ZSTD(1)),
    counted Float64 CODEC(ZSTD(1)),
    least Float64 CODEC(ZSTD(1)),
    greatest Float64 CODEC(ZSTD(1)),
    newest Float64 CODEC(ZSTD(1)),
    newest_is UInt8 CODEC(ZSTD(1)),
    opening Float64 CODEC(ZSTD(1)),
    opening_is UInt8 CODEC(ZSTD(1)),
    closing Float64 CODEC(ZSTD(1)),
    grown Float64 CODEC(ZSTD(1))`;

/** Nothing may be taken for a repetition here: an insert that is sent again is a new one. */
const NEVER_SKIPPED = 'non_replicated_deduplication_window = 0, replicated_deduplication_window = 0';

/**
 * Points summed up by hours and days. A later row of the same (series, ts) replaces an earlier one, so a view that adds up
 * what is inserted would count both. Instead a view notes into which hours something was inserted, and a worker rolls up
 * hours that have come to rest, from the points themselves. `metric_rollups` says which, and as of which insert: as
 * soon as more arrives, `stamp` differs, and queries read the points until the hour is rolled up again.
 */
export const rollupTables = ({ onCluster, stored, engine, distributed }: Rendering): readonly string[] => [
  ...(['metric_hours', 'metric_days'] as const).flatMap((table) => [
    `CREATE TABLE IF NOT EXISTS ${stored(table)}${onCluster} (${COLUMNS}
  ) ENGINE = ${engine('ReplacingMergeTree', table, 'version')}
  PARTITION BY toMonday(start)
  ORDER BY (service_id, metric, series, start)
  TTL start + INTERVAL 401 DAY
  SETTINGS ${NEVER_SKIPPED}, ttl_only_drop_parts = 1, index_granularity = 1024, min_compress_block_size = 16384`,

    ...distributed(table, 'cityHash64(service_id, series)'),
  ]),

  `CREATE TABLE IF NOT EXISTS ${stored('metric_rollups')}${onCluster} (
    service_id UUID,
    span Enum8('hour' = 0, 'day' = 1),
    start DateTime('UTC') CODEC(Delta, ZSTD(1)),
    version UInt64 CODEC(ZSTD(1)),
    is_complete UInt8 CODEC(ZSTD(1)),
    stamp UInt64 CODEC(ZSTD(1))
  ) ENGINE = ${engine('ReplacingMergeTree', 'metric_rollups', 'is_complete')}
  PARTITION BY toMonday(start)
  ORDER BY (service_id, span, start, version)
  TTL start + INTERVAL 401 DAY
  SETTINGS ${NEVER_SKIPPED}, ttl_only_drop_parts = 1`,

  ...distributed('metric_rollups', 'cityHash64(service_id)'),

  `CREATE TABLE IF NOT EXISTS ${stored('metric_hour_inserts')}${onCluster} (
    service_id UUID,
    start DateTime('UTC') CODEC(Delta, ZSTD(1)),
    stamp SimpleAggregateFunction(sum, UInt64) CODEC(ZSTD(1)),
    points SimpleAggregateFunction(sum, UInt64) CODEC(ZSTD(1)),
    last_at SimpleAggregateFunction(max, DateTime64(3, 'UTC')) CODEC(ZSTD(1))
  ) ENGINE = ${engine('AggregatingMergeTree', 'metric_hour_inserts')}
  PARTITION BY toMonday(start)
  ORDER BY (service_id, start)
  TTL start + INTERVAL 401 DAY
  SETTINGS ${NEVER_SKIPPED}, ttl_only_drop_parts = 1`,

  ...distributed('metric_hour_inserts', 'cityHash64(service_id)'),

  // Each shard notes its own inserts; reads put them together. A random number for each insert, added up: two sums that
  // are equal are of the same inserts.
  `CREATE MATERIALIZED VIEW IF NOT EXISTS metric_hour_inserts_of_points${onCluster} TO ${stored('metric_hour_inserts')} AS
  SELECT service_id, toStartOfHour(ts) AS start, any(rand64()) AS stamp, count() AS points, now64(3, 'UTC') AS last_at
  FROM ${stored('metric_points')} GROUP BY service_id, start`,
];
