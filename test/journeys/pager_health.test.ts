import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { expect, onTestFinished, test } from 'vitest';

import { silentLog } from '#kernel/log.ts';
import { type StaffedWorld, staffedWorld } from '#test/kit/staff.ts';
import { pagerRole } from '#workers/pager_role.ts';
import { sendHeartbeat } from '#workers/send_heartbeat.ts';
import { sweepDue } from '#workers/sweep_due.ts';

/** No worker works; a step was due when the incident triggered. */
async function deadPager() {
  const w = await staffedWorld({ jobs: false });
  const teamId = await w.staff.team();
  const anna = await w.staff.responder(teamId, 'Anna');
  const alert = await w.staff.alert(teamId, [{ afterMinutes: 0, channels: ['sms'], targetUserIds: [anna.userId] }]);
  await alert.trigger();
  return w;
}

async function catchUp(w: StaffedWorld): Promise<void> {
  await sweepDue(w.runtime, 0);
  await sweepDue(w.runtime, 0);
  await w.settle();
}

const health = async (w: StaffedWorld) => {
  const { statusCode, body } = await w.app.inject({ method: 'GET', url: '/healthz' });
  const { status, pager } = JSON.parse(body);
  return { code: statusCode, status, pager };
};

const metric = async (w: StaffedWorld, name: string): Promise<number> => {
  const body = await w.metrics();
  return Number(new RegExp(`^tocsin_overdue_${name}_seconds (\\S+)$`, 'm').exec(body)?.[1]);
};

/** A watchdog that counts what it hears. */
async function watchdog(): Promise<{ url: string; heard: () => number; answer(status: number): void }> {
  let heard = 0;
  let status = 200;
  const server = createServer((_request, response) => {
    heard += 1;
    response.writeHead(status).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/beat`;
  return { url, heard: () => heard, answer: (next) => (status = next) };
}

test('a step that nobody fires shows in the metric at once, and in the health check after half a minute', async () => {
  const w = await deadPager();
  expect(await health(w)).toMatchObject({ code: 200, status: 'up', pager: { status: 'up', overdueStepSeconds: 0 } });
  w.clock.advance({ seconds: 30 });
  expect(await metric(w, 'step')).toBe(30);
  expect(await health(w)).toMatchObject({ code: 200, status: 'up' });
  w.clock.advance({ seconds: 1 });
  expect(await health(w)).toEqual({
    code: 503,
    status: 'degraded',
    pager: { status: 'degraded', overdueStepSeconds: 31, overdueMessageSeconds: 0 },
  });
});

test('a message that does not leave is as bad as a step that does not fire', async () => {
  const w = await deadPager();
  await w.house.db.sql.run(`update incident_steps set state = 'fired'`);
  await w.house.db.sql.run(
    `insert into notifications (id, org_id, kind, user_id, channel, status, due_at, created_at, updated_at)
     values ('n', 'o', 'test', 'u', 'sms', 'queued', $1, $1, $1)`,
    [w.clock.now().toString()],
  );
  w.clock.advance({ minutes: 1 });
  expect(await metric(w, 'message')).toBe(60);
  expect(await health(w)).toMatchObject({ code: 503, status: 'degraded', pager: { overdueStepSeconds: 0 } });
});

test('all is well again once a worker has caught up', async () => {
  const w = await deadPager();
  w.clock.advance({ minutes: 5 });
  expect(await health(w)).toMatchObject({ code: 503 });
  await catchUp(w);
  // An answer is kept for a second.
  w.clock.advance({ seconds: 1 });
  expect(await health(w)).toMatchObject({ code: 200, status: 'up' });
  expect([await metric(w, 'step'), await metric(w, 'message')]).toEqual([0, 0]);
});

test('steps of a deleted service are nobody’s any more', async () => {
  const w = await deadPager();
  w.clock.advance({ minutes: 5 });
  await w.house.db.sql.run('update services set deleted_at = $1', [w.clock.now().toString()]);
  expect(await metric(w, 'step')).toBe(0);
});

test('a watchdog hears from us only while pages leave in time', async () => {
  const w = await deadPager();
  const dog = await watchdog();
  const runtime = { ...w.runtime, log: silentLog };
  await sendHeartbeat(runtime, dog.url);
  expect(dog.heard()).toBe(1);
  w.clock.advance({ seconds: 31 });
  await sendHeartbeat(runtime, dog.url);
  expect(dog.heard()).toBe(1);
  await catchUp(w);
  await sendHeartbeat(runtime, dog.url);
  expect(dog.heard()).toBe(2);
});

test('a watchdog that is away or refuses us stops nothing, and its address is in no log', async () => {
  const w = await deadPager();
  const dog = await watchdog();
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

test('a pager sends it every minute where HEARTBEAT_URL is set, and else nothing', async () => {
  const w = await deadPager();
  const dog = await watchdog();
  const beats = (heartbeatUrl: string | undefined) =>
    pagerRole(w.house, { ...w.runtime, log: silentLog, heartbeatUrl }).periodic.filter(
      ({ name }) => name === 'send_heartbeat',
    );
  expect(beats(undefined)).toEqual([]);
  const [beat] = beats(dog.url);
  expect(beat?.everySeconds).toBe(60);
  await beat?.run();
  expect(dog.heard()).toBe(1);
});
