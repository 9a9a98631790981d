import { expect, test } from 'vitest';

import { openDatabase } from '#storage/postgres/database.ts';
import { ENTITIES } from '#storage/postgres/stores.ts';
import { world } from '#test/kit/world.ts';

const DIE = 'select pg_terminate_backend(pg_backend_pid())';

test('connections that are lost midway leave the pool as it was, and undo what they did', async () => {
  const w = await world();
  const db = await openDatabase({ url: w.house.config.databaseUrl, entities: ENTITIES, poolMax: 2 });
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

test('what goes wrong in a transaction is thrown as it is, and all of it is undone', async () => {
  const w = await world();
  const failed = w.house.db.transaction(async ({ sql }) => {
    await sql.run("update organizations set name = 'changed' where id = $1", [w.orgId]);
    throw new RangeError('no');
  });
  await expect(failed).rejects.toThrow(new RangeError('no'));
  const names = await w.house.db.sql.rows('select name from organizations where id = $1', [w.orgId]);
  expect(names).toEqual([{ name: 'Acme' }]);
});
