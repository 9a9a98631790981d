import { expect, test } from 'vitest';

import type { Config } from '#entry/config.ts';
import { listFeedback } from '#modules/exceptions/operations/event_extras.ts';
import { listMonitors, restrictMonitor } from '#modules/monitors/operations/monitors.ts';
import { takeCheckIns } from '#modules/monitors/take_check_ins.ts';
import { memberCaller, runOperation } from '#test/kit/run_operation.ts';
import { type World, world } from '#test/kit/world.ts';

async function watched(settings: Partial<Config> = {}) {
  const w = await world({ settings });
  w.clock.set('2027-06-01T12:00:10Z');
  return { w, ...(await w.given.service({ name: 'jobs' })) };
}

async function look(w: World): Promise<void> {
  const { context, clock } = w;
  const incidentLimit = { incidents: 20, minutes: 5 };
  await takeCheckIns({ db: context.db, clock, log: context.log, onOutbox: () => context.outbox.wake(), incidentLimit });
}

const owner = (w: World) => memberCaller(w.orgId, w.owner.userId, 'owner');
const monitorsOf = async (w: World, serviceId: string) => await runOperation(w, listMonitors, owner(w), { serviceId });

test('the addresses of check-ins before 2023 take a run with its DSN, and what becomes of it', async () => {
  const { w, serviceId, dsn } = await watched();
  const send = async (method: 'POST' | 'PUT', url: string, body: object, authorization = `DSN ${dsn}`) =>
    await w.app.inject({
      method,
      url: `/api/0/${url}`,
      headers: { 'content-type': 'application/json', authorization },
      payload: JSON.stringify(body),
    });
  const begun = await send('POST', 'organizations/acme/monitors/backup/checkins/', { status: 'in_progress' });
  expect([begun.statusCode, begun.json()]).toEqual([
    201,
    { id: expect.stringMatching(/^[0-9a-f]{32}$/), status: 'in_progress' },
  ]);
  w.clock.advance({ minutes: 2 });
  const ended = await send('PUT', `monitors/backup/checkins/${begun.json().id}/`, { status: 'ok', duration: 90 });
  expect([ended.statusCode, ended.json()]).toEqual([200, { id: begun.json().id, status: 'ok' }]);
  await look(w);
  const [monitor] = (await monitorsOf(w, serviceId)).monitors;
  expect(monitor).toMatchObject({ slug: 'backup', runs: [{ status: 'ok' }] });
  expect((await send('POST', 'monitors/backup/checkins/', { status: 'in_progress' })).statusCode).toBe(201);
  expect((await send('PUT', 'monitors/backup/checkins/latest/', { status: 'error' })).statusCode).toBe(200);
  await look(w);
  expect((await monitorsOf(w, serviceId)).monitors).toMatchObject([
    { slug: 'backup', runs: [{ status: 'error' }, { status: 'ok' }] },
  ]);
  for (const authorization of ['', 'DSN https://x', `DSN ${dsn.replace(/\/\/\w+/, `//${'0'.repeat(32)}`)}`]) {
    const { statusCode } = await send('POST', 'monitors/backup/checkins/', { status: 'ok' }, authorization);
    expect(statusCode).toBe(401);
  }
  expect((await send('POST', 'monitors/backup/checkins/', { status: 'unheard of' })).statusCode).toBe(400);
});

test('the address of user feedback before envelopes keeps what users said about an event', async () => {
  const { w, serviceId, dsn } = await watched();
  const send = async (body: object, authorization = `DSN ${dsn}`) =>
    await w.app.inject({
      method: 'POST',
      url: '/api/0/projects/acme/jobs/user-feedback/',
      headers: { 'content-type': 'application/json', authorization },
      payload: JSON.stringify(body),
    });
  const said = { event_id: 'a'.repeat(32), name: 'Kim', email: 'kim@x.test', comments: 'It broke' };
  expect((await send(said)).statusCode).toBe(200);
  expect((await send({ ...said, comments: '' })).statusCode).toBe(400);
  expect((await send(said, `DSN ${dsn.replace(/\/\/\w+/, `//${'0'.repeat(32)}`)}`)).statusCode).toBe(401);
  const { feedback } = await runOperation(w, listFeedback, owner(w), { serviceId });
  expect(feedback).toMatchObject([{ eventId: said.event_id, name: 'Kim', comments: 'It broke' }]);
});

test('the end of a run finds it by its id, whatever environment it names', async () => {
  const { w, serviceId, dsn } = await watched();
  const { pathname, username } = new URL(dsn);
  const send = async (query: string) =>
    await w.app.inject({ method: 'GET', url: `/api${pathname}/cron/backup/${username}/?${query}` });
  for (const [id, environment] of [
    ['a', ''],
    ['b', '&environment=production-2'],
  ] as const) {
    const check = `check_in_id=${id.repeat(32)}`;
    expect((await send(`${check}&status=in_progress&environment=staging`)).statusCode).toBe(202);
    w.clock.advance({ minutes: 1 });
    await look(w);
    expect((await send(`${check}&status=ok&duration=50${environment}`)).statusCode).toBe(202);
    await look(w);
  }
  expect((await monitorsOf(w, serviceId)).monitors).toMatchObject([
    { slug: 'backup', environment: 'staging', runs: [{ status: 'ok' }, { status: 'ok' }] },
  ]);
});

test('by no address of check-ins does the public key touch a monitor that is kept to the ingestion key', async () => {
  const { w, serviceId, dsn } = await watched({ ingestTunnelPath: '/stats' });
  const { ingestionKey } = await w.expectOk('get_service', { serviceId });
  const byKey = await w.app.inject({
    method: 'POST',
    url: `/api${new URL(dsn).pathname}/cron/backup/?status=ok`,
    headers: { authorization: `Bearer ${ingestionKey}` },
  });
  expect(byKey.statusCode).toBe(202);
  await look(w);
  const [{ monitorId }] = (await monitorsOf(w, serviceId)).monitors as [{ monitorId: string }];
  await runOperation(w, restrictMonitor, owner(w), { monitorId, keyOnly: true });
  const before = (await monitorsOf(w, serviceId)).monitors;
  const { pathname, username } = new URL(dsn);
  const seldom = { type: 'crontab', value: '0 0 1 1 *' };
  const sent = {
    check_in_id: 'c'.repeat(32),
    monitor_slug: 'backup',
    status: 'ok',
    monitor_config: { schedule: seldom },
  };
  const envelope = [{ dsn }, { type: 'check_in' }, sent].map((line) => JSON.stringify(line)).join('\n');
  const json = { 'content-type': 'application/json' };
  const text = JSON.stringify({ status: 'ok', monitor_config: { schedule: seldom } });
  const doors: readonly (readonly [url: string, payload: string, headers?: object])[] = [
    [`/api${pathname}/cron/backup/${username}/?status=ok`, text],
    [`/api${pathname}/cron/backup/?status=ok`, text, { 'x-sentry-auth': `Sentry sentry_key=${username}` }],
    [`/api${pathname}/cron/backup/?status=ok&sentry_key=${username}`, text],
    [`/api/0/organizations/acme/monitors/backup/checkins/`, text, { authorization: `DSN ${dsn}` }],
    [`/api/0/monitors/backup/checkins/`, text, { authorization: `DSN ${dsn}` }],
    [`/api${pathname}/envelope/?sentry_key=${username}`, envelope],
    ['/api/ingest/envelope', envelope],
    ['/stats', envelope],
  ];
  const statuses: number[] = [];
  for (const [url, payload, headers] of doors) {
    const answer = await w.app.inject({ method: 'POST', url, payload, headers: { ...json, ...headers } });
    statuses.push(answer.statusCode);
  }
  await look(w);
  expect((await monitorsOf(w, serviceId)).monitors).toEqual(before);
  expect(statuses).toEqual(doors.map(() => 409));
});

test('whoever floods a service with check-ins by its DSN keeps none with the ingestion key out', async () => {
  const { w, serviceId, dsn } = await watched({ ingestEventsPerSecond: 1 });
  const { ingestionKey } = await w.expectOk('get_service', { serviceId });
  const { pathname, username } = new URL(dsn);
  const byDsn = async () => (await w.app.inject(`/api${pathname}/cron/job/${username}/?status=ok`)).statusCode;
  const byKey = async () => {
    const headers = { authorization: `Bearer ${ingestionKey}` };
    return (await w.app.inject({ url: `/api${pathname}/cron/job/?status=ok`, headers })).statusCode;
  };
  await w.context.db.sql.run(
    `insert into check_ins (org_id, service_id, slug, environment, run_id, is_named, status, received_at)
     select $1, $2, 'job', 'production', n::text, false, 'ok', now() from generate_series(1, 5000) n`,
    [w.orgId, serviceId],
  );
  expect([await byDsn(), await byKey()]).toEqual([409, 202]);
  const codes: number[] = [];
  for (let sent = 0; sent < 12; sent += 1) codes.push(await byDsn());
  expect(codes.at(-1)).toBe(429);
  expect(await byKey()).toBe(202);
});
