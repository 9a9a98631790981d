import type { Rendering } from '#storage/clickhouse/migrate.ts';

/** One row per event. An event that was sent twice is deduplicated by merges if both rows are equal, and counted once by reads. */
export const statements = ({ onCluster, stored, engine, settings, distributed }: Rendering): readonly string[] => [
  `CREATE TABLE IF NOT EXISTS ${stored('exception_events')}${onCluster} (
    service_id UUID,
    group_id UUID,
    event_id UUID,
    at DateTime64(3, 'UTC') CODEC(DoubleDelta, ZSTD(1)),
    received_at DateTime64(3, 'UTC') CODEC(DoubleDelta, ZSTD(1)),
    level LowCardinality(String),
    environment LowCardinality(String),
    release LowCardinality(String),
    user_key String CODEC(ZSTD(1)),
    handled Enum8('unknown' = 0, 'unhandled' = 1, 'handled' = 2),
    tags Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    payload String CODEC(ZSTD(3))
  ) ENGINE = ${engine('ReplacingMergeTree', 'exception_events')}
  PARTITION BY toMonday(at)
  ORDER BY (service_id, group_id, at, event_id)
  TTL toDateTime(at) + INTERVAL 401 DAY
  SETTINGS non_replicated_deduplication_window = 1000${settings}`,

  ...distributed('exception_events', 'cityHash64(service_id, group_id)'),
];
