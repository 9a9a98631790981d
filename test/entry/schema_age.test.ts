import { randomBytes } from 'node:crypto';

import pg from 'pg';
import { afterAll, afterEach, expect, onTestFinished, test } from 'vitest';

import { migrate, migratePostgres } from '#entry/migrate.ts';
import { findPostgresFault } from '#entry/preflight.ts';
import { exitCodeFor } from '#entry/program.ts';
import { isSchemaNewer, migrationNames, worksWith } from '#entry/schema_age.ts';
import { hurry } from '#test/kit/when.ts';
import { withDatabase } from '#test/kit/templates.ts';
import { fileWorld } from '#test/kit/world.ts';

async function connectTo(connectionString: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

/** The world of all tests; each leaves the schema as it found it. */
const w = await fileWorld({ fresh: true });
const { config } = w.context;
const client = new pg.Client({ connectionString: config.databaseUrl });
await client.connect();
afterAll(() => client.end());
afterEach(async () => {
  await client.query(`delete from migrations where name = '9000_later'`);
  await client.query('truncate migrated_by');
});

test('the migrations that a program has to know exist', () => {
  for (const store of ['postgres', 'clickhouse'] as const) {
    expect(migrationNames(store)).toContain(worksWith()[store]);
  }
});

test('a schema of this release is neither newer nor at fault, migrated or not', async () => {
  expect(await findPostgresFault(config.databaseUrl)).toBeNull();
  await migrate(config);
  expect(await isSchemaNewer(client)).toBe(false);
  expect(await findPostgresFault(config.databaseUrl)).toBeNull();
});

test('a newer schema that works with this release is left as it is', async () => {
  await migrate(config);
  await client.query(`insert into migrations (name, executed_at) values ('9000_later', now())`);
  await client.query(`update migrated_by set release = 'a newer one'`);
  expect(await isSchemaNewer(client)).toBe(true);
  expect(await findPostgresFault(config.databaseUrl)).toBeNull();
  await migrate(config);
  const { rows } = await client.query<{ release: string }>('select release from migrated_by');
  expect(rows).toEqual([{ release: 'a newer one' }]);
});

test.each(['works_with_postgres', 'works_with_clickhouse'])(
  'a newer schema that this release does not work with (%s) is refused at the start, in a sentence, with status 2',
  async (column) => {
    await migrate(config);
    await client.query(`update migrated_by set ${column} = '9000_later'`);
    const sentence =
      'DATABASE_URL: a newer release has migrated the stores, and this one does not work with them (9000_later is missing here); start that release, or a newer one, or restore the backup from before';
    expect(await findPostgresFault(config.databaseUrl)).toEqual({ sentence, mayPass: false });
    const refused: unknown = await migrate(config).catch((error: unknown) => error);
    expect(refused).toMatchObject({ message: sentence });
    expect(exitCodeFor(refused)).toBe(2);
  },
);

test('a migration that waits for a table lets others pass, and is tried again', async () => {
  hurry();
  const name = `empty_${randomBytes(6).toString('hex')}`;
  await client.query(`create database ${name}`);
  onTestFinished(async () => void (await client.query(`drop database ${name} with (force)`)));
  const databaseUrl = withDatabase(config.databaseUrl, name);
  const [holder, reader] = [await connectTo(databaseUrl), await connectTo(databaseUrl)];
  await holder.query('begin; create table organizations (id text)');
  const migrated = migratePostgres(databaseUrl);
  const waiting = async () =>
    (
      await reader.query(
        `select count(*)::int as n from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      )
    ).rows[0]?.n;
  await expect.poll(waiting, { interval: 5 }).toBe(1);
  await expect.poll(waiting, { interval: 5 }).toBe(0);
  await expect.poll(waiting, { interval: 5 }).toBe(1);
  await holder.query('rollback');
  await migrated;
  const { rows } = await reader.query('select name from migrations order by name');
  expect(rows.map((row) => row.name)).toEqual(migrationNames('postgres'));
});
