import { expect, test } from 'vitest';

import { spokenText } from '@tocsin/phone-simulator';
import type { StepInput } from '#test/kit/given_rows.ts';
import { type StaffedWorld, staffedWorld } from '#test/kit/staffed_world.ts';

const AT_ONCE_BY_SMS = { afterMinutes: 0, channels: ['sms'] } as const;

async function annaThenBram(w: StaffedWorld) {
  const [teamId, anna, bram] = await w.staff.teamOf('Anna', 'Bram');
  const alert = await w.staff.alert(teamId, [
    { ...AT_ONCE_BY_SMS, targetUserIds: [anna.userId] },
    { afterMinutes: 15, channels: ['call'], targetUserIds: [bram.userId] },
  ]);
  return { anna, bram, alert };
}

const statuses = (incident: { notifications: { channel: string; status: string }[] }) =>
  incident.notifications.map(({ channel, status }) => `${channel} ${status}`);

const messagesTo = (w: StaffedWorld, { phone }: { phone: string }) => w.phone.messages.filter(({ to }) => to === phone);
const callsTo = (w: StaffedWorld, { phone }: { phone: string }) => w.phone.calls.filter(({ to }) => to === phone);

/** An incident that Anna gets at once by SMS, and Bram as a call after 15 minutes. */
async function paged(w: StaffedWorld) {
  const people = await annaThenBram(w);
  const incidentId = await people.alert.trigger();
  const incident = () => w.expectOk('get_incident', { incidentId });
  const story = async () => (await incident()).timeline.map(({ text }: { text: string }) => text) as string[];
  return { ...people, incidentId, incident, story };
}

test('the second responder is called when the first stays silent for 15 minutes, and never about what is acknowledged', async () => {
  const w = await staffedWorld();
  const [silent, acknowledged] = [await paged(w), await paged(w)];
  await w.runUntilIdle();
  expect(messagesTo(w, silent.anna)).toMatchObject([{ status: 'delivered' }]);
  expect(messagesTo(w, silent.anna)[0]?.body).toMatch(
    /^checkout: latency is 250 .*\nReply ACK \d+ http:\/\/tocsin\.test\/a\//,
  );
  const { incidentId } = acknowledged;
  const answer = await w.expectOk('acknowledge_incident', { incidentId }, { key: acknowledged.anna.key });
  expect(answer).toMatchObject({
    status: 'acknowledged',
    acknowledgedBy: { userId: acknowledged.anna.userId, apiKeyName: 'test', via: 'rest' },
    escalation: { state: 'paused', nextStep: null, nextStepAt: null },
  });
  await w.advance({ minutes: 14, seconds: 59 });
  expect(w.phone.calls).toEqual([]);
  await w.advance({ seconds: 1 });
  expect(w.phone.calls).toMatchObject([{ to: silent.bram.phone, status: 'ringing' }]);
  expect(statuses(await silent.incident())).toEqual(['sms delivered', 'call sent']);
  await w.advance({ hours: 24 });
  expect(callsTo(w, acknowledged.bram)).toEqual([]);
  expect(messagesTo(w, acknowledged.anna)).toHaveLength(1);

  // Nor when a timer was not stopped, as one that fires at the same moment may be.
  await w.context.db.sql.run(
    `update incident_steps set state = 'pending', settled_at = null where state = 'cancelled' and incident_id = $1`,
    [incidentId],
  );
  await w.advance({ minutes: 1 });
  expect(statuses(await acknowledged.incident())).toEqual(['sms delivered']);

  // A rule opened it, and the audit log says so.
  const rows = await w.context.db.sql.rows(
    `select actor, via, action, result from audit_log where target = $1 and action = 'open_incident'`,
    [silent.incidentId],
  );
  expect(rows).toEqual([{ actor: { kind: 'system' }, via: 'rule', action: 'open_incident', result: 'done' }]);
});

test('a reply by SMS acknowledges, and that of a number of nobody gets no information and changes nothing', async () => {
  const w = await staffedWorld();
  const { anna, incident, story } = await paged(w);
  await w.runUntilIdle();
  const { number } = await incident();
  const before = w.phone.messages.length;
  await w.phone.reply({ from: '+4915112345678', body: `RES ${number}` });
  await w.runUntilIdle();
  expect(w.phone.messages.filter(({ direction }) => direction !== 'inbound')).toHaveLength(before);
  expect((await incident()).status).toBe('triggered');
  await w.phone.reply({ from: anna.phone, body: ` ack ${number}.` });
  expect((await incident()).acknowledgedBy).toEqual({ userId: anna.userId, via: 'sms' });
  expect((await story()).at(-1)).toBe('Acknowledged by Anna by SMS; escalation is paused.');
  const forged = await w.app.inject({
    method: 'POST',
    url: '/api/callbacks/twilio/sms',
    headers: { 'content-type': 'application/x-www-form-urlencoded', 'x-twilio-signature': 'forged' },
    payload: 'From=%2B31600000000&Body=RES+1',
  });
  expect(forged.statusCode).toBe(403);
});

