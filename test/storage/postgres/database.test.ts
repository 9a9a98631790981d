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
