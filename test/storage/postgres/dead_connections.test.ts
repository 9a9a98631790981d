import { Pool } from 'pg';
import { expect, inject, onTestFinished, test } from 'vitest';

import { openDatabase } from '#storage/postgres/database.ts';
import { reapDeadConnections } from '#storage/postgres/dead_connections.ts';
import { cutWay } from '#test/kit/cut_way.ts';

/** The way to PostgreSQL, and its address over that way. */
async function reach() {
  const direct = new URL(inject('postgresUrl'));
  const way = await cutWay({ path: `${decodeURIComponent(direct.hostname)}/.s.PGSQL.${direct.port}` });
  return { way, url: `postgres://${direct.username}@127.0.0.1:${way.port}${direct.pathname}` };
}

test('the server is asked about a silent connection: one that is lost is ended, one at work is waited for', async () => {
  const { way, url } = await reach();
  const pool = new Pool({ connectionString: url, max: 2 });
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  onTestFinished(() => pool.end());
  reapDeadConnections(pool, { endAfterMs: 600_000, askAfterMs: 100, server: { connectionString: url } });
  expect((await pool.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
  way.cut();
  await expect(pool.query('select 2 as two')).rejects.toThrow('Connection terminated');
  const before = way.connections();
  const sleeping = pool.query('select 3 as three from pg_sleep(0.6)');
  // One for it, and one for the question.
  await way.reach(before + 2);
  expect((await sleeping).rows).toEqual([{ three: 3 }]);
});

test('a connection that goes silent while it is in use is given up, and work goes on over a new one', async () => {
  const { way, url } = await reach();
  const db = await openDatabase({ url, poolMax: 1, silenceMsMax: 300 });
  onTestFinished(() => db.close());
  expect(await db.sql.row('select 1 as one')).toEqual({ one: 1 });
  way.cut();
  await expect(db.sql.row('select 2 as two')).rejects.toMatchObject({ code: 'unavailable' });
  expect(await db.sql.row('select 3 as three')).toEqual({ three: 3 });
  await expect(
    db.transaction(async ({ sql }) => {
      await sql.row('select 4 as four');
      way.cut();
      await sql.row('select 5 as five');
    }),
  ).rejects.toMatchObject({ code: 'unavailable' });
  expect(await db.sql.row('select 6 as six')).toEqual({ six: 6 });
  expect(way.connections()).toBe(3);
});