test('pressing 2 resolves the incident, and everyone who got an SMS gets the news; in a call to a number that nobody has confirmed it resolves nothing', async () => {
  const w = await staffedWorld();
  const [confirmed, unconfirmed] = [await paged(w), await paged(w)];
  await w.staff.confirm(confirmed.bram);
  await w.advance({ minutes: 15 });
  const [[first], [second]] = [callsTo(w, confirmed.bram), callsTo(w, unconfirmed.bram)];
  await w.phone.answer(first!, 'human');
  await w.phone.press(first!, '2');
  await w.phone.answer(second!, 'human');
  expect(spokenText(callsTo(w, unconfirmed.bram)[0]!)).toMatch(
    /Press 1 to acknowledge\. Press 3 to hear this again\.$/,
  );
  await w.phone.press(second!, '2');
  await w.runUntilIdle();
  expect(await confirmed.incident()).toMatchObject({
    status: 'resolved',
    resolvedBy: { userId: confirmed.bram.userId, via: 'call' },
  });
  expect(messagesTo(w, confirmed.anna).map(({ body }) => body.includes('is resolved'))).toEqual([false, true]);
  expect(messagesTo(w, confirmed.bram)).toEqual([]);
  expect(spokenText(callsTo(w, unconfirmed.bram)[0]!)).toContain('This number is not confirmed');
  expect(await unconfirmed.incident()).toMatchObject({ status: 'triggered' });
  const done = await w.context.db.sql.rows(`select action from audit_log where actor->>'userId' = $1`, [
    unconfirmed.bram.userId,
  ]);
  expect(done).toEqual([]);
});

test('whoever cannot be reached does not hold up the next step, and the log says why', async () => {
  const w = await staffedWorld();
  const teamId = await w.staff.team();
  const [anna, off, beside, cleo] = [
    await w.staff.responder(teamId, 'Anna'),
    await w.staff.responder(teamId, 'Olga'),
    await w.staff.responder(teamId, 'Bert'),
    await w.staff.responder(teamId, 'Cleo'),
  ];
  const next = { afterMinutes: 60, channels: ['sms'], targetUserIds: [cleo.userId] } as const;
  await w.expectOk('update_team_member', { memberId: off.memberId, smsEnabled: false });
  const triggered = async (step: StepInput) => {
    const incidentId = await (await w.staff.alert(teamId, [step, next])).trigger();
    return () => w.expectOk('get_incident', { incidentId });
  };
  const unsubscribed = await annaThenBram(w);
  await w.phone.reply({ from: unsubscribed.anna.phone, body: 'STOP' });
  const voicemail = await triggered({ afterMinutes: 0, channels: ['call'], targetUserIds: [anna.userId] });
  const nobody = await triggered({ afterMinutes: 0, channels: ['sms'], useSchedule: true });
  const channels = ['sms', 'email'] as const;
  const oneOff = await triggered({ afterMinutes: 0, channels, targetUserIds: [off.userId, beside.userId] });
  const stopped = await unsubscribed.alert.trigger();
  await w.runUntilIdle();
  const toCleo = () => messagesTo(w, cleo).length;
  expect([messagesTo(w, beside).length, toCleo()]).toEqual([1, 2]);
  const texts = (incident: { timeline: { text: string }[] }) => incident.timeline.map(({ text }) => text);
  expect(texts(await nobody())).toContain('Step 1 reached nobody: nobody is on call; the next step fires at once.');
  expect(texts(await oneOff())).toContain('Every channel of Olga has failed; the next step fires at once.');
  const { notifications } = await w.expectOk('get_incident', { incidentId: stopped });
  expect(notifications[0]).toMatchObject({ status: 'failed', reason: 'unsubscribed', attempts: 1 });
  expect(callsTo(w, unsubscribed.bram)).toHaveLength(1);

  const [call] = callsTo(w, anna);
  await w.phone.answer(call!, 'machine');
  await w.phone.hangUp(call!);
  await w.runUntilIdle();
  expect(toCleo()).toBe(3);
  const reached = await voicemail();
  expect(reached.notifications[0]).toMatchObject({ channel: 'call', status: 'failed', reason: 'answering_machine' });
  expect(texts(reached)).toContain('Every channel of Anna has failed; the next step fires at once.');
});

test('what the provider took without an answer is found again instead of sent twice; an overloaded one is asked again', async () => {
  const w = await staffedWorld();
  const [dropped, busy] = [await paged(w), await paged(w)];
  w.phone.addFault({ kind: 'drop', when: 'after', number: dropped.anna.phone, times: 1 });
  w.phone.addFault({ kind: 'http_error', status: 429, code: 20429, number: busy.anna.phone, times: 2 });
  const teamId = await w.staff.team();
  const cleo = await w.staff.responder(teamId, 'Cleo');
  const byCall = [{ afterMinutes: 0, channels: ['call'], targetUserIds: [cleo.userId] }] as const;
  const [first, second] = [await w.staff.alert(teamId, byCall), await w.staff.alert(teamId, byCall)];
  await first.trigger();
  await w.runUntilIdle();
  // The report about it records the outcome, though its sender died.
  const [message] = messagesTo(w, dropped.anna);
  expect((await dropped.incident()).notifications).toMatchObject([
    { status: 'delivered', providerId: message?.sid, attempts: 1 },
  ]);
  expect(await dropped.story()).toContain('SMS to Anna sent.');
  w.phone.addFault({ kind: 'drop', when: 'before', on: 'call', number: cleo.phone, times: 1 });
  await second.trigger();
  await w.runUntilIdle();
  await w.advance({ seconds: 5 });
  await w.advance({ seconds: 10 });
  expect((await busy.incident()).notifications[0]).toMatchObject({ status: 'delivered', attempts: 3 });
  await w.advance({ seconds: 25 });
  expect(messagesTo(w, dropped.anna)).toHaveLength(1);
  expect(callsTo(w, cleo), 'the lost call about another incident is not the first one').toHaveLength(2);
});

test('steps fire and messages leave even if no job ever runs', async () => {
  const w = await staffedWorld({ jobs: 'lost' });
  const { anna, bram, alert } = await annaThenBram(w);
  await alert.trigger();
  await w.advance({ seconds: 2 });
  await w.advance({ seconds: 2 });
  expect(w.phone.messages).toMatchObject([{ to: anna.phone }]);
  await w.advance({ minutes: 15 });
  await w.advance({ seconds: 2 });
  expect(w.phone.calls).toMatchObject([{ to: bram.phone }]);
});
