import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

import { expect, inject, onTestFinished, test } from 'vitest';

import { startClickHouse } from '#infra/embedded/clickhouse.ts';
import { migrateEvents } from '#entry/migrate.ts';
import { withDatabase } from '#storage/clickhouse/address.ts';
import { type ClickHouseClient, openClickHouse } from '#storage/clickhouse/clickhouse.ts';
import { CLUSTER } from '#test/kit/programs/cluster_stand_in.ts';

const run = promisify(execFile);
const DAYS = 5;

test('everything is brought from one server to a cluster, once, and later only what has come since', async () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'tocsin-copy-'));
  const server = await startClickHouse(path.join(folder, 'clickhouse'));
  const source = openClickHouse({ clickhouseUrl: server.url });
  const to = withDatabase(inject('clickhouseUrl'), 'moved-here');
  const target = openClickHouse({ clickhouseUrl: to, clickhouseCluster: CLUSTER });
  onTestFinished(async () => {
    await Promise.all([source.close(), target.close()]);
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  await migrateEvents({ clickhouseUrl: server.url });
  await fill(source, 0);
  // What was sent twice counts once, here as there.
  await fill(source, 0);

  const copy = async (): Promise<string> => {
    const env = {
      PATH: process.env['PATH'],
      DATABASE_URL: inject('postgresUrl'),
      CLICKHOUSE_URL: server.url,
      APP_SECRET: 'a secret that is long enough for tests',
      DATA_DIR: folder,
    };
    const args = ['src/entry/cli.ts', 'clickhouse', 'copy', '--to', to, '--cluster', CLUSTER];
    const { stdout } = await run(process.execPath, args, { env });
    return stdout;
  };
  expect(await copy()).toContain(`metric_points: ${DAYS} of ${DAYS} partitions copied, equal now`);
  expect(await copy()).toContain(`metric_points: 0 of ${DAYS} partitions copied, equal now`);
  await fill(source, 1);
  expect(await copy()).toContain(`metric_points: 1 of ${DAYS} partitions copied, equal now`);
  const [points, events, names] = await Promise.all([
    one(target, 'SELECT count() FROM metric_points FINAL'),
    one(target, 'SELECT uniqExact(event_id) FROM exception_events'),
    one(target, 'SELECT uniqExact(metric) FROM metric_names'),
  ]);
  expect({ points, events, names }).toEqual({ points: DAYS * 1_000 + 1_000, events: 500, names: 2 });
});

/** A thousand points a day of two metrics, in the first round; one more thousand of the last day in the second. */
async function fill(client: ClickHouseClient, round: number): Promise<void> {
  const service = "toUUID('01a1ff3c-b288-777c-8e53-880635e01510')";
  const day = round === 0 ? `number % ${DAYS}` : String(DAYS - 1);
  const at = `toDateTime64('2027-03-10 12:00:00', 3, 'UTC') + toIntervalDay(${day}) + toIntervalSecond(number + ${round * 10_000})`;
  const rows = round === 0 ? DAYS * 1_000 : 1_000;
  await client.command({
    query: `INSERT INTO metric_points SELECT ${service}, concat('m', toString(number % 2)), number % 7, ${at}, number, 'gauge' FROM numbers(${rows})`,
  });
  if (round > 0) return;
  await client.command({
    query: `INSERT INTO metric_series SELECT ${service}, concat('m', toString(number % 2)), number, ${at}, map('host', toString(number)) FROM numbers(20)`,
  });
  await client.command({
    query: `INSERT INTO exception_events (service_id, group_id, event_id, at, payload)
      SELECT ${service}, toUUIDOrZero(toString(intDiv(number, 9))), reinterpretAsUUID(number), toDateTime64('2027-03-10 12:00:00', 3, 'UTC'), repeat('x', 2000) FROM numbers(500)`,
  });
}

async function one(client: ClickHouseClient, query: string): Promise<number> {
  const result = await client.query({ query, format: 'JSONCompactEachRow' });
  const [row] = await result.json<[string]>();
  return Number(row?.[0]);
}
