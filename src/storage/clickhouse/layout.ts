/** The tables that hold data. Their names do not change with the layout: queries name these. */
export type DataTable =
  | 'metric_points'
  | 'metric_series'
  | 'metric_names'
  | 'metric_exemplars'
  | 'exception_events'
  | 'exception_origins';

/** The tables that are made from points, and made again where they are missing: neither copied nor backed up. */
export const ROLLUP_TABLES = ['metric_rollups', 'metric_hour_inserts', 'metric_days', 'metric_hours'] as const;

export type RollupTable = (typeof ROLLUP_TABLES)[number];

/**
 * Placement of the tables: on one server, or spread over the shards of a cluster, where the table that queries name is
 * a `Distributed` one, which holds no rows itself. Deletions and changes of tables go to the tables that hold rows, on
 * every shard. A service that replicates by itself, such as ClickHouse Cloud, counts as one server.
 */
export interface Layout {
  /** Null for one server. */
  readonly cluster: string | null;
  /** Clause after the name of a table in statements for every server of the cluster; empty for one server. */
  readonly onCluster: string;
  /** The table that holds the rows; of a cluster, on each of its servers. */
  stored(table: DataTable | RollupTable): string;
  /** A system table of all servers. */
  system(table: 'parts' | 'mutations'): string;
}

const ONE_SERVER: Layout = {
  cluster: null,
  onCluster: '',
  stored: (table) => table,
  system: (table) => `system.${table}`,
};

export function layoutOf(cluster: string | undefined): Layout {
  if (cluster === undefined) return ONE_SERVER;
  return {
    cluster,
    onCluster: ` ON CLUSTER ${quoteName(cluster)}`,
    stored: (table) => `${table}_local`,
    system: (table) => `clusterAllReplicas(${quoteText(cluster)}, system.${table})`,
  };
}

/** A name in a statement, which may have hyphens and dots. */
export function quoteName(name: string): string {
  return `\`${name.replaceAll('\\', '\\\\').replaceAll('`', '\\`')}\``;
}

export function quoteText(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
