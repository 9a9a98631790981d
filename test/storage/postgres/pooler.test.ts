import { describe, expect, inject, onTestFinished, test } from 'vitest';

import { compose } from '#entry/compose.ts';
import { buildApp } from '#entry/http/app.ts';
import { migrate } from '#entry/migrate.ts';
import { findPostgresFault } from '#entry/preflight.ts';
import { silentLog } from '#kernel/log.ts';
import { makeFolder } from '#test/faults/folder.ts';
import { canRunWith } from '#test/kit/programs/debian_packages.ts';
import { hasPgbouncer, startPgbouncer } from '#test/kit/programs/pgbouncer.ts';
import { startRedis } from '#test/kit/programs/redis.ts';
import { sweep } from '#test/kit/properties.ts';
import { startRoles } from '#test/kit/roles.ts';
import { fileWorld } from '#test/kit/world.ts';

const w = await fileWorld();

describe.skipIf(!canRunWith('pgbouncer', hasPgbouncer))('behind a pooler in transaction mode', () => {
  /** Its queue is no other test's. */
  async function startOwnRedis(): Promise<string> {
    const server = await startRedis(makeFolder());
    if (server === null) throw new Error('Redis is not installed');
    onTestFinished(() => server.stop());
    return server.url;
  }

  const queues = [
    { queue: 'PostgreSQL', isAvailable: true },
    { queue: 'Redis', isAvailable: inject('redisUrl') !== null },
  ];
  test.for(sweep(queues, 2))(
    'with its queue in $queue everything works when PostgreSQL itself is known too',
    async ({ queue, isAvailable }, { skip }) => {
      skip(!isAvailable);
      const direct = w.context.config.databaseUrl;
      const databaseUrl = await startPgbouncer(direct);
      const redisUrl = queue === 'Redis' ? await startOwnRedis() : undefined;
      const config = { ...w.context.config, databaseUrl, directDatabaseUrl: direct, redisUrl };
      await Promise.all([migrate(config), migrate(config)]);
      const context = await compose(config, { log: silentLog, clock: w.clock });
      const app = await buildApp(context);
      const roles = startRoles(context);
      onTestFinished(async () => {
        await roles.stop();
        await app.close();
        await context.close();
      });
      const call = async (action: string, payload: object) => {
        const url = `/api/rest/actions/${action}`;
        const answer = await app.inject({
          method: 'POST',
          url,
          headers: { authorization: `Bearer ${w.orgKey}` },
          payload,
        });
        return answer.json().result;
      };
      const { serviceId, dsn } = await w.given.service();
      await call('create_alert_rule', { serviceId, name: 'New', kind: 'exception', config: { minSeverity: 'error' } });
      const { pathname, username } = new URL(dsn);
      const sent = await app.inject({
        method: 'POST',
        url: `/api${pathname}/store/`,
        headers: { 'x-sentry-auth': `Sentry sentry_version=7, sentry_key=${username}` },
        payload: { platform: 'python', exception: { values: [{ type: 'PoolError', value: 'no connection is left' }] } },
      });
      expect(sent.statusCode).toBe(200);
      await expect.poll(async () => (await call('list_incidents', {})).incidents).toHaveLength(1);
      const [{ incidentId }] = (await call('list_incidents', {})).incidents;
      expect(await call('acknowledge_incident', { incidentId })).toMatchObject({ status: 'acknowledged' });
    },
  );

  test('the limits of a session hold for each transaction, and end with it', async () => {
    const databaseUrl = await startPgbouncer(w.context.config.databaseUrl);
    const config = { ...w.context.config, databaseUrl, directDatabaseUrl: w.context.config.databaseUrl };
    onTestFinished(w.clock.beImpatient(1));
    const context = await compose(config, { log: silentLog, clock: w.clock });
    onTestFinished(() => context.close());
    const limit = `select current_setting('statement_timeout') as statement, current_setting('idle_in_transaction_session_timeout') as idle`;
    expect(await context.db.transaction(({ sql }) => sql.row(limit))).toEqual({ statement: '30s', idle: '5s' });
    expect(await context.db.sql.row(limit)).toEqual({ statement: '0', idle: '0' });
  });

  test('statements that run often stay without names, which belong to a session', async () => {
    const databaseUrl = await startPgbouncer(w.context.config.databaseUrl);
    const config = { ...w.context.config, databaseUrl, directDatabaseUrl: w.context.config.databaseUrl };
    const context = await compose(config, { log: silentLog, clock: w.clock });
    onTestFinished(() => context.close());
    const twice = async (nth: number) => await context.db.sql.row('select $1::int * 2 as twice', [nth]);
    for (let round = 0; round < 40; round += 1) {
      const numbers = [1, 2, 3, 4, 5, 6];
      expect(await Promise.all(numbers.map(twice))).toEqual(numbers.map((nth) => ({ twice: 2 * nth })));
    }
    const named = 'select statement from pg_prepared_statements';
    expect(await Promise.all([1, 2, 3, 4].map(() => context.db.sql.rows(named)))).toEqual([[], [], [], []]);
  });

  test('it is refused in a sentence when PostgreSQL itself is not known', async () => {
    const url = await startPgbouncer(w.context.config.databaseUrl);
    expect(await findPostgresFault(url)).toMatchObject({
      mayPass: false,
      sentence: expect.stringMatching(
        /^DATABASE_URL: a pooler at 127.0.0.1:\d+ refuses settings.*set DIRECT_DATABASE_URL/,
      ),
    });
  });

  test.each([
    ['transaction', 'gives connections no session of their own'],
    ['session', 'ignores settings of a session'],
  ] as const)('one in %s mode that hides it is refused, too: it %s', async (mode, fault) => {
    const ignored = ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout', 'options'];
    const url = await startPgbouncer(w.context.config.databaseUrl, { mode, ignored });
    const { host } = new URL(url);
    expect(await findPostgresFault(url)).toEqual({
      mayPass: false,
      sentence: `DATABASE_URL: a pooler at ${host} ${fault}; set DIRECT_DATABASE_URL to PostgreSQL itself`,
    });
    expect(await findPostgresFault(url, { variable: 'DIRECT_DATABASE_URL' })).toMatchObject({ mayPass: false });
    expect(await findPostgresFault(url, { isPooler: true })).toBeNull();
    expect(await findPostgresFault(w.context.config.databaseUrl)).toBeNull();
  });
});
