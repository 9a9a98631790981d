import { expect, test } from 'vitest';

import { acknowledgeIncident, unacknowledgeIncident } from '#modules/incidents/operations/acknowledge_incident.ts';
import { reopenIncident, resolveIncident } from '#modules/incidents/operations/resolve_incident.ts';
import { hashPassword } from '#auth/passwords.ts';
import { storesOf } from '#modules/stores.ts';
import { altered } from '#test/auth/altered.ts';
import { memberCaller, runOperation } from '#test/kit/run_operation.ts';
import { type StaffedWorld, staffedWorld } from '#test/kit/staffed_world.ts';

/** Anna is paged by SMS. */
async function annaGetsAnSms(title?: string) {
  const w = await staffedWorld();
  const [teamId, anna] = await w.staff.teamOf('Anna');
  const alert = await w.staff.alert(teamId, [{ afterMinutes: 0, channels: ['sms'], targetUserIds: [anna.userId] }]);
  const incidentId = await alert.trigger(title);
  await w.runUntilIdle();
  const body = w.phone.messages[0]?.body ?? '';
  const url = /http:\/\/tocsin\.test(\/a\/\S+)$/.exec(body)?.[1] ?? '';
  const status = async () => (await w.expectOk('get_incident', { incidentId })).status;
  return { w, anna, alert, incidentId, body, url, status };
}

const shownTime = (w: StaffedWorld): string =>
  `${w.clock.now().toString().slice(0, 16).replaceAll('-', '\u2011').replace('T', '\u00A0')}\u00A0UTC`;

const open = async (w: StaffedWorld, url: string, method: 'GET' | 'POST' = 'GET') => {
  const { statusCode, body, headers } = await w.app.inject({ method, url });
  return { status: statusCode, body, headers };
};

test('the link of an SMS is shorter than that of the incident, and has nothing that a phone cuts off', async () => {
  const { body, url, incidentId } = await annaGetsAnSms();
  expect(url).toMatch(/^\/a\/[0-9a-z]{42}$/);
  expect(url.length).toBeLessThan(`/incidents/${incidentId}`.length);
  expect(body.length).toBeLessThanOrEqual(160);
});

test('two taps acknowledge without signing in: the link shows the incident, the button answers it', async () => {
  const { w, anna, incidentId, url, status } = await annaGetsAnSms('Checkout <is> slow');
  const page = await open(w, url);
  expect(page).toMatchObject({
    status: 200,
    body: expect.stringContaining('<h1>checkout: Checkout &lt;is&gt; slow</h1>'),
  });
  expect(page.body).toContain('<button>Acknowledge</button>');
  expect(page.body).not.toMatch(/<script|<link|src=/);
  const bytes = Buffer.byteLength(page.body) + Buffer.byteLength(JSON.stringify(page.headers));
  console.log(`the page that acknowledges has ${Buffer.byteLength(page.body)} bytes, ${bytes} with its headers`);
  expect(bytes).toBeLessThan(60_000);
  expect(await status(), 'opening the link changes nothing').toBe('triggered');

  expect(await open(w, url, 'POST')).toMatchObject({ status: 200, body: expect.stringContaining('Acknowledged.') });
  const incident = await w.expectOk('get_incident', { incidentId });
  expect(incident).toMatchObject({
    status: 'acknowledged',
    acknowledgedBy: { userId: anna.userId, via: 'sms', byLink: true },
    escalation: { state: 'paused' },
  });
  expect(String(incident.timeline.map((entry: { text: string }) => entry.text))).toContain(
    'Acknowledged by Anna by the link of an SMS; escalation is paused.',
  );
  expect((await open(w, url)).body).toContain('nothing left to do');
  expect((await open(w, url, 'POST')).status, 'once more is harmless').toBe(200);
});

test('a link that is used a second time says who answered and when, and acknowledges nothing that was opened again', async () => {
  const { w, incidentId, url, status } = await annaGetsAnSms();
  const { userId } = await w.given.user({ role: 'responder', name: 'Cleo' });
  const cleo = memberCaller(w.orgId, userId, 'responder');
  w.clock.advance({ minutes: 5 });
  const acknowledgedAt = shownTime(w);
  expect((await open(w, url, 'POST')).status).toBe(200);
  w.clock.advance({ hours: 1 });
  const description = `Acknowledged by Anna by the link of an SMS, ${acknowledgedAt}.`;
  for (const method of ['GET', 'POST'] as const) expect((await open(w, url, method)).body).toContain(description);

  await runOperation(w, resolveIncident, cleo, { incidentId });
  for (const method of ['GET', 'POST'] as const) {
    expect((await open(w, url, method)).body).toContain(`Resolved by Cleo by the console, ${shownTime(w)}.`);
  }

  w.clock.advance({ hours: 1 });
  await runOperation(w, reopenIncident, cleo, { incidentId });
  await runOperation(w, unacknowledgeIncident, cleo, { incidentId });
  await w.runUntilIdle();
  for (const method of ['GET', 'POST'] as const) {
    const page = await open(w, url, method);
    expect(page.body).toContain(`You acknowledged this incident, ${acknowledgedAt}. It was opened again since then.`);
    expect(page.body).not.toContain('<button>');
  }
  expect(await status(), 'it still waits for an answer').toBe('triggered');
});

