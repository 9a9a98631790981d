import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import type { InjectOptions } from 'fastify';
import { expect, onTestFinished, test } from 'vitest';

import { WATCHED_WORK } from '#modules/notifications/decide/pager_health.ts';
import { storePoints } from '#storage/queue/jobs.ts';
import { newId } from '#kernel/ids.ts';
import { silentLog } from '#kernel/log.ts';
import { getLateness } from '#modules/notifications/operations/get_paging_problems.ts';
import type { Temporal } from '#kernel/time.ts';
import { storesOf } from '#modules/stores.ts';
import { WorkerStore } from '#storage/postgres/worker_store.ts';
import { memberCaller, runOperation } from '#test/kit/run_operation.ts';
import { type StaffedWorld, staffedWorld } from '#test/kit/staffed_world.ts';
import { pagerRole, sendHeartbeat } from '#workers/pager_role.ts';
import { startPeriodic } from '#workers/run_role.ts';
import { startShardedJobs } from '#workers/sharded_jobs.ts';
import { workerRole } from '#workers/worker_role.ts';

/** No pager works; a step was due when the incident triggered. */
async function deadPager() {
  const w = await staffedWorld({ newApp: true });
  const [teamId, anna] = await w.staff.teamOf('Anna');
  const alert = await w.staff.alert(teamId, [{ afterMinutes: 0, channels: ['sms'], targetUserIds: [anna.userId] }]);
  await alert.trigger();
  return w;
}

/** Rules are evaluated, and a pager does its rounds, as of now. */
async function doRounds(w: StaffedWorld, names = [...WATCHED_WORK.rules, ...WATCHED_WORK.pager] as string[]) {
  await w.context.db.sql.run('update leases set done_at = $1 where name = any($2)', [w.clock.now().toString(), names]);
}

/** Moves the clock beyond the time for which an answer is kept. */
const aSecondLater = (w: StaffedWorld): void => w.clock.advance({ seconds: 1 });

const health = async (w: StaffedWorld) => {
  const { statusCode, body } = await w.app.inject({ method: 'GET', url: '/healthz' });
  const { status, pager } = JSON.parse(body);
  return { code: statusCode, status, pager };
};

const readiness = async (w: StaffedWorld) => {
  const { statusCode, body } = await w.app.inject({ method: 'GET', url: '/readyz' });
  return { code: statusCode, ...JSON.parse(body) };
};

/** Returns the lateness that the console says at the top of every page. */
const toldByConsole = async (w: StaffedWorld) =>
  (await runOperation(w, getLateness, memberCaller(w.orgId, w.owner.userId, 'viewer'), {})).late;

const metric = async (w: StaffedWorld, name: string): Promise<number> => {
  const body = await w.metrics();
  return Number(new RegExp(`^tocsin_${name} (\\S+)$`, 'm').exec(body)?.[1]);
};

/** All who ask how the pager is are told the same: what is wrong, how old, and the watchdog hears nothing. */
async function expectLate(w: StaffedWorld, problem: RegExp): Promise<void> {
  const dog = await watchdog();
  const problems = [expect.stringMatching(problem)];
  expect(await health(w)).toMatchObject({ code: 503, status: 'degraded', pager: { status: 'degraded', problems } });
  expect(await readiness(w)).toEqual({ code: 503, ready: false, because: problems });
  expect(await metric(w, 'pager_problems')).toBe(1);
  await sendHeartbeat({ ...w.runtime, log: silentLog }, dog.url);
  expect(dog.heard()).toBe(0);
}

async function expectWell(w: StaffedWorld): Promise<void> {
  const dog = await watchdog();
  expect(await health(w)).toMatchObject({ code: 200, status: 'up', pager: { status: 'up', problems: [] } });
  expect(await readiness(w)).toEqual({ code: 200, ready: true });
  expect(await metric(w, 'pager_problems')).toBe(0);
  await sendHeartbeat({ ...w.runtime, log: silentLog }, dog.url);
  expect(dog.heard()).toBe(1);
}

/** Runs periodic work as a process of the role does: by a lease, which records the time for which it was done. */
async function periodically(w: StaffedWorld, name: string, run: () => Promise<void>): Promise<void> {
  const { promise: done, resolve } = Promise.withResolvers<void>();
  const counted = async (): Promise<void> => {
    await run();
    resolve();
  };
  const runtime = { ...w.context, holder: newId('job'), sharing: { isLeader: () => true } };
  const ticker = startPeriodic(runtime, [{ name, everySeconds: 1, run: counted }]);
  await done;
  await ticker.stop();
}

