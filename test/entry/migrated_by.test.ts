import { expect, test } from 'vitest';

import { Client } from 'pg';

import { CLEAR_RESTORE_MARKER, setRestoreMarker } from '#entry/backup/restore_marker.ts';
import { migrate, recordRelease } from '#entry/migrate.ts';
import { claimMigrated } from '#entry/migrated_by.ts';
import { world } from '#test/kit/world.ts';

test('stores that this release has migrated are known as such, and no others are', async () => {
  const w = await world({ fresh: true });
  const { config, clickhouse, db } = w.context;
  expect(await claimMigrated(config)).toBe(false);
  await migrate(config);
  expect(await claimMigrated(config)).toBe(true);
  expect(await claimMigrated({ ...config, redisUrl: 'redis://127.0.0.1:1' })).toBe(false);
  expect(await claimMigrated({ ...config, databaseUrl: 'postgres://nobody@127.0.0.1:1/x' })).toBe(false);

  await clickhouse.command({ query: 'TRUNCATE TABLE migrations' });
  expect(await claimMigrated(config)).toBe(false);
  await migrate(config);
  expect(await claimMigrated(config)).toBe(true);
  await db.sql.run(`update migrated_by set release = 'another'`);
  expect(await claimMigrated(config)).toBe(false);
});

test('stores whose restore has not ended are no stores to start on', async () => {
  const { config } = (await world({ fresh: true })).context;
  await migrate(config);
  const client = new Client({ connectionString: config.databaseUrl });
  await client.connect();
  await setRestoreMarker(client, 'a backup');
  expect(await claimMigrated(config)).toBe(false);
  await client.query(CLEAR_RESTORE_MARKER);
  expect(await claimMigrated(config)).toBe(true);
  await client.end();
});

test('stores that were migrated ahead belong to the first installation that starts on them', async () => {
  const { config, db } = (await world({ fresh: true })).context;
  await db.sql.run('truncate installation');
  await db.sql.run(`update leases set done_at = now() - interval '20 days'`);
  await recordRelease(config);
  expect(await claimMigrated(config)).toBe(true);
  expect(await db.sql.rows(`select from leases where done_at < now() - interval '1 day'`)).toEqual([]);
  expect(await claimMigrated({ ...config, appSecret: 'x'.repeat(64) })).toBe(false);
  expect(await claimMigrated(config)).toBe(true);
});
