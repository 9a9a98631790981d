import { createServer } from 'node:net';

import pg from 'pg';
import { expect, inject, onTestFinished, test } from 'vitest';

import { toAppError } from '#entry/http/problem.ts';
import { openDatabase } from '#storage/postgres/database.ts';
import { ALERT_DOORS } from '#test/entry/http/alerts/alert_doors.ts';
import { alertedServiceIn, anotherService } from '#test/kit/alert_senders.ts';
import { staffedWorld } from '#test/kit/staffed_world.ts';
import { closedByFile } from '#test/kit/used_in_turn.ts';

const SAID = { title: 'Disk full', alias: 'disk', link: 'https://runbooks.example/disk', details: {} };
const NOBODY = 'a'.repeat(32);

/** Ends all connections to the database of the world, and admits none until it is opened again. */
async function closeDatabase(): Promise<{ open(): Promise<void> }> {
  const database = new URL(w.context.config.databaseUrl).pathname.slice(1);
  const admin = new pg.Client({ connectionString: inject('postgresUrl') });
  await admin.connect();
  const open = async () => void (await admin.query(`alter database ${database} allow_connections true`));
  onTestFinished(async () => {
    await open();
    await admin.end();
  });
  await admin.query(`alter database ${database} allow_connections false`);
  await admin.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [database]);
  return { open };
}

const w = await closedByFile(staffedWorld({ fresh: true, keepOpen: true }));

test('while PostgreSQL admits no connections every sender of alerts is told to try again, and then one incident opens', async () => {
  const alerted = await alertedServiceIn(w);
  const services = await Promise.all(ALERT_DOORS.map(() => anotherService(alerted)));
  const { open } = await closeDatabase();
  for (const [index, door] of ALERT_DOORS.entries()) {
    const service = services[index];
    if (service === undefined) throw new Error('every door has a service');
    for (const make of [door.trigger, door.resolve ?? door.trigger]) {
      for (const key of [service.key, NOBODY]) {
        const { path, body, options } = make(key, SAID);
        const answer = await service.send(path, body, options);
        expect(answer.status, door.name).toBe(door.retried);
        expect(answer.headers['retry-after'], door.name).toBe('5');
      }
    }
  }
  const first = services[0];
  const others = ['/prometheus/api/v2/alerts', `/sns/${first?.key}`, '/opsgenie/v2/heartbeats/x/ping'];
  for (const path of others) expect(await first?.send(path, []), path).toMatchObject({ status: 503 });
  for (const path of ['count', 'x', 'requests/x']) {
    expect(await first?.send(`/opsgenie/v2/alerts/${path}`, undefined, { method: 'GET' })).toMatchObject({
      status: 503,
    });
  }
  await open();
  for (const [index, door] of ALERT_DOORS.entries()) {
    const service = services[index];
    const { path, body, options } = door.trigger(service?.key ?? '', SAID);
    expect((await service?.send(path, body, options))?.status, door.name).toBeLessThan(300);
    expect(await service?.incidents(), door.name).toHaveLength(door.resolve === null ? 0 : 1);
  }
});

test('while PostgreSQL admits no connections actions, the console and other ways in answer that it is away', async () => {
  const { dsn, ingestionKey } = await w.given.service();
  const { username, pathname } = new URL(dsn);
  await closeDatabase();
  const post = async (url: string, key: string, payload: object) => {
    const headers = { authorization: `Bearer ${key}` };
    return (await w.app.inject({ method: 'POST', url, headers, payload })).statusCode;
  };
  const statuses = {
    action: await post('/api/rest/actions/list_incidents', w.orgKey, {}),
    tool: await post('/api/mcp', w.orgKey, { jsonrpc: '2.0', id: 1, method: 'tools/list' }),
    points: await post('/api/ingest/metrics', ingestionKey, { points: [{ name: 'cpu', value: 1 }] }),
    deploy: await post('/api/ingest/deploys', ingestionKey, { name: 'x' }),
    event: await post(`/api${pathname}/store/?sentry_key=${username}`, '', { message: 'x' }),
    'check-in': await post(`/api${pathname}/cron/backup/${username}/?status=ok`, '', {}),
  };
  const away = Object.keys(statuses).map((name) => [name, 503]);
  expect(statuses).toEqual(Object.fromEntries(away));
});

/** A server that refuses every connection as PostgreSQL does, with this SQLSTATE. */
async function refusingServer(code: string, message: string): Promise<string> {
  const field = (name: string, text: string) => Buffer.from(`${name}${text}\0`);
  const fields = [field('S', 'FATAL'), field('V', 'FATAL'), field('C', code), field('M', message), Buffer.from('\0')];
  const body = Buffer.concat(fields);
  const head = Buffer.alloc(5, 'E');
  head.writeInt32BE(body.length + 4, 1);
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => socket.end(Buffer.concat([head, body])));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  return `postgres://u:p@127.0.0.1:${typeof address === 'object' ? address?.port : ''}/d`;
}

test.each([
  ['53300', 'sorry, too many clients already'],
  ['53300', 'remaining connection slots are reserved for roles with the SUPERUSER attribute'],
  ['57P03', 'the database system is starting up'],
  ['57P03', 'the database system is not yet accepting connections'],
  ['57P01', 'terminating connection due to administrator command'],
  ['55000', 'database "d" is not currently accepting connections'],
  ['08P01', 'no more connections allowed (max_client_conn)'],
  ['28P01', 'password authentication failed for user "u"'],
  ['28000', 'no pg_hba.conf entry for host'],
  ['3D000', 'database "d" does not exist'],
  ['XX000', 'could not open relation mapping file'],
])('a connection that PostgreSQL refuses with %s (%s) is a database that is away', async (code, message) => {
  const db = await openDatabase({ url: await refusingServer(code, message) });
  onTestFinished(() => db.close());
  const away = { code: 'unavailable', status: 503, retryAfterSeconds: 5 };
  await expect(db.sql.rows('select 1')).rejects.toMatchObject(away);
  await expect(db.transaction(({ sql }) => sql.rows('select 1'))).rejects.toMatchObject(away);
});

test('a statement that others kept from ending may be sent again', () => {
  for (const code of ['57014', '55P03', '40P01']) {
    const error = Object.assign(new Error('canceling statement'), { code });
    const answer = { code: 'unavailable', retryAfterSeconds: 1 };
    expect(toAppError(error)).toMatchObject(answer);
    expect(toAppError(new Error('wrapped', { cause: error }))).toMatchObject(answer);
  }
  expect(toAppError(new Error('a bug'))).toMatchObject({ code: 'internal' });
});
