import type { Rendering } from '#storage/clickhouse/migrate.ts';

/** Single observations with the trace that they belong to, a few for each series and minute: dots of a chart. */
export const statements = ({ onCluster, stored, engine, settings, distributed }: Rendering): readonly string[] => [
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
  SETTINGS non_replicated_deduplication_window = 1000${settings}`,

  ...distributed('metric_exemplars', 'cityHash64(service_id, metric)'),
];
