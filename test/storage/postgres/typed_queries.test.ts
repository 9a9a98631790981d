import { defineEntity, type InferKyselyDB, p } from '@mikro-orm/postgresql';
import type { Kysely } from 'kysely';
import { expect, test } from 'vitest';

import { type Id, newId } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import {
  anyOf,
  columns,
  json,
  prepared,
  recordsOf,
  rowsOf,
  toColumns,
  toRecords,
  type Values,
} from '#storage/postgres/store.ts';
import type { Session } from '#storage/postgres/database.ts';
import { DashboardEntity } from '#storage/postgres/entities/services.ts';
import { world } from '#test/kit/world.ts';

const Declared = defineEntity({
  name: 'Thing',
  tableName: 'things',
  properties: { id: p.text().primary(), ownerId: p.text(), madeAt: p.text() },
});

/** The same with one property under another name. */
const Renamed = defineEntity({
  name: 'Thing',
  tableName: 'things',
  properties: { id: p.text().primary(), keeperId: p.text(), madeAt: p.text() },
});

test('a column that is renamed in its entity and not in a query is a type error', () => {
  const queries = [
    (db: Kysely<InferKyselyDB<typeof Declared>>) => db.selectFrom('things').select('id').where('owner_id', '=', 'x'),
    // @ts-expect-error There is no owner_id any more.
    (db: Kysely<InferKyselyDB<typeof Renamed>>) => db.selectFrom('things').select('id').where('owner_id', '=', 'x'),
    (db: Kysely<InferKyselyDB<typeof Declared>>) => db.selectFrom('things as t').select(columns(Declared, 't')),
    // @ts-expect-error The columns of the one are not those of the other.
    (db: Kysely<InferKyselyDB<typeof Renamed>>) => db.selectFrom('things as t').select(columns(Declared, 't')),
    () => columns(Declared, 't', ['ownerId']),
    // @ts-expect-error There is no ownerId any more.
    () => columns(Renamed, 't', ['ownerId']),
    () => toColumns(Declared, { ownerId: 'x' }),
    // @ts-expect-error There is no ownerId any more.
    () => toColumns(Renamed, { ownerId: 'x' }),
  ];
  expect(queries).toHaveLength(8);
});

test('a value of another type than the column, or JSON that is not passed on as JSON, is a type error', () => {
  const queries = [
    // @ts-expect-error The id of an organization is none of a service.
    ({ db }: Session) => db.selectFrom('services').select('id').where('id', '=', newId('org')),
    // @ts-expect-error An instant is no text.
    ({ db }: Session) => db.updateTable('services').set({ deleted_at: '2026-01-01T00:00:00Z' }),
    // @ts-expect-error The driver would write a list as an array of PostgreSQL.
    ({ db }: Session) => db.updateTable('dashboards').set({ layout: [{ kind: 'text' }] }),
    ({ db }: Session) => db.updateTable('dashboards').set({ layout: json([{ kind: 'text' }]) }),
    // @ts-expect-error A dashboard has a name.
    ({ db }: Session) => db.insertInto('dashboards').values({ id: newId('dashboard') }),
  ];
  expect(queries).toHaveLength(5);
});

test('a row is read as it was written, whatever its columns hold', async () => {
  const w = await world();
  const { db } = w.context.db.session();
  const now = w.clock.now();
  const row = {
    id: newId('dashboard'),
    orgId: w.orgId,
    serviceId: null,
    name: 'It\'s "quoted" \\ {and} $1',
    layout: [{ kind: 'text', text: 'a, b', lines: ['x', null] }],
    createdAt: now,
    updatedAt: now.add({ seconds: 1 }),
  };
  await db.insertInto('dashboards').values(toColumns(DashboardEntity, row)).execute();
  const read = db.selectFrom('dashboards as d').select(columns(DashboardEntity, 'd'));
  expect(await read.where('d.id', '=', anyOf([row.id])).executeTakeFirst()).toEqual(row);
  expect(await read.where('d.id', '=', anyOf<typeof row.id>([])).execute()).toEqual([]);
  expect(await read.where('d.created_at', '=', now).executeTakeFirst()).toEqual(row);

  const moved = rowsOf('moved', { id: ['text', [row.id]], name: ['text', ['new']], at: ['timestamptz', [now]] });
  await db
    .updateTable('dashboards as d')
    .from(moved)
    .set((eb) => ({ name: eb.ref('moved.name'), updated_at: eb.ref('moved.at') }))
    .whereRef('d.id', '=', 'moved.id')
    .execute();
  expect(await read.executeTakeFirst()).toEqual({ ...row, name: 'new', updatedAt: now });
});

