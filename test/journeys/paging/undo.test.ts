import { afterAll, beforeAll, expect, test } from 'vitest';

import { runGroupExceptions, runStorePoints } from '#test/kit/ingest_jobs.ts';
import { type Browser, givePassword, signedIn } from '#test/kit/programs/browser.ts';
import { type Responder, type StaffedWorld, staffedWorld } from '#test/kit/staffed_world.ts';
import { exceptionEvent } from '#test/kit/exception_event.ts';

let w: StaffedWorld;
let cleo: Responder;
let browser: Browser;
beforeAll(async () => {
  w = await staffedWorld({ keepOpen: true });
  cleo = await w.staff.responder(await w.staff.team(), 'Cleo');
  await givePassword(w, cleo.userId);
  browser = await signedIn(w, cleo.email);
});
afterAll(() => w.close());

/** Anna is paged at once, Bram after 15 minutes, both by SMS. Cleo sits at the console. */
async function answeredAtTheConsole() {
  const [teamId, anna, bram] = await w.staff.teamOf('Anna', 'Bram');
  const alert = await w.staff.alert(teamId, [
    { afterMinutes: 0, channels: ['sms'], targetUserIds: [anna.userId] },
    { afterMinutes: 15, channels: ['sms'], targetUserIds: [bram.userId] },
  ]);
  const incidentId = await alert.trigger();
  await w.runUntilIdle();
  return { anna, bram, alert, incidentId };
}

const ask = async (operation: string, incidentId: string) =>
  await browser.post(`/organizations/${w.orgId}/actions/${operation}`, { incidentId });

const smsTo = (w: StaffedWorld, { phone }: Responder): string[] =>
  w.phone.messages.filter(({ to }) => to === phone).map(({ body }) => body);

const read = (w: StaffedWorld, incidentId: string) => w.expectOk('get_incident', { incidentId });

async function timelineTexts(w: StaffedWorld, incidentId: string): Promise<string[]> {
  const { timeline } = await read(w, incidentId);
  return timeline.map(({ text }: { text: string }) => text);
}

test('undoing a resolution within 10 s notifies nobody, and each step fires at its original time', async () => {
  const { anna, bram, incidentId } = await answeredAtTheConsole();
  await w.advance({ minutes: 14, seconds: 55 });
  expect((await ask('resolve_incident', incidentId)).body.result.status).toBe('resolved');
  await w.advance({ seconds: 4 });
  const answer = await ask('reopen_incident', incidentId);
  expect(answer.body.result).toMatchObject({
    status: 'triggered',
    resolvedAt: null,
    resolvedBy: null,
    escalation: { state: 'running', nextStep: 1 },
  });
  await w.runUntilIdle();
  expect([smsTo(w, anna).length, smsTo(w, bram).length]).toEqual([1, 0]);
  await w.advance({ seconds: 1 });
  expect([smsTo(w, anna).length, smsTo(w, bram).length]).toEqual([1, 1]);
  await w.advance({ minutes: 1 });
  expect([smsTo(w, anna).length, smsTo(w, bram).length]).toEqual([1, 1]);

  const { notifications, timeline } = await read(w, incidentId);
  expect(notifications.map(({ status, reason }: Logged) => [status, reason])).toEqual([
    ['delivered', null],
    ['cancelled', 'taken_back'],
    ['delivered', null],
  ]);
  expect(timeline.map(({ text }: { text: string }) => text)).toContain(
    'Reopened by Cleo by the console; escalation goes on.',
  );
  const audited = await w.context.db.sql.rows(
    `select actor, via, before, after from audit_log where action = 'reopen_incident' and target = $1`,
    [incidentId],
  );
  expect(audited).toMatchObject([
    { actor: { userId: cleo.userId }, via: 'console', before: { status: 'resolved' }, after: { status: 'triggered' } },
  ]);
  // Asked twice, as a double click would.
  expect((await ask('reopen_incident', incidentId)).body.result.status).toBe('triggered');
  expect(
    (
      await w.context.db.sql.rows(`select 1 from audit_log where action = 'reopen_incident' and target = $1`, [
        incidentId,
      ])
    ).length,
    'what changes nothing is not audited',
  ).toBe(1);
});

