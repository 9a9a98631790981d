import { beforeEach, expect, test } from 'vitest';

import type { UnitOfWorkRuntime } from '#modules/stores.ts';
import type { Id } from '#kernel/ids.ts';
import type { Database } from '#storage/postgres/database.ts';
import { fileWorld } from '#test/kit/world.ts';
import { watchedSession } from '#test/kit/watched_session.ts';
import { renewCapabilities } from '#workers/renew_capabilities.ts';

let serviceId: Id<'service'>;
const w = await fileWorld();
beforeEach(async () => {
  w.clock.set('2028-01-31T10:00:00Z');
  ({ serviceId } = await w.given.service({ capabilities: ['metrics'] }));
});

const enable = () => w.call('enable_capability', { serviceId, capability: 'metrics' });
const disable = () => w.call('disable_capability', { serviceId, capability: 'metrics' });
const renew = (db: Database = w.context.db) => renewCapabilities(runtimeOn(db));

function runtimeOn(db: Database): UnitOfWorkRuntime {
  return { db, clock: w.clock, onOutbox: () => {} };
}

/** The ledger of the service, oldest first: from which day to which. */
async function ledger(id = serviceId): Promise<string[]> {
  const periods = await w.context.db.sql.rows<{ startsAt: string; endsAt: string }>(
    `select to_char(starts_at at time zone 'UTC', 'YYYY-MM-DD') as "startsAt",
       to_char(ends_at at time zone 'UTC', 'YYYY-MM-DD') as "endsAt"
     from billing_periods where service_id = $1 order by starts_at`,
    [id],
  );
  return periods.map(({ startsAt, endsAt }) => `${startsAt} to ${endsAt}`);
}

const FIRST = '2028-01-31 to 2028-02-29';
const SECOND = '2028-02-29 to 2028-03-31';

test('a worker that was away for months charges each of them once, and then no more', async () => {
  w.clock.set('2028-04-30T10:00:00Z');
  await renew();
  await renew();
  expect(await ledger()).toEqual([FIRST, SECOND, '2028-03-31 to 2028-04-30', '2028-04-30 to 2028-05-31']);
  const audited = await w.context.db.sql.rows(
    "select 1 from audit_log where target = $1 and action = 'renew_capability'",
    [serviceId],
  );
  expect(audited).toHaveLength(1);
});

test('a paid month runs to its end, and is not renewed after it was disabled', async () => {
  w.clock.set('2028-02-10T00:00:00Z');
  await disable();
  w.clock.set('2028-03-05T00:00:00Z');
  await renew();
  expect(await ledger()).toEqual([FIRST]);
  await enable();
  expect(await ledger()).toEqual([FIRST, '2028-03-05 to 2028-04-05']);
});

test('a month that has begun is charged even if it was disabled or deleted before its renewal ran', async () => {
  w.clock.set('2028-03-01T00:00:00Z');
  await disable();
  expect(await ledger()).toEqual([FIRST, SECOND]);
  const other = await w.given.service({ capabilities: ['exceptions'] });
  w.clock.set('2028-05-01T00:00:00Z');
  await w.expectOk('delete_service', { serviceId: other.serviceId });
  await renew();
  expect(await ledger(other.serviceId)).toEqual([
    '2028-03-01 to 2028-04-01',
    '2028-04-01 to 2028-05-01',
    '2028-05-01 to 2028-06-01',
  ]);
});

test.each([
  ['a millisecond before', '2028-02-29T09:59:59.999Z', [FIRST]],
  ['at', '2028-02-29T10:00:00Z', [FIRST, SECOND]],
])(
  'enabling, disabling and renewing in parallel %s a renewal charges as one after another',
  async (_when, now, meant) => {
    w.clock.set(now);
    const calls = Array.from({ length: 24 }, (_, index) => [enable, disable, () => renew()][index % 3]!());
    const answers = (await Promise.all(calls)).filter((answer) => answer !== undefined);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(await ledger()).toEqual(meant);
    // Whichever call came last, the next periods follow without a gap.
    await enable();
    w.clock.set('2028-03-31T10:00:00Z');
    await renew();
    expect((await ledger()).slice(0, 2)).toEqual([FIRST, SECOND]);
  },
);

test('a renewal that is killed before any of its statements, or before its commit, changes nothing', async () => {
  w.clock.set('2028-03-31T10:00:00Z');
  const after = [FIRST, SECOND, '2028-03-31 to 2028-04-30'];
  let died = 0;
  while ((await ledger()).length === 1) {
    await renew(crashingAt(w.context.db, died)).catch(() => {});
    died += 1;
    expect(died).toBeLessThan(30);
  }
  expect(died).toBeGreaterThan(7);
  expect(await ledger()).toEqual(after);
  await renew();
  expect(await ledger()).toEqual(after);
  expect((await w.expectOk('get_service', { serviceId })).capabilities).toEqual(['metrics']);
});

test('two workers that renew at the same time charge once', async () => {
  w.clock.set('2028-06-01T00:00:00Z');
  await Promise.all(Array.from({ length: 8 }, () => renew()));
  expect(await ledger()).toHaveLength(5);
});

test('a service that cannot be renewed does not stop the others', async () => {
  const second = await w.given.service({ capabilities: ['oncall'] });
  await w.context.db.sql.run(
    'alter table billing_periods add constraint broken check (service_id <> $1) not valid'.replace(
      '$1',
      `'${serviceId}'`,
    ),
  );
  w.clock.set('2028-02-29T10:00:00Z');
  await expect(renew()).rejects.toThrow('broken');
  expect(await ledger(second.serviceId)).toEqual([FIRST, SECOND]);
  await w.context.db.sql.run('alter table billing_periods drop constraint broken');
  await renew();
  expect(await ledger()).toEqual([FIRST, SECOND]);
});

test('a line of the ledger cannot be changed', async () => {
  const change = w.context.db.sql.run('update billing_periods set amount_cents = 0 where service_id = $1', [serviceId]);
  await expect(change).rejects.toThrow('a billing period never changes');
});

/** The database, whose transactions lose their connection before the statement of that number. */
function crashingAt(db: Database, statement: number): Database {
  return {
    ...db,
    session: () => db.session(),
    transaction: (work) =>
      db.transaction(async (session) => {
        let count = 0;
        const dying = async (): Promise<void> => {
          if (count === statement) await session.sql.run('select pg_terminate_backend(pg_backend_pid())');
          count += 1;
        };
        const result = await work(watchedSession(session, dying));
        await dying();
        return result;
      }),
  };
}
