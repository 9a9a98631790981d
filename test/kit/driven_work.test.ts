import { expect, test } from 'vitest';

import { newId } from '#kernel/ids.ts';
import { type Databases, takeDatabases } from '#test/kit/databases.ts';
import { sweep } from '#test/kit/properties.ts';
import { type StaffedWorld, staffedWorld } from '#test/kit/staffed_world.ts';
import { withClickHouse, withPostgres } from '#test/kit/templates.ts';

/** A message that is due now, of which no job knows. */
async function dueMessage(w: StaffedWorld, phone: string): Promise<void> {
  await w.context.db.sql.run(
    `insert into notifications (id, org_id, kind, user_id, channel, address, status, due_at, created_at, updated_at)
     values ($1, $2, 'test', $3, 'sms', $4, 'queued', $5, $5, $5)`,
    [newId('notification'), w.orgId, w.owner.userId, phone, w.clock.now().toString()],
  );
}

async function annaIsTriggered(w: StaffedWorld) {
  const [teamId, anna] = await w.staff.teamOf('Anna');
  const alert = await w.staff.alert(teamId, [{ afterMinutes: 0, channels: ['sms'], targetUserIds: [anna.userId] }]);
  await alert.trigger();
  return anna;
}

test('what is due without a job is found by a sweep once time has passed, and not before', async () => {
  const w = await staffedWorld();
  await dueMessage(w, '+31612345678');
  await w.runUntilIdle();
  expect(w.phone.messages).toEqual([]);
  await w.advance({ seconds: 1 });
  expect(w.phone.messages).toMatchObject([{ to: '+31612345678' }]);
});

test('lost jobs run at no time: only sweeps page', async () => {
  const w = await staffedWorld({ jobs: 'lost' });
  const anna = await annaIsTriggered(w);
  await w.runUntilIdle();
  expect(w.phone.messages).toMatchObject([{ to: anna.phone }]);
});

test.each([1, 2])('(%i) sees no rows, jobs, messages and time of an earlier test of the file', async () => {
  const w = await staffedWorld();
  expect(Math.abs(w.clock.now().epochMilliseconds - Date.now())).toBeLessThan(24 * 60 * 60_000);
  expect((await w.expectOk('list_incidents')).total).toBe(0);
  expect(await w.context.db.sql.rows('select id from organizations')).toEqual([{ id: w.orgId }]);
  await w.runUntilIdle();
  expect(w.phone.messages).toEqual([]);
  await annaIsTriggered(w);
  await w.runUntilIdle();
  expect(w.phone.messages).toHaveLength(1);
  await annaIsTriggered(w);
  w.clock.advance({ hours: 1_000 });
});

const inPostgres =
  (sql: string) =>
  ({ databaseUrl }: Databases) =>
    withPostgres(databaseUrl, (client) => client.query(sql));
const inClickHouse = (query: string) => (databases: Databases) =>
  withClickHouse(databases, (client) => client.command({ query }));

test('databases are emptied for the next test', async () => {
  const databases = await takeDatabases();
  await inPostgres("insert into organizations (id, name, created_at) values ('org_1', 'x', now())")(databases);
  await inClickHouse('INSERT INTO metric_names SELECT generateUUIDv4(), name, now() FROM migrations')(databases);
  expect(await databases.empty()).toBe(true);
  const { rows } = await inPostgres('select id from organizations')(databases);
  const names = await withClickHouse(databases, async (client) => {
    const result = await client.query({ query: 'SELECT metric FROM metric_names', format: 'JSONEachRow' });
    return await result.json();
  });
  expect([rows, names]).toEqual([[], []]);
  await databases.release();
});

test('the room of a table that a test has filled is free for the next test', async () => {
  const databases = await takeDatabases();
  const many = "insert into sign_in_limits select repeat('x', 100) || n, 1, now() from generate_series(1, 20000) as n";
  await inPostgres(many)(databases);
  expect(await databases.empty()).toBe(true);
  const { rows } = await inPostgres("select pg_relation_size('sign_in_limits')::int as bytes")(databases);
  expect(rows).toEqual([{ bytes: 0 }]);
  await databases.release();
});

const CHANGES = [
  ['a column that may be null', inPostgres('alter table teams alter column name drop not null')],
  ['a column less', inPostgres('alter table teams drop column name cascade')],
  ['a table more', inPostgres('create table more (id int)')],
  ['another column of points', inClickHouse('ALTER TABLE metric_points ADD COLUMN more String')],
] as const;

test.each(sweep(CHANGES, 3))('databases in which a test has left %s are used by no other', async (_, change) => {
  const databases = await takeDatabases();
  await change(databases);
  expect(await databases.empty()).toBe(false);
  await databases.release();
});