interface Logged {
  readonly status: string;
  readonly reason: string | null;
}

test('everyone who got the news of a resolution gets one message that it is open again, and the escalation continues where it stopped', async () => {
  const { anna, bram, incidentId } = await answeredAtTheConsole();
  await w.advance({ minutes: 10 });
  await ask('resolve_incident', incidentId);
  await w.advance({ seconds: 10 });
  expect(smsTo(w, anna).at(-1)).toContain('is resolved by Cleo. No need to act.');
  await w.advance({ hours: 2 });
  await ask('reopen_incident', incidentId);
  await w.runUntilIdle();
  expect(smsTo(w, anna).slice(2)).toEqual([expect.stringContaining('is open again')]);
  expect(await timelineTexts(w, incidentId)).toContain(
    'Reopened by Cleo by the console; escalation goes on. Anna hears by SMS that it is open again.',
  );
  await w.advance({ minutes: 4 });
  expect(smsTo(w, bram)).toEqual([]);
  await w.advance({ minutes: 2 });
  expect(smsTo(w, bram)).toEqual([expect.stringContaining('Reply ACK')]);

  await ask('resolve_incident', incidentId);
  await ask('reopen_incident', incidentId);
  await w.advance({ minutes: 1 });
  expect(smsTo(w, anna).length, 'nobody was told of the second one').toBe(3);
});

test('a reopened incident that was acknowledged is acknowledged again, and pages nobody', async () => {
  const { anna, bram, incidentId } = await answeredAtTheConsole();
  await w.expectOk('acknowledge_incident', { incidentId }, { key: anna.key });
  await ask('resolve_incident', incidentId);
  expect((await ask('reopen_incident', incidentId)).body.result).toMatchObject({
    status: 'acknowledged',
    acknowledgedBy: { userId: anna.userId },
    escalation: { state: 'paused' },
  });
  await w.advance({ hours: 1 });
  expect([smsTo(w, anna).length, smsTo(w, bram).length]).toEqual([1, 0]);
  expect(await timelineTexts(w, incidentId)).toContain(
    'Reopened by Cleo by the console; it is acknowledged as before.',
  );
});

test('undoing an acknowledgement resumes the escalation, and sends the pages that it had cancelled', async () => {
  const { anna, bram, incidentId } = await answeredAtTheConsole();
  await w.advance({ minutes: 14 });
  await ask('acknowledge_incident', incidentId);
  await w.advance({ seconds: 8 });
  expect((await ask('unacknowledge_incident', incidentId)).body.result).toMatchObject({
    status: 'triggered',
    acknowledgedAt: null,
    acknowledgedBy: null,
    escalation: { state: 'running', nextStep: 1 },
  });
  await w.advance({ minutes: 1 });
  expect([smsTo(w, anna).length, smsTo(w, bram).length]).toEqual([1, 1]);
  await ask('resolve_incident', incidentId);
  const refused = await ask('unacknowledge_incident', incidentId);
  expect([refused.status, refused.body.detail]).toEqual([
    409,
    'this incident is resolved; reopen it if it is not over',
  ]);
});

test('a page that an answer cancelled before it left is sent when the answer is undone', async () => {
  const { bram, incidentId } = await answeredAtTheConsole();
  await w.advance({ minutes: 14 });
  const queued = `update notifications set status = 'cancelled', reason = 'resolved' where user_id = $1`;
  await w.advance({ minutes: 1 });
  await ask('resolve_incident', incidentId);
  // Puts the job back as if the worker had not come to it.
  await w.context.db.sql.run(queued, [bram.userId]);
  const before = smsTo(w, bram).length;
  await ask('reopen_incident', incidentId);
  expect(await timelineTexts(w, incidentId)).toContain(
    'Reopened by Cleo by the console; escalation goes on and 1 cancelled message is sent.',
  );
  await w.runUntilIdle();
  expect(smsTo(w, bram).length).toBe(before + 1);
});

