import { expect, test } from 'vitest';

import { spokenText } from '@tocsin/phone-simulator';
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

test('the second responder is called when the first stays silent for 15 minutes', async () => {
  const w = await staffedWorld();
  const { anna, bram, alert } = await annaThenBram(w);
  const incidentId = await alert.trigger();
  await w.runUntilIdle();
  expect(w.phone.messages).toMatchObject([{ to: anna.phone, status: 'delivered' }]);
  expect(w.phone.messages[0]?.body).toMatch(/^checkout: latency is 250 .*\nReply ACK \d+ http:\/\/tocsin\.test\/a\//);
  await w.advance({ minutes: 14, seconds: 59 });
  expect(w.phone.calls).toEqual([]);
  await w.advance({ seconds: 1 });
  expect(w.phone.calls).toMatchObject([{ to: bram.phone, status: 'ringing' }]);
  expect(statuses(await w.expectOk('get_incident', { incidentId }))).toEqual(['sms delivered', 'call sent']);
});

test('an acknowledged incident never pages again', async () => {
  const w = await staffedWorld();
  const { anna, alert } = await annaThenBram(w);
  const incidentId = await alert.trigger();
  await w.runUntilIdle();
  const acknowledged = await w.expectOk('acknowledge_incident', { incidentId }, { key: anna.key });
  expect(acknowledged).toMatchObject({
    status: 'acknowledged',
    acknowledgedBy: { userId: anna.userId, apiKeyName: 'test', via: 'rest' },
    escalation: { state: 'paused', nextStep: null, nextStepAt: null },
  });
  await w.advance({ hours: 24 });
  expect(w.phone.calls).toEqual([]);
  expect(w.phone.messages).toHaveLength(1);

  // Nor when a timer was not stopped, as one that fires at the same moment may be.
  await w.context.db.sql.run(
    `update incident_steps set state = 'pending', settled_at = null where state = 'cancelled'`,
  );
  await w.advance({ minutes: 1 });
  expect(statuses(await w.expectOk('get_incident', { incidentId }))).toEqual(['sms delivered']);
});

test('a reply by SMS acknowledges, and says so in the log', async () => {
  const w = await staffedWorld();
  const { anna, alert } = await annaThenBram(w);
  const incidentId = await alert.trigger();
  await w.runUntilIdle();
  const { number } = await w.expectOk('get_incident', { incidentId });
  await w.phone.reply({ from: anna.phone, body: ` ack ${number}.` });
  const incident = await w.expectOk('get_incident', { incidentId });
  expect(incident.acknowledgedBy).toEqual({ userId: anna.userId, via: 'sms' });
  expect(incident.timeline.at(-1).text).toBe('Acknowledged by Anna by SMS; escalation is paused.');
});

test('a number of nobody in the organization gets no information and changes nothing', async () => {
  const w = await staffedWorld();
  const { alert } = await annaThenBram(w);
  const incidentId = await alert.trigger();
  await w.runUntilIdle();
  const { number } = await w.expectOk('get_incident', { incidentId });
  const before = w.phone.messages.length;
  await w.phone.reply({ from: '+4915112345678', body: `RES ${number}` });
  await w.runUntilIdle();
  expect(w.phone.messages.filter(({ direction }) => direction !== 'inbound')).toHaveLength(before);
  expect((await w.expectOk('get_incident', { incidentId })).status).toBe('triggered');
});

test('pressing 2 resolves the incident, and everyone who got an SMS gets the news', async () => {
  const w = await staffedWorld();
  const { anna, bram, alert } = await annaThenBram(w);
  await w.staff.confirm(bram);
  const incidentId = await alert.trigger();
  await w.advance({ minutes: 15 });
  const [call] = w.phone.calls;
  await w.phone.answer(call!, 'human');
  await w.phone.press(call!, '2');
  await w.runUntilIdle();
  expect(await w.expectOk('get_incident', { incidentId })).toMatchObject({
    status: 'resolved',
    resolvedBy: { userId: bram.userId, via: 'call' },
  });
  expect(w.phone.messages.map(({ to, body }) => [to, body.includes('is resolved')])).toEqual([
    [anna.phone, false],
    [anna.phone, true],
  ]);
});

test('a call to a number that nobody has confirmed offers to acknowledge only, and pressing 2 resolves nothing', async () => {
  const w = await staffedWorld();
  const { bram, alert } = await annaThenBram(w);
  const incidentId = await alert.trigger();
  await w.advance({ minutes: 15 });
  const [call] = w.phone.calls;
  await w.phone.answer(call!, 'human');
  expect(spokenText(w.phone.calls[0]!)).toMatch(/Press 1 to acknowledge\. Press 3 to hear this again\.$/);
  await w.phone.press(call!, '2');
  expect(spokenText(w.phone.calls[0]!)).toContain('This number is not confirmed');
  expect(await w.expectOk('get_incident', { incidentId })).toMatchObject({ status: 'triggered' });
  const done = await w.context.db.sql.rows(`select action from audit_log where actor->>'userId' = $1`, [bram.userId]);
  expect(done).toEqual([]);
});

test('an answering machine does not count as reached: the next step fires at once', async () => {
  const w = await staffedWorld();
  const [teamId, anna, bram] = await w.staff.teamOf('Anna', 'Bram');
  const alert = await w.staff.alert(teamId, [
    { afterMinutes: 0, channels: ['call'], targetUserIds: [anna.userId] },
    { afterMinutes: 60, channels: ['sms'], targetUserIds: [bram.userId] },
  ]);
  const incidentId = await alert.trigger();
  await w.runUntilIdle();
  await w.phone.answer(w.phone.calls[0]!, 'machine');
  await w.phone.hangUp(w.phone.calls[0]!);
  await w.runUntilIdle();
  expect(w.phone.messages).toMatchObject([{ to: bram.phone }]);
  const { notifications, timeline } = await w.expectOk('get_incident', { incidentId });
  expect(notifications[0]).toMatchObject({ channel: 'call', status: 'failed', reason: 'answering_machine' });
  expect(timeline.map(({ text }: { text: string }) => text)).toContain(
    'Every channel of Anna has failed; the next step fires at once.',
  );
});

test('a step that reaches nobody is skipped with its reason and the next one fires at once', async () => {
  const w = await staffedWorld();
  const [teamId, bram] = await w.staff.teamOf('Bram');
  const alert = await w.staff.alert(teamId, [
    { afterMinutes: 0, channels: ['sms'], useSchedule: true },
    { afterMinutes: 30, channels: ['sms'], targetUserIds: [bram.userId] },
  ]);
  const incidentId = await alert.trigger();
  await w.runUntilIdle();
  expect(w.phone.messages).toMatchObject([{ to: bram.phone }]);
  const { timeline } = await w.expectOk('get_incident', { incidentId });
  expect(timeline.map(({ text }: { text: string }) => text)).toContain(
    'Step 1 reached nobody: nobody is on call; the next step fires at once.',
  );
});

test('a final rejection by the provider fails at once, and the log has our own reason', async () => {
  const w = await staffedWorld();
  const { anna, bram, alert } = await annaThenBram(w);
  await w.phone.reply({ from: anna.phone, body: 'STOP' });
  const incidentId = await alert.trigger();
  await w.runUntilIdle();
  const { notifications } = await w.expectOk('get_incident', { incidentId });
  expect(notifications[0]).toMatchObject({ status: 'failed', reason: 'unsubscribed', attempts: 1 });
  expect(w.phone.calls).toMatchObject([{ to: bram.phone }]);
});

test('a message that the provider accepted without answering is found again instead of sent twice', async () => {
  const w = await staffedWorld();
  const { anna, alert } = await annaThenBram(w);
  w.phone.addFault({ kind: 'drop', when: 'after', number: anna.phone, times: 1 });
  const incidentId = await alert.trigger();
  await w.runUntilIdle();
  await w.advance({ seconds: 40 });
  expect(w.phone.messages.filter(({ to }) => to === anna.phone)).toHaveLength(1);
  const { notifications } = await w.expectOk('get_incident', { incidentId });
  expect(notifications[0]).toMatchObject({ status: 'delivered' });
});

test('a call about one incident is never mistaken for the lost call about another', async () => {
  const w = await staffedWorld();
  const [teamId, anna] = await w.staff.teamOf('Anna');
  const byCall = [{ afterMinutes: 0, channels: ['call'], targetUserIds: [anna.userId] }] as const;
  const [first, second] = [await w.staff.alert(teamId, byCall), await w.staff.alert(teamId, byCall)];
  await first.trigger();
  await w.runUntilIdle();
  w.phone.addFault({ kind: 'drop', when: 'before', on: 'call', times: 1 });
  await second.trigger();
  await w.runUntilIdle();
  await w.advance({ seconds: 40 });
  expect(w.phone.calls).toHaveLength(2);
});

test('a report about a message whose sender died records its outcome', async () => {
  const w = await staffedWorld();
  const { anna, alert } = await annaThenBram(w);
  w.phone.addFault({ kind: 'drop', when: 'after', number: anna.phone, times: 1 });
  const incidentId = await alert.trigger();
  await w.runUntilIdle();
  const { notifications, timeline } = await w.expectOk('get_incident', { incidentId });
  expect(notifications).toMatchObject([{ status: 'delivered', providerId: w.phone.messages[0]?.sid, attempts: 1 }]);
  expect(timeline.map(({ text }: { text: string }) => text)).toContain('SMS to Anna sent.');
});

test('a person without any configured channel is skipped at once, even if others are paged', async () => {
  const w = await staffedWorld();
  const [teamId, anna, bram, cleo] = await w.staff.teamOf('Anna', 'Bram', 'Cleo');
  await w.expectOk('update_team_member', { memberId: anna.memberId, smsEnabled: false });
  const alert = await w.staff.alert(teamId, [
    { afterMinutes: 0, channels: ['sms', 'email'], targetUserIds: [anna.userId, bram.userId] },
    { afterMinutes: 60, channels: ['sms'], targetUserIds: [cleo.userId] },
  ]);
  const incidentId = await alert.trigger();
  await w.runUntilIdle();
  expect(w.phone.messages.map(({ to }) => to).toSorted()).toEqual([bram.phone, cleo.phone].toSorted());
  const { timeline } = await w.expectOk('get_incident', { incidentId });
  expect(timeline.map(({ text }: { text: string }) => text)).toContain(
    'Every channel of Anna has failed; the next step fires at once.',
  );
});

test('an overloaded provider is tried again until the message is sent', async () => {
  const w = await staffedWorld();
  const { anna, alert } = await annaThenBram(w);
  w.phone.addFault({ kind: 'http_error', status: 429, code: 20429, number: anna.phone, times: 2 });
  const incidentId = await alert.trigger();
  await w.runUntilIdle();
  await w.advance({ seconds: 5 });
  await w.advance({ seconds: 10 });
  const { notifications } = await w.expectOk('get_incident', { incidentId });
  expect(notifications[0]).toMatchObject({ status: 'delivered', attempts: 3 });
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

test('an unsigned call-back is refused', async () => {
  const w = await staffedWorld();
  const response = await w.app.inject({
    method: 'POST',
    url: '/api/callbacks/twilio/sms',
    headers: { 'content-type': 'application/x-www-form-urlencoded', 'x-twilio-signature': 'forged' },
    payload: 'From=%2B31600000000&Body=RES+1',
  });
  expect(response.statusCode).toBe(403);
});

test('an incident that a rule opens is in the audit log, with the system as its actor', async () => {
  const w = await staffedWorld();
  const { alert } = await annaThenBram(w);
  const incidentId = await alert.trigger();
  const rows = await w.context.db.sql.rows('select actor, via, action, result from audit_log where target = $1', [
    incidentId,
  ]);
  expect(rows).toEqual([{ actor: { kind: 'system' }, via: 'rule', action: 'open_incident', result: 'done' }]);
});