test('a page that had not left when its person answered can be answered by its link once it is sent', async () => {
  const { w, alert, anna, incidentId: first } = await annaGetsAnSms();
  await w.expectOk('resolve_incident', { incidentId: first });
  const atConsole = memberCaller(w.orgId, anna.userId, 'responder');
  let incidentId = '';
  for (const [number] of Array.from({ length: 3 }).entries()) {
    if (number > 0) await w.expectOk('resolve_incident', { incidentId });
    incidentId = await alert.trigger(`the page number ${number + 2}`);
    await w.runUntilIdle();
  }
  expect(String(w.phone.messages.map((message) => message.body)), 'the fourth waits').not.toContain('number 4');
  w.clock.advance({ seconds: 1 });
  await runOperation(w, acknowledgeIncident, atConsole, { incidentId });
  w.clock.advance({ seconds: 1 });
  await runOperation(w, unacknowledgeIncident, atConsole, { incidentId });
  await w.advance({ minutes: 2 });
  const { body = '' } = w.phone.messages.find((message) => message.body.includes('number 4')) ?? {};
  expect(body).toContain('number 4');
  const url = /(\/a\/\S+)$/.exec(body)?.[1] ?? '';
  expect(await open(w, url, 'POST')).toMatchObject({ status: 200, body: expect.stringContaining('Acknowledged.') });
  expect((await w.expectOk('get_incident', { incidentId })).status).toBe('acknowledged');
});

test('the link acknowledges only its own incident, and never resolves one', async () => {
  const { w, alert, incidentId, url, status } = await annaGetsAnSms();
  await w.expectOk('resolve_incident', { incidentId });
  await alert.trigger();
  await w.runUntilIdle();
  expect(await open(w, url, 'POST')).toMatchObject({ status: 409, body: expect.stringContaining('resolved already') });
  expect(await status()).toBe('resolved');
  expect((await w.expectOk('list_incidents', { status: 'triggered' })).total).toBe(1);
});

test('somebody who has set a PIN for replies needs it for the link, too', async () => {
  const { w, anna, url, status } = await annaGetsAnSms();
  await w.context.db.sql.run('insert into reply_pins (user_id, pin_hash) values ($1, $2)', [
    anna.userId,
    await hashPassword('0815'),
  ]);
  expect((await open(w, url)).body).toContain('Your PIN for replies');
  const enter = (pin: string) =>
    w.app.inject({
      method: 'POST',
      url,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      payload: pin === '' ? '' : `pin=${pin}`,
    });
  for (const [pin, says] of [
    ['', 'Enter the PIN'],
    ['4711', 'wrong'],
  ] as const) {
    const { statusCode, body } = await enter(pin);
    expect([statusCode, body]).toEqual([403, expect.stringContaining(says)]);
  }
  expect(await status()).toBe('triggered');
  expect((await enter('0815')).statusCode).toBe(200);
  expect(await status()).toBe('acknowledged');
});

test('a link that was altered, is too old, or belongs to somebody who has left is refused, and it is audited', async () => {
  const { w, anna, url, status } = await annaGetsAnSms();
  const links = [url.slice(0, -1), `${url}0`, altered(url), url.toUpperCase(), '/a/..%2f..%2fincidents'];
  for (const wrong of links) {
    for (const method of ['GET', 'POST'] as const) {
      const answer = await open(w, wrong.replace(/^\/A\//, '/a/'), method);
      expect(answer).toMatchObject({ status: 403, body: expect.stringContaining('not valid') });
    }
  }
  const audited = await w.context.db.sql.rows(
    `select actor, via, after from audit_log where action = 'acknowledge_incident' and result = 'forbidden'`,
  );
  expect(audited[0]).toMatchObject({ actor: { kind: 'unknown' }, via: 'sms', after: { why: 'forged link' } });
  w.clock.advance({ hours: 7 * 24 - 1 });
  expect((await open(w, url)).status).toBe(200);
  await storesOf(w.context.db.session()).people.removeMembership(w.orgId, anna.userId);
  expect((await open(w, url, 'POST')).status).toBe(403);
  w.clock.advance({ hours: 1 });
  expect(await open(w, url, 'POST')).toMatchObject({ status: 403, body: expect.stringContaining('expired') });
  expect(await status()).toBe('triggered');
});
