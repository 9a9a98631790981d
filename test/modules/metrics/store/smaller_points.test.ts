import { randomBytes } from 'node:crypto';
import path from 'node:path';

import { expect, inject, onTestFinished, test } from 'vitest';

import { type ClickHouseClient, openClickHouse } from '#storage/clickhouse/clickhouse.ts';
import { layoutOf } from '#storage/clickhouse/layout.ts';
import { migrationFiles, renderingFor, statementsOf } from '#storage/clickhouse/migrate.ts';
import { withDatabase } from '#test/kit/templates.ts';

const DIR = path.resolve('infra/migrations/clickhouse');
const SMALLER = '0015_smaller_points.ts';
const SERVICE = '01a1ff3c-b288-777c-8e53-880635e01510';
/** Values that a codec for floats might change. */
const VALUES = ['0', '-0', '0.1', '-1e308', '5e-324', '9007199254740993', 'inf', '-inf'];

test('points stored before and after the codecs change keep every bit, also when they are merged', async () => {
  const client = await before();
  await insert(client, 0);
  const bits = await bitsOf(client);
  expect(bits).toHaveLength(VALUES.length);
  await apply(client, SMALLER);
  expect(await bitsOf(client)).toEqual(bits);
  await insert(client, 1);
  await client.command({ query: 'OPTIMIZE TABLE metric_points FINAL' });
  expect(await bitsOf(client)).toEqual([...bits, ...bits]);
});

test('the migration can be repeated', async () => {
  const client = await before();
  await apply(client, SMALLER);
  await insert(client, 0);
  await apply(client, SMALLER);
  expect(await bitsOf(client)).toHaveLength(VALUES.length);
});

/** A database of the version before. */
async function before(): Promise<ClickHouseClient> {
  const name = `s_${randomBytes(6).toString('hex')}`;
  const server = openClickHouse({ clickhouseUrl: inject('clickhouseUrl') });
  await server.command({ query: `CREATE DATABASE ${name}` });
  const client = openClickHouse({ clickhouseUrl: withDatabase(inject('clickhouseUrl'), name) });
  onTestFinished(async () => {
    await Promise.all([client.close(), server.close()]);
  });
  for (const file of await migrationFiles(DIR)) if (file < SMALLER) await apply(client, file);
  return client;
}

async function apply(client: ClickHouseClient, file: string): Promise<void> {
  const rendering = renderingFor({ layout: layoutOf(undefined), database: 'any' });
  for (const query of await statementsOf(DIR, file, rendering)) await client.command({ query });
}

/** One point a value, in this minute. */
async function insert(client: ClickHouseClient, minute: number): Promise<void> {
  const rows = VALUES.map(
    (value, second) =>
      `('${SERVICE}', 'm', 1, toDateTime64('2027-03-10 12:0${minute}:0${second}', 3, 'UTC'), ${value}, 'gauge')`,
  );
  await client.command({
    query: `INSERT INTO metric_points (service_id, metric, series, ts, value, kind) VALUES ${rows.join(', ')}`,
  });
}

async function bitsOf(client: ClickHouseClient): Promise<string[]> {
  const result = await client.query({
    query: 'SELECT hex(reinterpretAsUInt64(value)) FROM metric_points FINAL ORDER BY ts',
    format: 'JSONCompactEachRow',
  });
  return (await result.json<[string]>()).map(([value]) => value);
}
