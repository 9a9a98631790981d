import { expect, inject, onTestFinished, test } from 'vitest';

import { openDatabase } from '#storage/postgres/database.ts';
import { world } from '#test/kit/world.ts';

const DIE = 'select pg_terminate_backend(pg_backend_pid())';

test('connections that are lost midway leave the pool as it was, and undo what they did', async () => {
  const w = await world();
  const db = await openDatabase({ url: w.context.config.databaseUrl, poolMax: 2 });
  for (let time = 0; time < 4; time += 1) {
    const lost = db.transaction(async ({ sql }) => {
      await sql.run("update organizations set name = 'changed' where id = $1", [w.orgId]);
      await sql.run(DIE);
    });
    await expect(lost).rejects.toMatchObject({ code: 'unavailable' });
  }
  expect(await db.sql.rows('select name from organizations where id = $1', [w.orgId])).toEqual([{ name: 'Acme' }]);
  await db.close();
});

test('a database that was closed is no other that the process has open', async () => {
  const [w, other] = await Promise.all([world(), world()]);
  const closed = await openDatabase({ url: w.context.config.databaseUrl });
  const open = await openDatabase({ url: other.context.config.databaseUrl });
  onTestFinished(() => open.close());
  const names = ({ sql }: Pick<typeof open, 'sql'>) => sql.rows('select current_database() as name');
  expect(await names(closed)).not.toEqual(await names(open));
  await closed.close();
  await expect(names(closed)).rejects.toThrow('destroyed');
  await expect(closed.transaction(names)).rejects.toThrow(/destroyed|has closed its connection/);
  expect(await names(open)).toHaveLength(1);
});

test('an error in a transaction is thrown unchanged, and the transaction is rolled back', async () => {
  const w = await world();
  const failed = w.context.db.transaction(async ({ sql }) => {
    await sql.run("update organizations set name = 'changed' where id = $1", [w.orgId]);
    throw new RangeError('no');
  });
  await expect(failed).rejects.toThrow(new RangeError('no'));
  const names = await w.context.db.sql.rows('select name from organizations where id = $1', [w.orgId]);
  expect(names).toEqual([{ name: 'Acme' }]);
});

test('a full disk of the database is told as such, is remembered for a while, and is no other outage', async () => {
  const db = await openDatabase({ url: inject('postgresUrl') });
  onTestFinished(() => db.close());
  const refused = (code: string) =>
    db.sql.run(`do $$ begin raise exception 'could not extend file' using errcode = '${code}'; end $$`);
  await expect(refused('53300')).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringContaining('does not answer') as string,
  });
  expect(db.isFull()).toBe(false);
  const full = { code: 'unavailable', message: expect.stringContaining('the disk of the database is full') as string };
  await expect(refused('53100')).rejects.toMatchObject(full);
  expect(db.isFull()).toBe(true);
});

test('statements that one request runs at the same time share a connection, which the next one gets', async () => {
  const db = await openDatabase({ url: inject('postgresUrl'), poolMax: 2 });
  onTestFinished(() => db.close());
  const { sql } = db.pipelined();
  const backend = (text: string) => sql.row<{ pid: number }>(`select pg_backend_pid() as pid, $1::text`, [text]);
  const together = await Promise.all(['a', 'b', 'c'].map(backend));
  expect(new Set(together.map((row) => row?.pid)).size).toBe(1);
  expect(await backend('d')).toMatchObject({ pid: together[0]?.pid });
  // Two requests wait for no statement of each other.
  const asleep = sql.run('select pg_sleep(60)').catch(() => 'ended');
  const other = await db.pipelined().sql.row<{ pid: number }>('select pg_backend_pid() as pid');
  expect(other?.pid).not.toBe(together[0]?.pid);
  await db.pipelined().sql.run('select pg_terminate_backend($1)', [together[0]?.pid]);
  expect(await asleep).toBe('ended');
});

test('of statements that share a connection, one that is refused fails alone, and a lost connection fails all', async () => {
  const db = await openDatabase({ url: inject('postgresUrl'), poolMax: 1 });
  onTestFinished(() => db.close());
  const { sql } = db.pipelined();
  const outcomes = await Promise.allSettled([
    sql.rows('select 1 as n'),
    sql.rows('select 1 / $1::int as n', [0]),
    sql.rows('select 2 as n'),
  ]);
  expect(outcomes).toEqual([
    { status: 'fulfilled', value: [{ n: 1 }] },
    { status: 'rejected', reason: expect.objectContaining({ code: '22012' }) as unknown },
    { status: 'fulfilled', value: [{ n: 2 }] },
  ]);
  const lost = await Promise.allSettled([sql.rows('select 1'), sql.rows(DIE), sql.rows('select 2')]);
  expect(lost.slice(1)).toEqual(
    [1, 2].map(() => ({ status: 'rejected', reason: expect.objectContaining({ code: 'unavailable' }) as unknown })),
  );
  expect(await sql.rows('select 3 as n')).toEqual([{ n: 3 }]);
});

test('a statement with a name whose tables have changed runs again, and those behind it answer', async () => {
  const db = await openDatabase({ url: inject('postgresUrl'), poolMax: 1 });
  onTestFinished(() => db.close());
  await db.sql.run('create temporary table things (id int primary key)');
  await db.sql.run('insert into things values (1)');
  const { sql } = db.pipelined();
  const read = () => sql.row('select * from things where id = $1', [1]);
  for (let time = 0; time < 30; time += 1) await read();
  await db.sql.run('alter table things add column name text');
  const changed = { id: 1, name: null };
  expect(await Promise.all([read(), read(), sql.row('select 2 as n')])).toEqual([changed, changed, { n: 2 }]);
});
