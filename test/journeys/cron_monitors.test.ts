import * as Sentry from '@sentry/node';
import { describe, expect, onTestFinished, test } from 'vitest';

import { deleteMonitor, muteMonitor, resetMonitor, updateMonitor } from '#modules/monitors/operations/monitors.ts';
import { findOverdue, takeCheckIns } from '#modules/monitors/take_check_ins.ts';
import { asId } from '#kernel/ids.ts';
import { Temporal } from '#kernel/time.ts';
import { storesOf } from '#modules/stores.ts';
import {
  HOURLY,
  runtimeOf,
  look,
  checkIn,
  owner,
  monitorsOf,
  incidentsOf,
  givenRule,
  staffed,
} from '#test/journeys/given_monitors.ts';
import { runOperation } from '#test/kit/run_operation.ts';
import { world } from '#test/kit/world.ts';
import { watchMonitors } from '#workers/worker_role.ts';

test('a job with the SDK is watched: a missed run pages once, the next good one resolves it', async () => {
  const { w, serviceId, dsn } = await staffed();
  const { pathname, username } = new URL(dsn);
  const { host } = new URL(w.app.listeningOrigin);
  const client = Sentry.init({
    dsn: `http://${username}@${host}${pathname}`,
    environment: 'staging',
    release: 'jobs@1.0.0',
    defaultIntegrations: false,
  });
  onTestFinished(async () => void (await client?.close()));

  await Sentry.withMonitor('nightly-backup', async () => 'done', {
    schedule: { type: 'crontab', value: '0 * * * *' },
    checkinMargin: 5,
    maxRuntime: 30,
    timezone: 'Europe/Amsterdam',
  });
  await Sentry.flush();
  await look(w);
  const { monitors, opensIncidents } = await monitorsOf(w, serviceId);
  expect(opensIncidents).toBe(true);
  expect(monitors).toMatchObject([
    {
      slug: 'nightly-backup',
      environment: 'staging',
      schedule: '0 * * * * (Europe/Amsterdam)',
      marginMinutes: 5,
      isFailing: false,
      nextDueAt: '2027-06-01T13:00:00.000Z',
      runs: [{ status: 'ok', release: 'jobs@1.0.0' }],
    },
  ]);

  w.clock.set('2027-06-01T13:05:00Z');
  await look(w);
  await look(w);
  await w.advance({ seconds: 1 });
  expect(w.phone.messages).toHaveLength(1);
  const title = 'Cron monitor nightly-backup (staging) missed a run';
  expect(await incidentsOf(w, serviceId)).toEqual([{ title, status: 'triggered', occurrences: 1 }]);

  const checkInId = Sentry.captureCheckIn({ monitorSlug: 'nightly-backup', status: 'in_progress' });
  Sentry.captureCheckIn({ checkInId, monitorSlug: 'nightly-backup', status: 'ok', duration: 12 });
  await Sentry.flush();
  await look(w);
  expect(await incidentsOf(w, serviceId)).toMatchObject([{ title, status: 'resolved' }]);
});

describe('a job that checks in by its address', () => {
  test('fails, runs too long, and counts one incident until it is well', async () => {
    const w = await world();
    const { serviceId, dsn } = await w.given.service();
    await givenRule(w, serviceId);
    expect((await checkIn(w, dsn, 'Import Orders', 'status=in_progress', { monitor_config: HOURLY })).statusCode).toBe(
      202,
    );
    expect((await checkIn(w, dsn, 'import-orders', 'status=error')).statusCode).toBe(202);
    await look(w);
    expect((await monitorsOf(w, serviceId)).monitors).toMatchObject([{ isFailing: true, runs: [{ status: 'error' }] }]);
    await checkIn(w, dsn, 'import-orders', 'status=in_progress');
    await look(w);
    w.clock.advance({ minutes: 30 });
    await look(w);
    const title = 'Cron monitor import-orders (production) failed';
    expect(await incidentsOf(w, serviceId)).toMatchObject([
      { title, status: 'triggered', occurrences: expect.any(Number) },
    ]);
    const [{ runs }] = (await monitorsOf(w, serviceId)).monitors;
    expect(runs.map(({ status }: { status: string }) => status)).toContain('timeout');
    await checkIn(w, dsn, 'import-orders', 'status=ok');
    await look(w);
    expect(await incidentsOf(w, serviceId)).toMatchObject([{ title, status: 'resolved' }]);
  });

  test('is told what is wrong with its key, its status and its schedule', async () => {
    const w = await world();
    const { serviceId, dsn } = await w.given.service();
    expect((await checkIn(w, dsn.replace(/\w{32}/, 'f'.repeat(32)), 'job', 'status=ok')).statusCode).toBe(401);
    const without = await checkIn(w, dsn, 'job', '');
    expect([without.statusCode, without.json().detail]).toEqual([400, expect.stringContaining('?status=in_progress')]);
    const bad = { monitor_config: { schedule: { type: 'crontab', value: 'every night' } } };
    const taken = await checkIn(w, dsn, 'job', 'status=ok', bad);
    expect(taken.json().faults).toEqual([expect.stringContaining('no crontab')]);
    expect(taken.headers['x-sentry-error']).toContain('no crontab');
    await look(w);
    expect((await monitorsOf(w, serviceId)).monitors).toMatchObject([
      { slug: 'job', schedule: 'every night', scheduleFault: expect.stringContaining('no crontab'), nextDueAt: null },
    ]);
  });

  test('pages for a schedule that cannot be read until one can be, and follows no other meanwhile', async () => {
    const w = await world();
    const { serviceId, dsn } = await w.given.service();
    await givenRule(w, serviceId);
    const say = async (value: string) => {
      await checkIn(w, dsn, 'job', 'status=ok', { monitor_config: { schedule: { type: 'crontab', value } } });
      await look(w);
    };
    await say('0 * * * *');
    await say('0 20 15W * *');
    await say('0 20 15W * *');
    const title = 'Cron monitor job (production) sent a schedule that cannot be read';
    expect(await incidentsOf(w, serviceId)).toMatchObject([{ title, status: 'triggered', occurrences: 1 }]);
    w.clock.advance({ hours: 30 });
    await look(w);
    expect(await incidentsOf(w, serviceId)).toHaveLength(1);
    await say('0 20 * * *');
    // Once a day is later than once an hour, which was the last that could be read.
    expect(await incidentsOf(w, serviceId)).toMatchObject([
      { title: 'Cron monitor job (production) was rescheduled by a check-in', status: 'triggered' },
      { title, status: 'resolved' },
    ]);
  });
});

