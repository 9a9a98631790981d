import type { Rendering } from '#storage/clickhouse/migrate.ts';

/**
 * More inserts are recognized when they are repeated: under load a thousand are over within minutes. A service that
 * replicates by itself goes by the other two settings, of which the second is hours instead of one.
 */
export const statements = ({ isCluster }: Rendering): readonly string[] =>
  isCluster
    ? []
    : ['metric_points', 'metric_series', 'exception_events'].map(
        (table) => `ALTER TABLE ${table} MODIFY SETTING non_replicated_deduplication_window = 10000,
          replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 21600`,
      );