/** A watchdog that counts what it hears. */
async function watchdog() {
  const heard: (string | undefined)[] = [];
  let status = 200;
  const server = createServer(({ headers }, response) => {
    heard.push(headers.authorization);
    response.writeHead(status).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/beat`;
  return { url, heard: () => heard.length, accounts: () => heard, answer: (next: number) => (status = next) };
}

test('a stalled pager: a step that does not fire shows in the metric at once, and in every health check after 15 seconds until it has', async () => {
  const w = await deadPager();
  await expectWell(w);
  w.clock.advance({ seconds: 15 });
  expect(await metric(w, 'overdue_step_seconds')).toBe(15);
  await expectWell(w);
  w.clock.advance({ seconds: 1 });
  await expectLate(w, /^an escalation step is overdue by 16 s$/);
  await w.context.db.sql.run('update services set deleted_at = $1', [w.clock.now().toString()]);
  aSecondLater(w);
  expect(await metric(w, 'overdue_step_seconds'), 'steps of a deleted service do not count').toBe(0);
  await w.context.db.sql.run('update services set deleted_at = null');
  await w.runUntilIdle();
  aSecondLater(w);
  await doRounds(w);
  await expectWell(w);
  expect([await metric(w, 'overdue_step_seconds'), await metric(w, 'overdue_message_seconds')]).toEqual([0, 0]);
});

test('a stalled pager: a message that was not sent to a provider counts like a step that does not fire', async () => {
  const w = await staffedWorld({ newApp: true });
  await w.context.db.sql.run(
    `insert into notifications (id, org_id, kind, user_id, channel, status, due_at, created_at, updated_at)
     values ('n', 'o', 'test', 'u', 'sms', 'queued', $1, $1, $1)`,
    [w.clock.now().toString()],
  );
  w.clock.advance({ minutes: 1 });
  await doRounds(w);
  expect(await metric(w, 'overdue_message_seconds')).toBe(60);
  await expectLate(w, /^a page is overdue by 60 s$/);
});

test('a missing pager is reported even if nobody has to be paged', async () => {
  const w = await staffedWorld({ newApp: true });
  w.clock.advance({ seconds: 31 });
  await doRounds(w, [...WATCHED_WORK.rules]);
  expect(await metric(w, 'pager_silent_seconds')).toBe(31);
  await expectLate(w, /^no pager process has been at work for 31 s$/);
  expect(await toldByConsole(w)).toEqual(['no pager process has been at work for 31 s']);
  for (const { name, run } of pagerRole(w.context, w.runtime).periodic) {
    if (name === WATCHED_WORK.pager[0]) await periodically(w, name, run);
  }
  aSecondLater(w);
  await expectWell(w);
});

test('a stalled worker: rules that are not evaluated are reported even if no data waits', async () => {
  const w = await staffedWorld({ newApp: true });
  w.clock.advance({ seconds: 31 });
  await doRounds(w, ['evaluate_rules', ...WATCHED_WORK.pager]);
  expect(await metric(w, 'unseen_data_seconds')).toBe(31);
  await expectLate(w, /^rules were last evaluated 31 s ago$/);
  expect(await toldByConsole(w)).toEqual(['rules were last evaluated 31 s ago']);
  const begun = Promise.withResolvers<void>();
  const shared = workerRole(w.context, w.runtime)
    .shared.filter(({ name }) => name === 'evaluate_long_rules')
    .map(({ run, ...work }) => {
      return {
        ...work,
        async run(shards: Parameters<typeof run>[0]) {
          begun.resolve();
          await run(shards);
        },
      };
    });
  const sharing = startShardedJobs({ ...w.context, holder: newId('job') }, 'worker', shared);
  await begun.promise;
  await sharing.stop();
  aSecondLater(w);
  await expectWell(w);
});

test('a stalled worker or queue: accepted data that no rule has seen is reported until one has', async () => {
  const w = await staffedWorld({ newApp: true });
  const { dsn, ingestionKey } = await w.given.service();
  const { username, pathname } = new URL(dsn);
  const event = { method: 'POST', url: `/api${pathname}/store/?sentry_key=${username}`, payload: { message: 'beans' } };
  const point = {
    method: 'POST',
    url: '/api/ingest/metrics',
    headers: { authorization: `Bearer ${ingestionKey}` },
    payload: { points: [{ name: 'cpu', value: 1 }] },
  };
  for (const request of [event, point] as const) {
    expect((await w.app.inject(request as InjectOptions)).statusCode).toBeLessThan(300);
    w.clock.advance({ seconds: 20 });
    await doRounds(w);
    await expectWell(w);
    w.clock.advance({ minutes: 8 });
    await doRounds(w);
    await expectLate(w, /^data accepted \d{3} s ago has not reached the rules$/);
    await w.runUntilIdle();
    aSecondLater(w);
    await doRounds(w);
    await expectWell(w);
  }
});

test('a service that floods makes only its own data late, and other senders are still accepted', async () => {
  const w = await staffedWorld({ newApp: true });
  const keep = (serviceId: string, count: number) =>
    w.context.queue.addDurable(
      storePoints,
      Array.from({ length: count }, () => ({ orgId: w.orgId, serviceId, items: 1, bytes: Buffer.from('points') })),
    );
  await keep('svc_flood', 250);
  w.clock.advance({ seconds: 40 });
  await doRounds(w);
  expect(await health(w)).toMatchObject({ code: 503, pager: { unseenDataSeconds: 40 } });
  expect(await readiness(w)).toEqual({ code: 200, ready: true });
  await keep('svc_other', 3);
  w.clock.advance({ seconds: 31 });
  await doRounds(w);
  const because = ['data accepted 31 s ago has not reached the rules'];
  expect(await readiness(w)).toEqual({ code: 503, ready: false, because });
});

test('data that waits on the disk of an API process is reported, and no longer once the process is gone', async () => {
  const w = await staffedWorld({ newApp: true });
  const { spooledData } = storesOf(w.context.db.session());
  const acceptedAt = w.clock.now();
  const tell = (folder: string, oldestAt: Temporal.Instant | null) => {
    const now = w.clock.now();
    return spooledData.report(folder, oldestAt, { now, dropBefore: now.subtract({ hours: 1 }) });
  };
  w.clock.advance({ minutes: 2 });
  await doRounds(w);
  await tell('one', acceptedAt);
  await tell('other', w.clock.now());
  expect(await metric(w, 'unseen_data_seconds')).toBe(120);
  await expectLate(w, /^data accepted 120 s ago has not reached the rules$/);
  await tell('one', null);
  aSecondLater(w);
  await expectWell(w);
  await tell('one', acceptedAt);
  w.clock.advance({ minutes: 61 });
  await doRounds(w);
  await tell('other', null);
  await expectWell(w);
});

test('a pager sends a heartbeat every minute if HEARTBEAT_URL is set, with its password; a watchdog that is unavailable or rejects it stops nothing', async () => {
  const w = await staffedWorld();
  const dog = await watchdog();
  const beats = (heartbeatUrl: string | undefined) =>
    pagerRole(w.context, { ...w.runtime, log: silentLog, heartbeatUrl }).periodic.filter(
      ({ name }) => name === 'send_heartbeat',
    );
  expect(beats(undefined)).toEqual([]);
  const [beat] = beats(dog.url);
  expect(beat?.everySeconds).toBe(60);
  await beat?.run();
  await sendHeartbeat({ ...w.runtime, log: silentLog }, dog.url.replace('http://', 'http://ann:pa%23ss@'));
  expect(dog.accounts()).toEqual([undefined, `Basic ${Buffer.from('ann:pa#ss').toString('base64')}`]);
  const lines: string[] = [];
  const log = {
    ...silentLog,
    warn: (fields: object, message: string) => lines.push(JSON.stringify({ fields, message })),
  };
  dog.answer(500);
  await sendHeartbeat({ ...w.runtime, log }, `${dog.url}?secret=hush`);
  await sendHeartbeat({ ...w.runtime, log }, 'http://127.0.0.1:1/hush');
  expect(lines).toHaveLength(2);
  expect(lines.join()).not.toContain('hush');
});

test('a worker that is frozen shows in every health check within three seconds, and a pager alone is not blamed', async () => {
  const w = await staffedWorld({ jobs: 'lost' });
  const now = w.clock.now();
  const members = new WorkerStore(w.context.db.session());
  await members.renew({ works: ['worker'], left: [] }, 'frozen', { now, aliveUntil: now.add({ seconds: 2 }) });
  w.clock.advance({ seconds: 2 });
  expect(await health(w)).toMatchObject({ code: 200, pager: { workerSilentSeconds: 0, problems: [] } });
  w.clock.advance({ seconds: 1 });
  const problems = [expect.stringMatching(/^no worker process has been alive for 1 s/)];
  expect(await health(w)).toMatchObject({ code: 503, status: 'degraded', pager: { problems } });
  expect(await metric(w, 'worker_silent_seconds')).toBe(1);
});
