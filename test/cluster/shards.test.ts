import { expect, inject, onTestFinished, test } from 'vitest';

import { loadConfig } from '#entry/config.ts';
import { findPreflightFaults } from '#entry/preflight.ts';
import { migrate } from '#entry/migrate.ts';
import { openClickHouse } from '#storage/clickhouse/clickhouse.ts';
import { withClickHouseErrors } from '#storage/clickhouse/faults.ts';
import { findStorageFault } from '#storage/clickhouse/storage_check.ts';
import { CLUSTER, LAME_CLUSTER } from '#test/kit/programs/cluster_stand_in.ts';
import { world } from '#test/kit/world.ts';

async function faultsWith(clickhouseUrl: string, cluster: string | null) {
  const config = loadConfig({
    CLICKHOUSE_URL: clickhouseUrl,
    ...(cluster !== null && { CLICKHOUSE_CLUSTER: cluster }),
  });
  return await findPreflightFaults(config, { listens: false });
}

test('a shard that is away is named at the start and by /healthz, and nothing is migrated', async () => {
  const w = await world();
  const { clickhouseUrl } = w.context.config;
  expect(await faultsWith(clickhouseUrl, CLUSTER)).toEqual([]);
  const sentence =
    /^CLICKHOUSE_URL: shard 2 of the cluster "lame" does not answer to the others: start 127\.0\.0\.1:\d+, or correct remote_servers$/;
  const [fault] = await faultsWith(clickhouseUrl, LAME_CLUSTER);
  expect(fault).toEqual({ sentence: expect.stringMatching(sentence), mayPass: true, store: 'ClickHouse' });
  await expect(migrate({ ...w.context.config, clickhouseCluster: LAME_CLUSTER })).rejects.toThrow(
    /^CLICKHOUSE_CLUSTER: shard 2/,
  );
  const client = openClickHouse({ clickhouseUrl, clickhouseCluster: LAME_CLUSTER });
  onTestFinished(() => client.close());
  expect(await findStorageFault(client)).toMatch(/^shard 2 of the cluster "lame" does not answer/);
});

test('half of the rows are no answer: a read fails while a shard is away', async () => {
  const w = await world();
  const database = new URL(w.context.config.clickhouseUrl).pathname.slice(1);
  const address = { ...w.context.config, clickhouseCluster: LAME_CLUSTER };
  const client = openClickHouse(address);
  onTestFinished(() => client.close());
  await client.command({
    query: `CREATE TABLE half AS metric_points_local ENGINE = Distributed('${LAME_CLUSTER}', '${database}', 'metric_points_local')`,
  });
  const read = () => client.query({ query: 'SELECT count() FROM half', format: 'JSONCompactEachRow' });
  await expect(withClickHouseErrors(read)).rejects.toMatchObject({ code: 'unavailable' });
});

test('tables of a cluster and of one server are not mixed', async () => {
  const w = await world();
  const { clickhouseUrl } = w.context.config;
  expect((await faultsWith(clickhouseUrl, null)).map(({ sentence }) => sentence)).toEqual([
    'CLICKHOUSE_URL: the tables of this database belong to the cluster "one-shard": set CLICKHOUSE_CLUSTER to it',
  ]);
  const admin = openClickHouse({ clickhouseUrl: inject('clickhouseUrl') });
  onTestFinished(() => admin.close());
  await admin.command({ query: 'CREATE DATABASE IF NOT EXISTS single' });
  await admin.command({
    query: 'CREATE TABLE IF NOT EXISTS single.metric_points (a UInt8) ENGINE = MergeTree ORDER BY a',
  });
  const single = clickhouseUrl.replace(/[^/]+$/, 'single');
  expect((await faultsWith(single, CLUSTER)).map(({ sentence }) => sentence)).toEqual([
    'CLICKHOUSE_URL: the database "single" has tables of one server (MergeTree): name another database in CLICKHOUSE_URL, and bring the data over with "tocsin clickhouse copy"',
  ]);
});
