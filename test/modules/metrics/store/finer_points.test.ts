import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

import { expect, inject, onTestFinished, test } from 'vitest';

import { type ClickHouseClient, openClickHouse } from '#storage/clickhouse/clickhouse.ts';
import { layoutOf } from '#storage/clickhouse/layout.ts';
import { type ClickHouseMigration, renderingFor } from '#storage/clickhouse/migrate.ts';
import { withDatabase } from '#test/kit/templates.ts';

const BEFORE = ['0001_metric_points.ts', '0003_metric_series.ts'];
const FINER = '0004_finer_points.ts';
const SERVICE = '01a1ff3c-b288-777c-8e53-880635e01510';

test('points that are there when the index becomes finer are there afterwards, each once', async () => {
  const client = await before();
  await insert(client, 'metric_points', [1, 2, 3, 3]);
  await apply(client, FINER);
  expect(await valuesOf(client)).toEqual([1, 2, 3]);
  expect(await granuleOf(client)).toContain('index_granularity = 1024');
  await insert(client, 'metric_points', [4]);
  expect(await valuesOf(client)).toEqual([1, 2, 3, 4]);
});

test.each(['as it was', 'as it is to be'])(
  'what only a run that was broken off has, in a table %s, is kept',
  async (shape) => {
    const client = await before();
    await insert(client, 'metric_points', [1, 2]);
    if (shape === 'as it was') await client.command({ query: 'CREATE TABLE metric_points_next AS metric_points' });
    else await statementsUntil(client, 'INSERT');
    await insert(client, 'metric_points_next', [2, 7]);
    await apply(client, FINER);
    expect(await valuesOf(client)).toEqual([1, 2, 7]);
    expect(await tablesOf(client)).not.toContain('metric_points_next');
  },
);

/** A database of the version before. */
async function before(): Promise<ClickHouseClient> {
  const name = `f_${randomBytes(6).toString('hex')}`;
  const server = openClickHouse({ clickhouseUrl: inject('clickhouseUrl') });
  await server.command({ query: `CREATE DATABASE ${name}` });
  const client = openClickHouse({ clickhouseUrl: withDatabase(inject('clickhouseUrl'), name) });
  onTestFinished(async () => {
    await Promise.all([client.close(), server.close()]);
  });
  for (const file of BEFORE) await apply(client, file);
  return client;
}

async function statementsOf(file: string): Promise<readonly string[]> {
  const address = pathToFileURL(path.resolve('infra/migrations/clickhouse', file)).href;
  const { statements } = (await import(address)) as ClickHouseMigration;
  return statements(renderingFor({ layout: layoutOf(undefined), database: 'any' }));
}

async function apply(client: ClickHouseClient, file: string): Promise<void> {
  for (const query of await statementsOf(file)) await client.command({ query });
}

async function statementsUntil(client: ClickHouseClient, word: string): Promise<void> {
  for (const query of await statementsOf(FINER)) {
    if (query.trimStart().startsWith(word)) return;
    await client.command({ query });
  }
}

/** One point a value, at that second. */
async function insert(client: ClickHouseClient, table: string, values: readonly number[]): Promise<void> {
  const rows = values.map(
    (value) => `('${SERVICE}', 'm', 1, toDateTime64('2027-03-10 12:00:0${value}', 3, 'UTC'), ${value}, 'gauge')`,
  );
  await client.command({
    query: `INSERT INTO ${table} (service_id, metric, series, ts, value, kind) VALUES ${rows.join(', ')}`,
  });
}

async function valuesOf(client: ClickHouseClient): Promise<number[]> {
  return await column(client, 'SELECT value FROM metric_points FINAL ORDER BY ts');
}

async function granuleOf(client: ClickHouseClient): Promise<string> {
  return String(await column(client, 'SHOW CREATE TABLE metric_points'));
}

async function tablesOf(client: ClickHouseClient): Promise<string[]> {
  return await column(client, 'SHOW TABLES');
}

async function column<Value>(client: ClickHouseClient, query: string): Promise<Value[]> {
  const result = await client.query({ query, format: 'JSONCompactEachRow' });
  return (await result.json<[Value]>()).map(([value]) => value);
}
