import { expect, test } from 'vitest';

import { verifyAuditLog } from '#modules/audit/operations/verify_audit_log.ts';
import type { Id } from '#kernel/ids.ts';
import { AuditStore } from '#modules/audit/store/audit_store.ts';
import type { Session } from '#storage/postgres/database.ts';
import { storesOf } from '#modules/stores.ts';
import { type World, world } from '#test/kit/world.ts';

const append = (w: World, session: Session, orgId: Id<'org'>, target: string): Promise<void> => {
  const entry = { orgId, via: 'rest', action: 'change_it', target, before: null, result: 'done' } as const;
  const origin = { requestId: 'req_1', address: null };
  const actor = { kind: 'api_key', apiKeyId: 'apikey_1' as Id<'apikey'> } as const;
  return new AuditStore(session).append({ ...entry, actor, after: { name: 'é"\\ ☃ 12:x' }, origin }, w.clock.now());
};

const verify = (w: World, orgId = w.orgId) => verifyAuditLog(storesOf(w.context.db.session()), orgId);

test('rows that are added at the same time, in several organizations and in different orders, make one whole chain each', async () => {
  const w = await world();
  const other = await w.given.organization('Other');
  const { db } = w.context;
  const before = await verify(w);
  const times = 40;
  await Promise.all(
    Array.from({ length: times }, (_, index) =>
      db.transaction(async (session) => {
        const orgs = index % 2 === 0 ? [w.orgId, other.orgId] : [other.orgId, w.orgId];
        for (const orgId of orgs) await append(w, session, orgId, `thing_${index}`);
        // All of them change this row: a transaction that waits here has no place in a chain yet.
        await session.sql.run(`update organizations set name = name || '.' where id = $1`, [w.orgId]);
      }),
    ),
  );
  await expect(
    db.transaction(async (session) => {
      await append(w, session, w.orgId, 'undone');
      throw new RangeError('no');
    }),
  ).rejects.toThrow(RangeError);
  expect(await verify(w)).toMatchObject({ kind: 'whole', rows: (before.kind === 'whole' ? before.rows : 0) + times });
  expect(await verify(w, other.orgId)).toMatchObject({ kind: 'whole', rows: times });
});

test('the head of a chain is changed once in a transaction, however many rows it has', async () => {
  const w = await world();
  const { db } = w.context;
  const changes = async (rows: number): Promise<number> =>
    await db.transaction(async ({ sql }) => {
      const counted = async (): Promise<number> => {
        const query = `select n_tup_upd::int as changes from pg_stat_xact_user_tables where relname = 'audit_heads'`;
        return (await sql.row<{ changes: number }>(query))!.changes;
      };
      const before = await counted();
      await sql.run(
        `insert into audit_log (id, org_id, at, actor, via, action, target, result, request_id)
         select 'audit_' || gen_random_uuid(), $1, now(), '{}', 'rest', 'change_it', 'thing_' || n, 'done', 'req_' || n
         from generate_series(1, ${rows}) n`,
        [w.orgId],
      );
      // One after the other, as a commit runs them.
      await sql.run('set constraints audit_log_is_linked immediate');
      await sql.run('set constraints audit_links_are_ended immediate');
      return (await counted()) - before;
    });
  expect([await changes(1), await changes(50)]).toEqual([1, 1]);
  await append(w, db.session(), w.orgId, 'thing_52');
  expect(await verify(w)).toMatchObject({ kind: 'whole', rows: 52 });
});

test('a row that was changed by hand is found, and the first one is named', async () => {
  const w = await world();
  const { sql } = w.context.db;
  for (let index = 1; index <= 5; index += 1) await append(w, w.context.db.session(), w.orgId, `thing_${index}`);
  const ids = (await sql.rows<{ id: string }>('select audit_id as id from audit_links order by number')).map(
    ({ id }) => id,
  );
  await expect(sql.run(`update audit_log set target = 'x'`)).rejects.toThrow(/append-only/);
  await sql.run('alter table audit_log disable trigger audit_log_no_update');
  const foundAfter = async (statement: string, undo: string) => {
    await sql.run(statement, [ids[2]]);
    const found = await verify(w);
    await sql.run(undo, [ids[2]]);
    return found;
  };
  const changes = [
    [`target = 'thing_9'`, `target = 'thing_3'`],
    [`at = at + interval '1 ms'`, `at = at - interval '1 ms'`],
    [`result = 'refused'`, `result = 'done'`],
    [`after = '{}'`, `after = '${JSON.stringify({ name: 'é"\\ ☃ 12:x' })}'`],
    [`via = 're', action = 'stchange_it'`, `via = 'rest', action = 'change_it'`],
  ];
  for (const [change, undo] of changes) {
    const found = await foundAfter(
      `update audit_log set ${change} where id = $1`,
      `update audit_log set ${undo} where id = $1`,
    );
    expect(found, change).toEqual({ kind: 'broken', number: 3, auditId: ids[2], why: 'it was changed' });
  }
  expect(await verify(w)).toMatchObject({ kind: 'whole', rows: 5 });

  const keep = `update audit_heads set number = number`;
  await sql.run('create table gone as select * from audit_links where number = 5');
  await sql.run('delete from audit_links where number = 5');
  expect(await verify(w)).toMatchObject({ kind: 'broken', number: 5, why: 'it is missing' });
  await sql.run(`${keep} - 1`);
  expect(await verify(w)).toMatchObject({ kind: 'broken', number: 4, why: 'it is not the row that was added last' });
  await sql.run(`${keep} + 1`);
  await sql.run('insert into audit_links select * from gone');
  await sql.run('delete from audit_log where id = $1', [ids[1]]);
  expect(await verify(w)).toEqual({ kind: 'broken', number: 2, auditId: ids[1], why: 'it was deleted' });
});

test('a row that was slipped in beside the chain is found', async () => {
  const w = await world();
  await append(w, w.context.db.session(), w.orgId, 'thing_1');
  const { sql } = w.context.db;
  await sql.run('alter table audit_log disable trigger audit_log_is_linked');
  await append(w, w.context.db.session(), w.orgId, 'thing_2');
  const { id } = (await sql.row<{ id: string }>(`select id from audit_log where target = 'thing_2'`))!;
  expect(await verify(w)).toEqual({ kind: 'broken', number: 2, auditId: id, why: 'it was added beside the chain' });
});
