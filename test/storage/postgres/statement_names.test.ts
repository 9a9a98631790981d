import { Pool } from 'pg';
import { expect, inject, onTestFinished, test } from 'vitest';

import { namedPoolOf } from '#storage/postgres/connections.ts';
import { type Database, openDatabase } from '#storage/postgres/database.ts';
import { shapeOf, StatementNames } from '#storage/postgres/statement_names.ts';

const ENOUGH = 30;

/** One connection, and a table that is gone when it is closed. */
async function openOne(): Promise<Database> {
  const db = await openDatabase({ url: inject('postgresUrl'), poolMax: 1 });
  onTestFinished(() => db.close());
  await db.sql.run('create temporary table things (id int primary key, name text)');
  await db.sql.run("insert into things select n, 'thing ' || n from generate_series(1, 100) n");
  return db;
}

async function times<Result>(count: number, work: (nth: number) => Promise<Result>): Promise<Result[]> {
  const results: Result[] = [];
  for (let nth = 1; nth <= count; nth += 1) results.push(await work(nth));
  return results;
}

const ALL = 'select * from things where id = $1';
const NAMED = "select statement from pg_prepared_statements where statement not like '%pg_prepared%' order by 1";
const namedBy = async ({ sql }: Database) =>
  (await sql.rows<{ statement: string }>(NAMED)).map(({ statement }) => statement);

test('a statement that runs often is planned once, and answers the same', async () => {
  const db = await openOne();
  const rows = await times(ENOUGH, (nth) => db.sql.row<{ name: string }>(ALL, [nth]));
  expect(rows.map((row) => row?.name)).toEqual(Array.from({ length: ENOUGH }, (_, index) => `thing ${index + 1}`));
  await db.sql.row('select id from things where name = $1', ['thing 1']);
  expect(await namedBy(db)).toEqual([ALL]);
});

test('text without parameters has no name, as it may be several statements', async () => {
  const db = await openOne();
  await times(ENOUGH, () => db.sql.run("update things set name = 'a' where id = 1; select 1"));
  expect(await namedBy(db)).toEqual([]);
});

test('a table that gets a column under way costs no statement, and a transaction at most once', async () => {
  const db = await openOne();
  const read = () => db.sql.row(ALL, [1]);
  const readInTransaction = () => db.transaction(({ sql }) => sql.row(ALL, [1]));
  await times(ENOUGH, read);
  await db.sql.run('alter table things add column size int');
  expect(await read()).toEqual({ id: 1, name: 'thing 1', size: null });
  await times(ENOUGH, read);
  await db.sql.run('alter table things add column age int');
  await expect(readInTransaction()).rejects.toMatchObject({
    code: 'unavailable',
    message: 'the tables of the database have just been changed; nothing was changed, try again',
  });
  expect(await readInTransaction()).toEqual({ id: 1, name: 'thing 1', size: null, age: null });
});

test.each(['deallocate all', 'discard all'])(
  'a session that forgets its statements (%s) fails none',
  async (forget) => {
    const db = await openDatabase({ url: inject('postgresUrl'), poolMax: 1 });
    onTestFinished(() => db.close());
    const twice = (nth: number) => db.sql.row('select $1::int * 2 as twice', [nth]);
    await times(ENOUGH, twice);
    await db.sql.run(forget);
    expect(await times(ENOUGH, twice)).toHaveLength(ENOUGH);
    expect(await twice(4)).toEqual({ twice: 8 });
    expect(await namedBy(db)).toEqual([]);
  },
);

test('a new connection knows no name of the one that was lost', async () => {
  const db = await openDatabase({ url: inject('postgresUrl'), poolMax: 1 });
  onTestFinished(() => db.close());
  const twice = (nth: number) => db.sql.row('select $1::int * 2 as twice', [nth]);
  await times(ENOUGH, twice);
  await expect(db.sql.run('select pg_terminate_backend(pg_backend_pid())')).rejects.toMatchObject({
    code: 'unavailable',
  });
  await expect.poll(() => twice(4).catch(() => null)).toEqual({ twice: 8 });
  expect(await namedBy(db)).toEqual(['select $1::int * 2 as twice']);
});

