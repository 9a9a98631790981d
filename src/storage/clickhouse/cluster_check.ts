import type { ClickHouseSettings } from '@clickhouse/client';

import type { ClickHouseClient } from '#storage/clickhouse/clickhouse.ts';

export interface ClusterFault {
  /** Says what to change. */
  readonly sentence: string;
  /** Whether it may pass by itself, as a server that is away does. */
  readonly mayPass: boolean;
}

interface Server {
  readonly shard: number;
  readonly host: string;
}

/**
 * A server that is away is given up soon, and left out.
 * https://clickhouse.com/docs/operations/settings/settings#skip_unavailable_shards
 */
const WHO_IS_THERE: ClickHouseSettings = {
  skip_unavailable_shards: 1,
  connections_with_failover_max_tries: '1',
  connect_timeout_with_failover_ms: 1_500,
};

/**
 * Whether the cluster is there and fits: null when it does. To read and write, one server of each shard is enough;
 * migrations need `everyServer`, because tables are made on each.
 */
export async function findClusterFault(
  client: ClickHouseClient,
  { everyServer, database = client.database }: { readonly everyServer: boolean; readonly database?: string },
): Promise<ClusterFault | null> {
  const { cluster } = client.layout;
  if (cluster === null) return await findOtherCluster(client, database);
  const servers = await listServers(client, cluster);
  if (servers.length === 0) return { sentence: await unknownCluster(client, cluster), mayPass: false };
  const there = await listAnswering(client, cluster);
  const isThere = (_: Server, index: number): boolean => there.has(index + 1);
  const away = servers.filter((server, index) => !isThere(server, index));
  const shardsThere = new Set(servers.filter(isThere).map(({ shard }) => shard));
  const shardsAway = new Set(away.map(({ shard }) => shard).filter((shard) => !shardsThere.has(shard)));
  if (shardsAway.size > 0) {
    const hosts = away.filter(({ shard }) => shardsAway.has(shard)).map(({ host }) => host);
    return {
      sentence: `shard ${[...shardsAway].join(', ')} of the cluster "${cluster}" does not answer to the others: start ${hosts.join(' or ')}, or correct remote_servers`,
      mayPass: true,
    };
  }
  if (everyServer && away.length > 0) {
    return {
      sentence: `the tables are made on every server of the cluster "${cluster}", and ${away.map(({ host }) => host).join(', ')} does not answer to the others: start it, or take it out of remote_servers`,
      mayPass: true,
    };
  }
  return (
    (await findWrongReplication(client, cluster)) ??
    (everyServer ? await findMissingMacro(client, cluster, servers) : null) ??
    (await findForeignTables(client, database))
  );
}

/** The tables of one server, or of a cluster that is not named, look the same to queries, and must not be mixed. */
async function findOtherCluster(client: ClickHouseClient, database: string): Promise<ClusterFault | null> {
  const engine = await engineOf(client, database);
  if (engine !== 'Distributed') return null;
  const [table] = await rows<[definition: string]>(
    client,
    `SELECT engine_full FROM system.tables WHERE database = {database:String} AND name = 'metric_points'`,
    { database },
  );
  const [, cluster = ''] = /^Distributed\('([^']*)'/.exec(table?.[0] ?? '') ?? [];
  return {
    sentence: `the tables of this database belong to the cluster "${cluster}": set CLICKHOUSE_CLUSTER to it`,
    mayPass: false,
  };
}

async function findForeignTables(client: ClickHouseClient, database: string): Promise<ClusterFault | null> {
  const engine = await engineOf(client, database);
  if (engine === null || engine === 'Distributed') return null;
  return {
    sentence: `the database "${database}" has tables of one server (${engine}): name another database in CLICKHOUSE_URL, and bring the data over with "tocsin clickhouse copy"`,
    mayPass: false,
  };
}

async function engineOf(client: ClickHouseClient, database: string): Promise<string | null> {
  const [table] = await rows<[engine: string]>(
    client,
    `SELECT engine FROM system.tables WHERE database = {database:String} AND name = 'metric_points'`,
    { database },
  );
  return table?.[0] ?? null;
}

/** Lists the servers, each once, in the order in which `clusterAllReplicas` counts them. */
async function listServers(client: ClickHouseClient, cluster: string): Promise<Server[]> {
  const hosts = await rows<[shard: number, host: string, port: number]>(
    client,
    `SELECT shard_num, host_name, port FROM system.clusters WHERE cluster = {cluster:String}
     ORDER BY shard_num, replica_num`,
    { cluster },
  );
  const servers = new Map<string, Server>();
  for (const [shard, name, port] of hosts) {
    const host = `${name}:${port}`;
    if (!servers.has(host)) servers.set(host, { shard, host });
  }
  return [...servers.values()];
}

