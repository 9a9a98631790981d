import type { Rendering } from '#storage/clickhouse/migrate.ts';

/**
 * One row per event. An event that was sent twice is deduplicated by merges if both rows are equal, and counted once by reads.
 *
 * `exception_origins` says which groups were seen in which release and environment, and when first and last: what lists are
 * filtered by. Each value is a minimum or a maximum, so an event that is written twice changes nothing.
 */
export const exceptionTables = ({
  isCluster,
  onCluster,
  stored,
  engine,
  settings,
  distributed,
}: Rendering): readonly string[] => [
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
  SETTINGS index_granularity = 8192${settings}`,

  ...distributed('exception_events', 'cityHash64(service_id, group_id)'),

  `CREATE TABLE IF NOT EXISTS ${stored('exception_origins')}${onCluster} (
    service_id UUID,
    release LowCardinality(String),
    environment LowCardinality(String),
    group_id UUID,
    first_at SimpleAggregateFunction(min, DateTime64(3, 'UTC')),
    last_at SimpleAggregateFunction(max, DateTime64(3, 'UTC'))
  ) ENGINE = ${engine('AggregatingMergeTree', 'exception_origins')}
  ORDER BY (service_id, release, environment, group_id)
  SETTINGS index_granularity = 8192${isCluster ? settings : NOTHING_REMEMBERED}`,

  ...distributed('exception_origins', 'cityHash64(service_id, group_id)'),

  // Each shard has those of its own groups.
  `CREATE MATERIALIZED VIEW IF NOT EXISTS exception_origins_of_events${onCluster} TO ${stored('exception_origins')} AS
  SELECT service_id, release, environment, group_id, min(at) AS first_at, max(at) AS last_at
  FROM ${stored('exception_events')} GROUP BY service_id, release, environment, group_id`,
];

/** Every insert counts: those of a view have no token of their own. */
const NOTHING_REMEMBERED = ', non_replicated_deduplication_window = 0';