test('a statement that is refused fails each time with its own error', async () => {
  const db = await openOne();
  const codes = await times(ENOUGH, () =>
    db.sql.run('insert into things (id) values ($1)', [1]).then(
      () => null,
      (error: unknown) => (error as { code: unknown }).code,
    ),
  );
  expect(new Set(codes)).toEqual(new Set(['23505']));
  const unknown = () => db.sql.run('select nothing from things where id = $1', [1]);
  for (const refused of await times(ENOUGH, () => Promise.allSettled([unknown()]))) {
    expect(refused).toMatchObject([{ status: 'rejected', reason: { code: '42703' } }]);
  }
});

test('a connection that has prepared too much is closed when it is given back', async () => {
  const pool = new Pool({ connectionString: inject('postgresUrl'), max: 1 });
  onTestFinished(() => pool.end());
  const named = namedPoolOf(pool, new StatementNames({ runsForName: 1 }), 3);
  const processAfter = async (texts: readonly string[]) => {
    const client = await named.connect();
    for (const text of texts) await client.query(text, [1]);
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid', []);
    client.release();
    return rows[0]?.pid;
  };
  const three = ['select $1::int as a', 'select $1::int as b', 'select $1::int as c'];
  const first = await processAfter(three);
  expect(await processAfter(three)).toBe(first);
  expect(await processAfter(['select $1::int as d'])).toBe(first);
  expect(await processAfter(three)).not.toBe(first);
});

test('the same statement has the same name in each process, and another none of its own', () => {
  const names = () => new StatementNames({ runsForName: 1 });
  const [first, second] = [names(), names()];
  const name = first.nameOf('select $1');
  expect(second.nameOf('select $2')).not.toBe(name);
  expect(second.nameOf('select $1')).toBe(name);
  expect(name).toMatch(/^t0_[0-9a-f]{32}$/);
});

test('names are given to those that run often among all', () => {
  const names = new StatementNames({ runsForName: 3 });
  expect([names.nameOf('often'), names.nameOf('often')]).toEqual([null, null]);
  expect(names.nameOf('often')).not.toBeNull();
  // Each of ten thousand runs twice, a long time apart.
  for (const round of [1, 2]) {
    for (let nth = 0; nth < 10_000; nth += 1) expect(names.nameOf(`rare ${round} ${nth % 9_999}`)).toBeNull();
  }
  expect(names.nameOf('often')).not.toBeNull();
});

test('there are no more names than allowed: one that no longer runs gives its own up', () => {
  const names = new StatementNames({ runsForName: 1, namesMax: 3 });
  for (const text of ['a', 'b', 'c']) expect(names.nameOf(text)).not.toBeNull();
  // All have run since: nobody has to give way yet.
  expect(names.nameOf('d')).toBeNull();
  for (const text of ['a', 'c']) expect(names.nameOf(text)).not.toBeNull();
  expect(names.nameOf('d')).not.toBeNull();
  expect([names.nameOf('a'), names.nameOf('c'), names.nameOf('d')]).not.toContain(null);
});

test('statements that differ in the length of a list have four names together', () => {
  const names = new StatementNames({ runsForName: 1 });
  const listOf = (length: number) => Array.from({ length }, (_, index) => `$${index + 1}`).join(', ');
  const named = Array.from({ length: 50 }, (_, length) =>
    names.nameOf(`select * from things where id in (${listOf(length + 1)}) and name = $99`),
  );
  expect(named.filter((name) => name !== null)).toHaveLength(4);
  expect(names.nameOf('select * from others where id in ($1, $2)')).not.toBeNull();
  expect(shapeOf('insert into t (a, b) values ($1, $2), ($3, $4), ($5, $6)')).toBe('insert into t (a, b) values ($)');
  expect(shapeOf('select $1, x from t where a in ($2,$3)')).toBe('select $, x from t where a in ($)');
});
