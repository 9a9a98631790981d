import { expect, test } from 'vitest';

import { migrate } from '#entry/migrate.ts';
import { isMigrated } from '#entry/migrated_by.ts';
import { world } from '#test/kit/world.ts';

test('stores that this release has migrated are known as such, and no others are', async () => {
  const w = await world({ fresh: true });
  const { config, clickhouse, db } = w.context;
  expect(await isMigrated(config)).toBe(false);
  await migrate(config);
  expect(await isMigrated(config)).toBe(true);
  expect(await isMigrated({ ...config, redisUrl: 'redis://127.0.0.1:1' })).toBe(false);
  expect(await isMigrated({ ...config, databaseUrl: 'postgres://nobody@127.0.0.1:1/x' })).toBe(false);

  await clickhouse.command({ query: 'TRUNCATE TABLE migrations' });
  expect(await isMigrated(config)).toBe(false);
  await migrate(config);
  expect(await isMigrated(config)).toBe(true);
  await db.sql.run(`update migrated_by set release = 'another'`);
  expect(await isMigrated(config)).toBe(false);
});