test('a muted monitor opens nothing, a rule may leave monitors out, and deleting one resolves its incidents', async () => {
  const w = await world();
  const { serviceId, dsn } = await w.given.service();
  await givenRule(w, serviceId);
  await givenRule(w, serviceId, { config: { minSeverity: 'fatal' } });
  const fail = async (slug: string): Promise<void> => {
    await checkIn(w, dsn, slug, 'status=error');
    await look(w);
  };
  await checkIn(w, dsn, 'one', 'status=ok');
  await look(w);
  const [{ monitorId }] = (await monitorsOf(w, serviceId)).monitors;
  await runOperation(w, muteMonitor, owner(w), { monitorId, isMuted: true });
  await fail('one');
  expect(await incidentsOf(w, serviceId)).toEqual([]);
  await runOperation(w, muteMonitor, owner(w), { monitorId, isMuted: false });
  await fail('one');
  // The rule for fatal ones is not concerned.
  expect(await incidentsOf(w, serviceId)).toMatchObject([{ status: 'triggered' }]);
  await runOperation(w, deleteMonitor, owner(w), { monitorId });
  expect(await incidentsOf(w, serviceId)).toMatchObject([{ status: 'resolved' }]);
  expect((await monitorsOf(w, serviceId)).monitors).toEqual([]);
  const audited = await w.context.db.sql.rows<{ action: string }>(
    'select action from audit_log where target = $1 order by at, id',
    [monitorId],
  );
  expect(audited.map(({ action }) => action)).toEqual(['mute_monitor', 'mute_monitor', 'delete_monitor']);
});

test('a schedule that a person has said wins over what the job sends, until the job decides again', async () => {
  const w = await world();
  w.clock.set('2027-06-01T12:00:10Z');
  const { serviceId, dsn } = await w.given.service();
  await givenRule(w, serviceId);
  const run = async () => {
    await checkIn(w, dsn, 'backup', 'status=ok', { monitor_config: HOURLY });
    await look(w);
    return (await monitorsOf(w, serviceId)).monitors[0];
  };
  const { monitorId } = await run();
  const wanted = { scheduleType: 'interval', every: 1, unit: 'day', timezone: 'Europe/Amsterdam', marginMinutes: 10 };
  const limits = { runtimeMinutes: 30, failureThreshold: 1, recoveryThreshold: 1 };
  const edit = (basedOn: string | null, changed: object = {}) =>
    runOperation(w, updateMonitor, owner(w), { monitorId, basedOn, ...wanted, ...limits, ...changed });
  const { editedAt } = await edit(null);
  await expect(edit(null)).rejects.toThrow('somebody has changed this monitor');
  await expect(edit(editedAt, { scheduleType: 'crontab', crontab: '61 * * * *' })).rejects.toThrow('crontab: ');
  await expect(edit(editedAt, { timezone: 'Mars' })).rejects.toThrow('timezone: ');
  expect(await run()).toMatchObject({ schedule: 'every day', marginMinutes: 10, sentSchedule: '0 * * * * (UTC)' });
  w.clock.set('2027-06-01T14:30:00Z');
  await look(w);
  expect(await incidentsOf(w, serviceId)).toEqual([]);
  await runOperation(w, resetMonitor, owner(w), { monitorId, basedOn: editedAt });
  expect((await monitorsOf(w, serviceId)).monitors[0]).toMatchObject({
    schedule: '0 * * * * (UTC)',
    editedAt: null,
    nextDueAt: '2027-06-01T15:00:00.000Z',
  });
  w.clock.set('2027-06-01T15:05:00Z');
  await look(w);
  expect(await incidentsOf(w, serviceId)).toMatchObject([{ status: 'triggered' }]);
  const audited = await w.context.db.sql.rows<{ action: string }>(
    `select action from audit_log where target = $1 and result = 'done' order by at, id`,
    [monitorId],
  );
  expect(audited.map(({ action }) => action)).toEqual(['update_monitor', 'reset_monitor']);
});