const NAMES = prepared(
  (db, { ids, until }: Values<{ ids: readonly Id<'dashboard'>[]; until: Temporal.Instant | null }>) =>
    db
      .selectFrom('dashboards')
      .select('name')
      .where('id', '=', anyOf(ids))
      .where((eb) => eb.or([eb('created_at', '<=', until), eb(eb.cast(until, 'timestamptz'), 'is', null)]))
      .orderBy('name'),
);

const NAMED = prepared((db, { ids, name }: Values<{ ids: readonly Id<'dashboard'>[]; name?: string | undefined }>) => {
  const found = db.selectFrom('dashboards').select('name').where('id', '=', anyOf(ids)).orderBy('name');
  return name === undefined ? found : found.where('name', '=', name);
});

test('a prepared query takes other values each time it runs, or none, in the transaction that it is given', async () => {
  const w = await world();
  const now = w.clock.now();
  const rows = ['a', 'b'].map((name, index) => ({
    id: newId('dashboard'),
    orgId: w.orgId,
    serviceId: null,
    name,
    layout: [{ text: 'half a pair: \uD83E' }],
    createdAt: now.add({ hours: index }),
    updatedAt: now,
  }));
  const ids = rows.map(({ id }) => id);
  const failed = w.context.db.transaction(async (session) => {
    await session.db
      .insertInto('dashboards')
      .columns(['id', 'org_id', 'name', 'layout', 'created_at', 'updated_at'])
      .expression((eb) =>
        eb
          .selectFrom(recordsOf('n', DashboardEntity, toRecords(rows)))
          .select(['n.id', 'n.org_id', 'n.name', 'n.layout', 'n.created_at', 'n.updated_at']),
      )
      .execute();
    expect(await NAMES.rows(session, { ids, until: null })).toEqual([{ name: 'a' }, { name: 'b' }]);
    expect(await NAMES.rows(session, { ids, until: now })).toEqual([{ name: 'a' }]);
    expect(await NAMES.row(session, { ids: ids.slice(1), until: now })).toBeNull();
    expect(await NAMES.rows(w.context.db.session(), { ids, until: null })).toEqual([]);
    expect(await NAMED.rows(session, { ids, name: 'b' })).toEqual([{ name: 'b' }]);
    expect(await NAMED.rows(session, { ids })).toEqual([{ name: 'a' }, { name: 'b' }]);
    expect(await NAMED.rows(session, { ids, name: undefined })).toEqual([{ name: 'a' }, { name: 'b' }]);
    expect(await NAMED.rows(session, { ids, name: 'a' })).toEqual([{ name: 'a' }]);
    throw new RangeError('undo');
  });
  await expect(failed).rejects.toThrow('undo');
});

test('a status that a query asks for is part of its text, so that a plan for all parameters uses the index of these rows', async () => {
  const { db } = (await world()).context.db.session();
  const open = db.selectFrom('incidents as i').select('i.id').where('i.org_id', '=', newId('org'));
  expect(open.where('i.status', '<>', 'resolved').compile()).toMatchObject({
    sql: 'select "i"."id" from "incidents" as "i" where "i"."org_id" = $1 and "i"."status" <> \'resolved\'',
    parameters: [expect.any(String)],
  });
  expect(open.where('status', 'in', ['triggered', 'acknowledged']).compile()).toMatchObject({
    sql: expect.stringMatching(/"status" in \('triggered', 'acknowledged'\)$/) as string,
    parameters: [expect.any(String)],
  });
});

test.each(["resolved' or true --", 'a\\', 'ä', '', 'A', 'x'.repeat(41)])('no other text is: %j', async (text) => {
  const { db } = (await world()).context.db.session();
  const found = db.selectFrom('incidents').select('id');
  const asked = [found.where('status', '=', text as never), found.where('status', 'in', ['resolved', text as never])];
  expect(asked.map((query) => query.compile())).toMatchObject([
    { sql: 'select "id" from "incidents" where "status" = $1', parameters: [text] },
    { sql: 'select "id" from "incidents" where "status" in ($1, $2)', parameters: ['resolved', text] },
  ]);
  expect(found.where('dedup_key', '=', 'resolved').compile()).toMatchObject({
    sql: 'select "id" from "incidents" where "dedup_key" = $1',
  });
});
