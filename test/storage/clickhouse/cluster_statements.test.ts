import path from 'node:path';

import { expect, inject, onTestFinished, test } from 'vitest';

import { openClickHouse } from '#storage/clickhouse/clickhouse.ts';
import { layoutOf } from '#storage/clickhouse/layout.ts';
import { migrationFiles, renderingFor, statementsOf } from '#storage/clickhouse/migrate.ts';

/** The embedded engine takes a quoted name with a hyphen before `(` for a function that it does not allow. */
const PLAIN_NAME = 'my_cluster';

const SERVICE = '01a1ff3c-b288-777c-8e53-880635e01510';
const VALUES = { service: SERVICE, services: [SERVICE] };

const DIR = path.resolve('infra/migrations/clickhouse');

async function statementsFor(cluster: string): Promise<string[]> {
  const rendering = renderingFor({ layout: layoutOf(cluster), database: 'my-events' });
  const files = await migrationFiles(DIR);
  return (await Promise.all(files.map((file) => statementsOf(DIR, file, rendering)))).flat();
}

test('ClickHouse reads every statement for a cluster, and each is for all of its servers', async () => {
  const client = openClickHouse({ clickhouseUrl: inject('clickhouseUrl') });
  onTestFinished(() => client.close());
  const treeOf = async (statement: string): Promise<string> => {
    const read = await client.query({
      query: `EXPLAIN AST ${statement}`,
      query_params: VALUES,
      format: 'TabSeparated',
    });
    return await read.text();
  };
  const deletions = [
    "DELETE FROM metric_points_local ON CLUSTER `my-cluster` IN PARTITION ID '20270101' WHERE service_id IN {services:Array(UUID)}",
    'DELETE FROM metric_points_local ON CLUSTER `my-cluster` WHERE service_id = {service:UUID}',
    "ALTER TABLE metric_points_local ON CLUSTER `my-cluster` DROP PARTITION ID '20270101'",
    "ALTER TABLE metric_points_local ON CLUSTER `my-cluster` APPLY DELETED MASK IN PARTITION ID '20270101'",
    'CREATE DATABASE IF NOT EXISTS `my-events` ON CLUSTER `my-cluster`',
  ];
  const statements = [...(await statementsFor(PLAIN_NAME)), ...deletions];
  expect(statements.length).toBeGreaterThan(12);
  for (const statement of statements) {
    expect(statement).toMatch(/ ON CLUSTER `my[-_]cluster`/);
    expect(await treeOf(statement)).toMatch(/Query/);
  }
  // Values are in the statement before it goes to other servers.
  expect(await treeOf(deletions[1] ?? '')).toContain(SERVICE);
  await expect(treeOf('DELETE FROM a ON CLUSTER WHERE 1')).rejects.toThrow(/Syntax error/);
});

test('what a cluster has can be made again wherever it was broken off: no statement moves or drops anything', async () => {
  for (const statement of await statementsFor('c')) {
    expect(statement).toMatch(
      /^(CREATE (TABLE|MATERIALIZED VIEW) IF NOT EXISTS|ALTER TABLE \S+ .*MODIFY (COLUMN|SETTING)) /,
    );
  }
});

test('the names of tables in Keeper do not change when tables are renamed, and shards do not share them', async () => {
  const paths = (await statementsFor('c')).flatMap((text) => [
    ...text.matchAll(/Replicated\w+\('([^']+)', '\{replica\}'/g),
  ]);
  expect(paths.map(([, found]) => found)).toEqual([
    '/clickhouse/tables/my-events/{shard}/metric_points',
    '/clickhouse/tables/my-events/{shard}/metric_series',
    '/clickhouse/tables/my-events/{shard}/metric_names',
    '/clickhouse/tables/my-events/{shard}/metric_exemplars',
    '/clickhouse/tables/my-events/{shard}/metric_hours',
    '/clickhouse/tables/my-events/{shard}/metric_days',
    '/clickhouse/tables/my-events/{shard}/metric_rollups',
    '/clickhouse/tables/my-events/{shard}/metric_hour_inserts',
    '/clickhouse/tables/my-events/{shard}/exception_events',
    '/clickhouse/tables/my-events/{shard}/exception_origins',
  ]);
});

test('rows that replace each other meet in one shard', async () => {
  const spread = (await statementsFor('c')).flatMap((text) => [
    ...text.matchAll(/Distributed\('c', 'my-events', (.*)\)$/g),
  ]);
  expect(spread.map(([, found]) => found)).toEqual([
    "'metric_points_local', cityHash64(service_id, series)",
    "'metric_series_local', cityHash64(service_id, series)",
    "'metric_names_local', cityHash64(service_id)",
    "'metric_exemplars_local', cityHash64(service_id, metric)",
    "'metric_hours_local', cityHash64(service_id, series)",
    "'metric_days_local', cityHash64(service_id, series)",
    "'metric_rollups_local', cityHash64(service_id)",
    "'metric_hour_inserts_local', cityHash64(service_id)",
    "'exception_events_local', cityHash64(service_id, group_id)",
    "'exception_origins_local', cityHash64(service_id, group_id)",
  ]);
});
