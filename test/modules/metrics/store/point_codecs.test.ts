import { randomBytes } from 'node:crypto';
import path from 'node:path';

import { expect, inject, onTestFinished, test } from 'vitest';

import { type ClickHouseClient, openClickHouse } from '#storage/clickhouse/clickhouse.ts';
import { migrateClickHouse } from '#storage/clickhouse/migrate.ts';
import { withDatabase } from '#test/kit/templates.ts';

const DIR = path.resolve('infra/migrations/clickhouse');
const SERVICE = '01a1ff3c-b288-777c-8e53-880635e01510';
/** Values that a codec for floats might change. */
const VALUES = [0, -0, 0.1, -1e308, 5e-324, 9_007_199_254_740_992, Infinity, -Infinity];

test('points keep every bit of their values, also when they are merged and when the migration is repeated', async () => {
  const client = await emptyDatabase();
  await insert(client, 0);
  expect(await bitsOf(client)).toEqual(VALUES.map(bits));
  await client.command({ query: 'TRUNCATE TABLE migrations' });
  await migrateClickHouse(client, DIR);
  await insert(client, 1);
  await client.command({ query: 'OPTIMIZE TABLE metric_points FINAL' });
  expect(await bitsOf(client)).toEqual([...VALUES, ...VALUES].map(bits));
});

async function emptyDatabase(): Promise<ClickHouseClient> {
  const name = `s_${randomBytes(6).toString('hex')}`;
  const server = openClickHouse({ clickhouseUrl: inject('clickhouseUrl') });
  await server.command({ query: `CREATE DATABASE ${name}` });
  const client = openClickHouse({ clickhouseUrl: withDatabase(inject('clickhouseUrl'), name) });
  onTestFinished(async () => {
    await Promise.all([client.close(), server.close()]);
  });
  await migrateClickHouse(client, DIR);
  return client;
}

/** One point a value, in this minute. */
async function insert(client: ClickHouseClient, minute: number): Promise<void> {
  const rows = VALUES.map((value, second) => {
    const at = `toDateTime64('2027-03-10 12:0${minute}:0${second}', 3, 'UTC')`;
    return `('${SERVICE}', 'm', 1, ${at}, reinterpretAsFloat64(unhex('${littleEndian(value)}')), 'gauge')`;
  });
  await client.command({
    query: `INSERT INTO metric_points (service_id, metric, series, ts, value, kind) VALUES ${rows.join(', ')}`,
  });
}

async function bitsOf(client: ClickHouseClient): Promise<string[]> {
  const result = await client.query({
    query: 'SELECT hex(reinterpretAsUInt64(value)) FROM metric_points FINAL ORDER BY ts',
    format: 'JSONCompactEachRow',
  });
  return (await result.json<[string]>()).map(([value]) => value.padStart(16, '0'));
}

function bits(value: number): string {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleBE(value);
  return bytes.toString('hex').toUpperCase();
}

function littleEndian(value: number): string {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(value);
  return bytes.toString('hex');
}
