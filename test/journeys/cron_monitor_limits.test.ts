import { expect, test } from 'vitest';

import { deleteMonitor, restrictMonitor } from '#modules/monitors/operations/monitors.ts';
import { getIngestStatus } from '#modules/services/operations/get_ingest_status.ts';
import { MONITORS_MAX } from '#modules/monitors/decide/check_in.ts';
import { look, checkIn, owner, monitorsOf, incidentsOf, givenRule, staffed } from '#test/journeys/given_monitors.ts';
import { runOperation } from '#test/kit/run_operation.ts';
import { type World, world } from '#test/kit/world.ts';

test('a service has so many monitors and no more; its sender is told, and it is counted', async () => {
  const w = await world();
  const { serviceId, dsn } = await w.given.service();
  await w.context.db.sql.run(
    `insert into monitors (id, org_id, service_id, slug, environment, margin_minutes, runtime_minutes, failure_threshold,
       recovery_threshold, created_at, updated_at)
     select 'monitor_' || n, $1, $2, 'job-' || n, 'production', 1, 30, 1, 1, now(), now() from generate_series(1, $3::int) n`,
    [w.orgId, serviceId, MONITORS_MAX],
  );
  const refused = await checkIn(w, dsn, 'one-more', 'status=ok');
  expect([refused.statusCode, refused.json().detail]).toEqual([
    409,
    expect.stringContaining(`${MONITORS_MAX} cron monitors`),
  ]);
  // A client that is told to be quiet would miss the runs of the monitors that there are.
  expect(refused.headers['x-sentry-rate-limits']).toBeUndefined();
  expect((await checkIn(w, dsn, 'job-7', 'status=ok')).statusCode).toBe(202);
  await w.app.close();
  const { notKept } = await runOperation(w, getIngestStatus, owner(w), { serviceId });
  expect(notKept).toMatchObject([{ kind: 'check-in', reason: 'too_many_monitors', count: 1 }]);
});

const keyed = async (w: World, dsn: string, slug: string, key: string) =>
  await w.app.inject({
    method: 'POST',
    url: `/api${new URL(dsn).pathname}/cron/${slug}/?status=ok`,
    headers: { authorization: `Bearer ${key}` },
  });

test('the public key changes no schedule unheard, is kept from monitors by key only, and makes ten an hour', async () => {
  const { w, serviceId, dsn } = await staffed();
  const { ingestionKey } = await w.expectOk('get_service', { serviceId });
  const often = { monitor_config: { schedule: { type: 'crontab', value: '*/5 * * * *' } } };
  const seldom = { monitor_config: { schedule: { type: 'crontab', value: '0 0 1 1 *' } } };
  expect((await checkIn(w, dsn, 'backup', 'status=ok', often)).statusCode).toBe(202);
  await look(w);
  expect(await incidentsOf(w, serviceId)).toEqual([]);
  await checkIn(w, dsn, 'backup', 'status=ok', seldom);
  await look(w);
  expect(await incidentsOf(w, serviceId)).toMatchObject([
    { title: 'Cron monitor backup (production) was rescheduled by a check-in', status: 'triggered' },
  ]);
  const changes = await w.context.db.sql.rows(
    `select after->>'by' as by from audit_log where action = 'reschedule_monitor'`,
  );
  expect(changes).toEqual([{ by: 'a check-in with the DSN' }]);

  const [{ monitorId }] = (await monitorsOf(w, serviceId)).monitors as [{ monitorId: string }];
  await runOperation(w, restrictMonitor, owner(w), { monitorId, keyOnly: true });
  const refused = await checkIn(w, dsn, 'backup', 'status=ok', often);
  expect([refused.statusCode, refused.json().detail]).toEqual([409, expect.stringContaining('by the ingestion key')]);
  expect((await keyed(w, dsn, 'backup', ingestionKey)).statusCode).toBe(202);
  expect((await keyed(w, dsn, 'backup', 'tocsin_ing_wrong')).statusCode).toBe(401);
  await look(w);

  const codes: number[] = [];
  for (let index = 0; index < 12; index += 1) {
    codes.push((await checkIn(w, dsn, `invented-${index}`, 'status=ok')).statusCode);
    await look(w);
  }
  expect(codes.filter((code) => code === 202)).toHaveLength(10);
  const malformed = { monitor_config: { schedule: { type: 'crontab', value: 'H 4 * * *' } } };
  const unreadable: number[] = [];
  for (let index = 0; index < 12; index += 1) {
    unreadable.push((await checkIn(w, dsn, `unread-${index}`, 'status=ok', malformed)).statusCode);
    await look(w);
  }
  expect(unreadable.filter((code) => code === 202)).toHaveLength(10);
  await w.context.db.sql.run(`delete from monitors where slug like 'unread-%'`);
  // Nobody keeps what the public key made: the ingestion key takes its place where there is no more room.
  await w.context.db.sql.run(
    `insert into monitors (id, org_id, service_id, slug, environment, margin_minutes, runtime_minutes, failure_threshold,
       recovery_threshold, is_kept, created_at, updated_at)
     select 'monitor_' || n, $1, $2, 'kept-' || n, 'production', 1, 30, 1, 1, true, now(), now()
     from generate_series(1, $3::int) n`,
    [w.orgId, serviceId, MONITORS_MAX - 11],
  );
  expect((await checkIn(w, dsn, 'real', 'status=ok')).statusCode).toBe(409);
  expect((await keyed(w, dsn, 'real', ingestionKey)).statusCode).toBe(202);
  await look(w);
  const { monitors } = await monitorsOf(w, serviceId);
  const slugs: string[] = monitors.map(({ slug }: { slug: string }) => slug);
  expect(slugs).toContain('real');
  expect(slugs.filter((slug) => slug.startsWith('invented'))).toHaveLength(9);
  expect(slugs.filter((slug) => slug.startsWith('kept') || slug === 'backup')).toHaveLength(MONITORS_MAX - 10);
});

