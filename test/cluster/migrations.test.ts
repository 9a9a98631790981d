import path from 'node:path';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { messageOf } from '#kernel/errors.ts';
import { withDatabase } from '#storage/clickhouse/address.ts';
import { type ClickHouseClient, openClickHouse } from '#storage/clickhouse/clickhouse.ts';
import { migrateClickHouse } from '#storage/clickhouse/migrate.ts';
import { CLUSTER, type ClusterStandIn, startClusterStandIn } from '#test/kit/programs/cluster_stand_in.ts';
import { canRunWith } from '#test/kit/programs/debian_packages.ts';
import { hasZookeeper, startZookeeper } from '#test/kit/programs/zookeeper.ts';

const DIR = path.resolve('infra/migrations/clickhouse');
const TABLES = [
  'exception_events',
  'exception_origins',
  'metric_days',
  'metric_exemplars',
  'metric_hour_inserts',
  'metric_hours',
  'metric_names',
  'metric_points',
  'metric_rollups',
  'metric_series',
];
const VIEWS = ['exception_origins_of_events', 'metric_hour_inserts_of_points', 'metric_names_of_series'];

/**
 * Two shards with two replicas each, with ZooKeeper between them. The engines refuse `ON CLUSTER`, so each statement is
 * sent to one after another, which is what ClickHouse does with it.
 */
describe.skipIf(!canRunWith('zookeeper', hasZookeeper))('the tables of two shards with two replicas', () => {
  let keeper: Awaited<ReturnType<typeof startZookeeper>>;
  let servers: ClusterStandIn[] = [];

  beforeAll(async () => {
    keeper = await startZookeeper();
    const places = [1, 2].flatMap((shard) => [1, 2].map((replica) => ({ shard, replica })));
    servers = await Promise.all(places.map((place) => startClusterStandIn({ ...place, keeperPort: keeper.port })));
  });
  afterAll(async () => {
    await Promise.all(servers.map((server) => server.stop()));
    await keeper.stop();
  });

  /** A client of a new database that ends with an error behind this many commands of a server. */
  async function clientOf(database: string, commandsMax = Infinity) {
    const clients = servers.map(({ url }) =>
      openClickHouse({ clickhouseUrl: withDatabase(url, database), clickhouseCluster: CLUSTER }),
    );
    for (const { url } of servers) {
      const admin = openClickHouse({ clickhouseUrl: url });
      await admin.command({ query: `CREATE DATABASE IF NOT EXISTS \`${database}\`` });
      await admin.close();
    }
    let commands = 0;
    const [first] = clients as [ClickHouseClient];
    const client: ClickHouseClient = {
      layout: first.layout,
      database,
      query: first.query.bind(first),
      exec: first.exec.bind(first),
      insert: first.insert.bind(first),
      async command(params) {
        let result: Awaited<ReturnType<ClickHouseClient['command']>> | null = null;
        for (const one of clients) {
          if ((commands += 1) > commandsMax) throw new Error('broken off');
          result = await one.command(params).catch(async (error: unknown) => {
            // Replicated tables of the stand-ins are read-only, as these refuse to start replication (see README.md).
            const isRefused = messageOf(error).includes('readonly mode') && params.query.startsWith('ALTER TABLE');
            if (!isRefused) throw error;
            return await one.command({ query: 'SELECT 1' });
          });
        }
        if (result === null) throw new Error('no server');
        return result;
      },
      close: async () => void (await Promise.all(clients.map((one) => one.close()))),
    };
    return { client, clients, commands: () => commands };
  }

  async function rowsOf<Row>(client: ClickHouseClient, query: string): Promise<Row[]> {
    const result = await client.query({
      query,
      query_params: { database: client.database },
      format: 'JSONCompactEachRow',
    });
    return await result.json<Row>();
  }

  /** Expects every table on every server, and that each finds the other replica of its shard and no other. */
  async function expectWhole(clients: readonly ClickHouseClient[], database: string): Promise<void> {
    for (const [place, client] of clients.entries()) {
      const shard = place < 2 ? 1 : 2;
      const replicas = await rowsOf(
        client,
        'SELECT table, zookeeper_path, total_replicas FROM system.replicas WHERE database = {database:String} ORDER BY table',
      );
      expect(replicas).toEqual(
        TABLES.map((table) => [`${table}_local`, `/clickhouse/tables/${database}/${shard}/${table}`, 2]),
      );
      const others = await rowsOf<[string, string]>(
        client,
        "SELECT name, engine FROM system.tables WHERE database = {database:String} AND engine NOT LIKE 'Replicated%' ORDER BY name",
      );
      const meant = [
        ...TABLES.map((table) => [table, 'Distributed']),
        ...VIEWS.map((view) => [view, 'MaterializedView']),
        ['migrations', 'MergeTree'],
      ];
      expect(others).toEqual(meant.toSorted(([a = ''], [b = '']) => (a < b ? -1 : 1)));
    }
  }

  test('are made, and made again without a change', async () => {
    const { client, clients } = await clientOf('twice-over');
    await migrateClickHouse(client, DIR);
    await expectWhole(clients, 'twice-over');
    for (const one of clients) await one.command({ query: 'TRUNCATE TABLE migrations' });
    await migrateClickHouse(client, DIR);
    await expectWhole(clients, 'twice-over');
    expect(clients).toHaveLength(4);
    await client.close();
  });

  test('are whole after a break behind any statement of any server', async () => {
    const whole = await clientOf('whole');
    await migrateClickHouse(whole.client, DIR);
    await whole.client.close();
    const count = whole.commands();
    expect(count).toBeGreaterThan(36);
    for (let commandsMax = 0; commandsMax < count; commandsMax += 1) {
      const database = `broken-${commandsMax}`;
      const broken = await clientOf(database, commandsMax);
      await expect(migrateClickHouse(broken.client, DIR)).rejects.toThrow('broken off');
      await broken.client.close();
      const again = await clientOf(database);
      await migrateClickHouse(again.client, DIR);
      await expectWhole(again.clients, database);
      await again.client.close();
    }
    console.log(`migrations: broken off behind each of ${count} commands on 4 servers, whole after the next run`);
  });

  test('that were exchanged and dropped can be made anew, as a name in Keeper is not that of a table', async () => {
    const { client } = await clientOf('exchanged');
    await migrateClickHouse(client, DIR);
    const create = (name: string, generation: string) =>
      `CREATE TABLE IF NOT EXISTS ${name} (a UInt8) ENGINE = ReplicatedMergeTree('/clickhouse/tables/exchanged/{shard}/${generation}', '{replica}') ORDER BY a`;
    await client.command({ query: create('points', 'points_1') });
    await client.command({ query: create('points_next', 'points_2') });
    await client.command({ query: 'EXCHANGE TABLES points AND points_next' });
    await client.command({ query: 'DROP TABLE points_next SYNC' });
    // The next change of this kind, behind the one that was broken off.
    await client.command({ query: create('points_next', 'points_1') });
    const tables = await rowsOf(
      client,
      "SELECT name FROM system.tables WHERE database = {database:String} AND name LIKE 'points%' ORDER BY name",
    );
    expect(tables).toEqual([['points'], ['points_next']]);
    await client.close();
  });
});