async function listAnswering(client: ClickHouseClient, cluster: string): Promise<Set<number>> {
  const shards = await rows<[number]>(
    client,
    `SELECT DISTINCT toUInt32(_shard_num) FROM clusterAllReplicas({cluster:String}, system.one)`,
    { cluster },
    WHO_IS_THERE,
  );
  return new Set(shards.map(([place]) => place));
}

async function unknownCluster(client: ClickHouseClient, cluster: string): Promise<string> {
  const clusters = await rows<[string]>(
    client,
    'SELECT DISTINCT cluster FROM system.clusters ORDER BY cluster LIMIT 20',
  );
  const names = clusters.map(([name]) => `"${name}"`).join(', ');
  return `ClickHouse knows no cluster "${cluster}"${names === '' ? '' : `, but ${names}`}: correct CLICKHOUSE_CLUSTER, or add the cluster to remote_servers`;
}

/** A `Distributed` table that writes to every replica by itself would store rows twice as often as there are replicas. */
async function findWrongReplication(client: ClickHouseClient, cluster: string): Promise<ClusterFault | null> {
  const [column] = await rows<[string]>(
    client,
    `SELECT name FROM system.columns WHERE database = 'system' AND table = 'clusters' AND name = 'internal_replication'`,
  );
  if (column === undefined) return null;
  const [wrong] = await rows<[number]>(
    client,
    `SELECT shard_num FROM system.clusters WHERE cluster = {cluster:String} AND NOT internal_replication LIMIT 1`,
    { cluster },
  );
  if (wrong === undefined) return null;
  return {
    sentence: `shard ${wrong[0]} of the cluster "${cluster}" does not replicate by itself: set internal_replication to true in remote_servers`,
    mayPass: false,
  };
}

/** Tables find their replicas by the names that each server gives itself. */
async function findMissingMacro(
  client: ClickHouseClient,
  cluster: string,
  servers: readonly Server[],
): Promise<ClusterFault | null> {
  const layouts = await rows<[place: number, macros: number]>(
    client,
    `SELECT toUInt32(_shard_num) AS place, toUInt32(uniqExact(macro)) FROM clusterAllReplicas({cluster:String}, system.macros)
     WHERE macro IN ('shard', 'replica') GROUP BY place`,
    { cluster },
  );
  const complete = new Set(layouts.filter(([, macros]) => macros === 2).map(([place]) => place));
  const missing = servers.filter((_, index) => !complete.has(index + 1)).map(({ host }) => host);
  if (missing.length === 0) return null;
  return {
    sentence: `${missing.join(', ')} does not say which shard and replica it is: set the macros "shard" and "replica" there`,
    mayPass: false,
  };
}

/**
 * Returns the reason, in words, why the replicated tables take no rows; null when nothing prevents it, or nothing is
 * replicated.
 */
export async function findReplicaFault(client: ClickHouseClient): Promise<string | null> {
  const { cluster } = client.layout;
  const from = cluster === null ? 'system.replicas' : 'clusterAllReplicas({cluster:String}, system.replicas)';
  const [replica] = await rows<[table: string, isReadonly: number, active: number, total: number]>(
    client,
    `SELECT table, toUInt32(is_readonly), toUInt32(active_replicas), toUInt32(total_replicas) FROM ${from}
     WHERE database = {database:String} AND table != 'migrations'
       AND (is_readonly OR active_replicas * 2 <= total_replicas AND total_replicas > 1)
     ORDER BY is_readonly DESC, table LIMIT 1`,
    { cluster: cluster ?? '', database: client.database },
    WHO_IS_THERE,
  );
  if (replica === undefined) return null;
  const [table, isReadonly, active, total] = replica;
  return isReadonly === 1
    ? `a replica of ${table} is read-only: it cannot reach Keeper, or has lost its data`
    : `${active} of ${total} replicas of ${table} are there, which is no majority: nothing is stored until more are`;
}

async function rows<Row extends readonly unknown[]>(
  client: ClickHouseClient,
  query: string,
  parameters: Record<string, unknown> = {},
  settings: ClickHouseSettings = {},
): Promise<Row[]> {
  const result = await client.query({
    query,
    query_params: parameters,
    format: 'JSONCompactEachRow',
    clickhouse_settings: settings,
  });
  return await result.json<Row>();
}