test('an incident whose cause has opened another stays resolved; a condition that is false counts from the reopening', async () => {
  const { alert, incidentId } = await answeredAtTheConsole();
  const measure = (value: number) =>
    runStorePoints(w.runtime, alert.serviceId, [{ name: 'latency', at: w.clock.now(), value }]);
  await ask('resolve_incident', incidentId);
  await measure(250);
  w.clock.advance({ seconds: 1 });
  await w.evaluate();
  const refused = await ask('reopen_incident', incidentId);
  expect([refused.status, refused.body.detail]).toEqual([
    409,
    'its cause has opened a new incident meanwhile; take care of that one',
  ]);
  expect((await read(w, incidentId)).status).toBe('resolved');

  const { incidents } = await w.expectOk('list_incidents', { serviceId: alert.serviceId, status: 'triggered' });
  const next = incidents[0].incidentId;
  const expectNoPagesFor = async (minutes: number): Promise<void> => {
    w.clock.advance({ minutes });
    await measure(5);
    await w.evaluate();
  };
  await expectNoPagesFor(1);
  await expectNoPagesFor(4);
  expect((await read(w, next)).status).toBe('triggered');
  await ask('resolve_incident', next);
  await ask('reopen_incident', next);
  await expectNoPagesFor(1);
  await expectNoPagesFor(3);
  expect((await read(w, next)).status).toBe('triggered');
  await expectNoPagesFor(3);
  expect(await read(w, next)).toMatchObject({ status: 'resolved', resolvedBy: { system: true } });
});

test('a breach during a reopening never leaves two open incidents of one rule', async () => {
  const { alert, incidentId } = await answeredAtTheConsole();
  for (let round = 0; round < 2; round += 1) {
    await ask('resolve_incident', incidentId);
    await runStorePoints(w.runtime, alert.serviceId, [{ name: 'latency', at: w.clock.now(), value: 250 }]);
    w.clock.advance({ seconds: 1 });
    const [answer] = await Promise.all([ask('reopen_incident', incidentId), w.evaluate()]);
    expect([200, 409]).toContain(answer.status);
    const { total, incidents } = await w.expectOk('list_incidents', {
      serviceId: alert.serviceId,
      status: 'triggered',
    });
    expect(total).toBe(1);
    await ask('resolve_incident', incidents[0].incidentId);
  }
});

test('an incident of a resolved or ignored exception group is not reopened before the group is', async () => {
  const { serviceId } = await w.given.service({ name: 'search' });
  await w.expectOk('create_alert_rule', { serviceId, name: 'New', kind: 'exception', config: {} });
  await runGroupExceptions(w.runtime, { orgId: w.orgId, serviceId }, [
    exceptionEvent(w.clock.now(), { exceptions: [], message: 'boom' }),
  ]);
  const { incidents } = await w.expectOk('list_incidents', { serviceId });
  const { incidentId, exceptionGroupId: groupId } = incidents[0];
  await w.expectOk('set_exception_status', { groupId, status: 'ignored' });
  const refused = await ask('reopen_incident', incidentId);
  expect([refused.status, refused.body.detail]).toEqual([
    409,
    'its exception group is ignored; set the group to unresolved first',
  ]);
  await w.expectOk('set_exception_status', { groupId, status: 'unresolved' });
  expect((await ask('reopen_incident', incidentId)).body.result.status).toBe('triggered');
  await w.expectOk('set_exception_status', { groupId, status: 'resolved' });
  expect((await read(w, incidentId)).status).toBe('resolved');
});