test('a stranger who reschedules a monitor cannot take the incident about it back by a run that goes well', async () => {
  const w = await world();
  const { serviceId, dsn } = await w.given.service();
  await givenRule(w, serviceId);
  const scheduled = (value: string) => ({ monitor_config: { schedule: { type: 'crontab', value } } });
  await checkIn(w, dsn, 'job', 'status=ok', scheduled('*/5 * * * *'));
  await look(w);
  await checkIn(w, dsn, 'job', 'status=error', scheduled('0 0 1 1 *'));
  await checkIn(w, dsn, 'job', 'status=ok');
  await look(w);
  const incidents = await incidentsOf(w, serviceId);
  expect(incidents.toSorted((a, b) => (a.title < b.title ? -1 : 1))).toMatchObject([
    { title: 'Cron monitor job (production) failed', status: 'resolved' },
    { title: 'Cron monitor job (production) was rescheduled by a check-in', status: 'triggered' },
  ]);
  const [{ monitorId }] = (await monitorsOf(w, serviceId)).monitors;
  await runOperation(w, deleteMonitor, owner(w), { monitorId });
  expect((await incidentsOf(w, serviceId)).map(({ status }) => status)).toEqual(['resolved', 'resolved']);
});

test('a monitor that gives its place to another leaves no incident open', async () => {
  const w = await world();
  const { serviceId, dsn } = await w.given.service();
  const { ingestionKey } = await w.expectOk('get_service', { serviceId });
  await givenRule(w, serviceId);
  await checkIn(w, dsn, 'stray', 'status=error');
  await look(w);
  expect(await incidentsOf(w, serviceId)).toMatchObject([{ status: 'triggered' }]);
  await w.context.db.sql.run(
    `insert into monitors (id, org_id, service_id, slug, environment, margin_minutes, runtime_minutes, failure_threshold,
       recovery_threshold, is_kept, created_at, updated_at)
     select 'monitor_' || n, $1, $2, 'kept-' || n, 'production', 1, 30, 1, 1, true, now(), now()
     from generate_series(1, $3::int) n`,
    [w.orgId, serviceId, MONITORS_MAX - 1],
  );
  await keyed(w, dsn, 'real', ingestionKey);
  await look(w);
  const { monitors } = await monitorsOf(w, serviceId);
  expect(monitors.map(({ slug }: { slug: string }) => slug)).not.toContain('stray');
  expect(await incidentsOf(w, serviceId)).toMatchObject([{ status: 'resolved' }]);
});
