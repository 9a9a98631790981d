import type { Rendering } from '#storage/clickhouse/migrate.ts';

/**
 * Which groups were seen in which release and environment, and when first and last: what lists are filtered by. Each value
 * is a minimum or a maximum, so an event that is written twice, or a run that is broken off and repeated, changes nothing.
 */
export const statements = ({ onCluster, stored, engine, settings, distributed }: Rendering): readonly string[] => [
  `CREATE TABLE IF NOT EXISTS ${stored('exception_origins')}${onCluster} (
    service_id UUID,
    release LowCardinality(String),
    environment LowCardinality(String),
    group_id UUID,
    first_at SimpleAggregateFunction(min, DateTime64(3, 'UTC')),
    last_at SimpleAggregateFunction(max, DateTime64(3, 'UTC'))
  ) ENGINE = ${engine('AggregatingMergeTree', 'exception_origins')}
  ORDER BY (service_id, release, environment, group_id)
  SETTINGS non_replicated_deduplication_window = 0${settings}`,

  ...distributed('exception_origins', 'cityHash64(service_id, group_id)'),

  // Each shard has those of its own groups.
  `CREATE MATERIALIZED VIEW IF NOT EXISTS exception_origins_of_events${onCluster} TO ${stored('exception_origins')} AS
  SELECT service_id, release, environment, group_id, min(at) AS first_at, max(at) AS last_at
  FROM ${stored('exception_events')} GROUP BY service_id, release, environment, group_id`,

  // What came before the view; through the tables that queries name, so that each shard gets its own.
  `INSERT INTO exception_origins (service_id, release, environment, group_id, first_at, last_at)
  SELECT service_id, release, environment, group_id, min(at), max(at) FROM exception_events
  GROUP BY service_id, release, environment, group_id`,
];