test('a run that was given up ends well in its own environment, though its end names none', async () => {
  const w = await world();
  const { serviceId, dsn } = await w.given.service();
  await givenRule(w, serviceId);
  const id = 'c'.repeat(32);
  await checkIn(w, dsn, 'job', `status=in_progress&environment=staging&check_in_id=${id}`);
  await look(w);
  w.clock.advance({ minutes: 31 });
  await look(w);
  expect(await incidentsOf(w, serviceId)).toMatchObject([{ status: 'triggered' }]);
  await checkIn(w, dsn, 'job', `status=ok&check_in_id=${id}`);
  await look(w);
  expect((await monitorsOf(w, serviceId)).monitors).toMatchObject([
    { environment: 'staging', isFailing: false, runs: [{ status: 'ok' }] },
  ]);
  expect(await incidentsOf(w, serviceId)).toMatchObject([{ status: 'resolved' }]);
});

test('a schedule that a person sets in place of one that cannot be read resolves the incident about it', async () => {
  const w = await world();
  const { serviceId, dsn } = await w.given.service();
  await givenRule(w, serviceId);
  const bad = { monitor_config: { schedule: { type: 'crontab', value: '0 20 15W * *' } } };
  await checkIn(w, dsn, 'job', 'status=ok', bad);
  await look(w);
  expect(await incidentsOf(w, serviceId)).toMatchObject([{ status: 'triggered' }]);
  const [{ monitorId }] = (await monitorsOf(w, serviceId)).monitors;
  const wanted = { scheduleType: 'crontab', crontab: '0 20 * * *', timezone: 'UTC', marginMinutes: 5 };
  const limits = { runtimeMinutes: 30, failureThreshold: 1, recoveryThreshold: 1 };
  await runOperation(w, updateMonitor, owner(w), { monitorId, basedOn: null, ...wanted, ...limits });
  expect(await incidentsOf(w, serviceId)).toMatchObject([{ status: 'resolved' }]);
  await checkIn(w, dsn, 'job', 'status=ok', bad);
  await look(w);
  expect(await incidentsOf(w, serviceId)).toMatchObject([{ status: 'resolved' }]);
});

test('no run is missed that checked in before, nor within a minute after nobody could look', async () => {
  const w = await world();
  w.clock.set('2027-06-01T12:00:10Z');
  const { serviceId, dsn } = await w.given.service();
  await givenRule(w, serviceId);
  await checkIn(w, dsn, 'job', 'status=ok', { monitor_config: HOURLY });
  await watchMonitors(runtimeOf(w));
  // The worker comes back when the next run is overdue; its check-in is still on the disk of an API process.
  w.clock.set('2027-06-01T13:06:00Z');
  await watchMonitors(runtimeOf(w));
  expect(await incidentsOf(w, serviceId)).toEqual([]);
  await w.context.db.transaction(async (session) => {
    await storesOf(session).checkIns.add({
      orgId: w.orgId,
      serviceId: asId('service', serviceId),
      slug: 'job',
      environment: 'production',
      runId: 'a'.repeat(32),
      isNamed: true,
      byKey: false,
      status: 'ok',
      durationMs: null,
      config: null,
      release: null,
      receivedAt: Temporal.Instant.from('2027-06-01T13:00:20Z'),
    });
  });
  for (let seconds = 0; seconds < 70; seconds += 10) {
    w.clock.advance({ seconds: 10 });
    await watchMonitors(runtimeOf(w));
  }
  expect(await incidentsOf(w, serviceId)).toEqual([]);
  expect((await monitorsOf(w, serviceId)).monitors).toMatchObject([{ nextDueAt: '2027-06-01T14:00:00.000Z' }]);
});

test('two workers that look at the same time open one incident and count each check-in once', async () => {
  const w = await world();
  w.clock.set('2027-06-01T12:00:10Z');
  const { serviceId, dsn } = await w.given.service();
  await givenRule(w, serviceId);
  for (let run = 0; run < 4; run += 1) await checkIn(w, dsn, 'job', 'status=ok', { monitor_config: HOURLY });
  await Promise.all([takeCheckIns(runtimeOf(w)), takeCheckIns(runtimeOf(w))]);
  const [{ runs }] = (await monitorsOf(w, serviceId)).monitors;
  expect(runs).toHaveLength(4);
  w.clock.set('2027-06-01T13:05:00Z');
  await Promise.all([findOverdue(runtimeOf(w)), findOverdue(runtimeOf(w))]);
  expect(await incidentsOf(w, serviceId)).toMatchObject([{ status: 'triggered', occurrences: 1 }]);
});
