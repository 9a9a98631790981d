import twilio from 'twilio';
import { describe, expect, test } from 'vitest';

import { getMe } from '#modules/accounts/operations/me.ts';
import { sendTestNotification } from '#modules/contacts/operations/test_notification.ts';
import type { Id } from '#kernel/ids.ts';
import type { Fault } from '@tocsin/phone-simulator';
import { searchIncidents } from '#modules/incidents/operations/search_incidents.ts';
import { simulatedIdsOf } from '#notify/twilio/simulated_account.ts';
import { memberCaller, runOperation } from '#test/kit/run_operation.ts';
import { type StaffedWorld, staffedWorld } from '#test/kit/staffed_world.ts';

const BASE_URL = 'http://tocsin.test';

async function annaIsPaged(channel: 'sms' | 'call', fault?: (phone: string) => Fault) {
  const w = await staffedWorld();
  const [teamId, anna] = await w.staff.teamOf('Anna');
  const alert = await w.staff.alert(teamId, [{ afterMinutes: 0, channels: [channel], targetUserIds: [anna.userId] }]);
  if (fault !== undefined) w.phone.addFault(fault(anna.phone));
  const incidentId = await alert.trigger();
  await w.runUntilIdle();
  const incident = () => w.expectOk('get_incident', { incidentId });
  return { w, anna, incident, entry: async () => (await incident()).notifications[0] };
}

/** Posts as Twilio does, signed. */
async function post(w: StaffedWorld, path: string, fields: Record<string, string>): Promise<void> {
  const signature = twilio.getExpectedTwilioSignature(w.context.config.twilioAuthToken ?? '', BASE_URL + path, fields);
  const headers = { 'content-type': 'application/x-www-form-urlencoded', 'x-twilio-signature': signature };
  const payload = new URLSearchParams(fields).toString();
  const { statusCode } = await w.app.inject({ method: 'POST', url: path, headers, payload });
  expect(statusCode).toBe(200);
}

describe('whether the person would be woken', () => {
  const readinessOf = async (w: StaffedWorld, { userId }: { readonly userId: Id<'user'> }) =>
    (await runOperation(w, getMe, memberCaller(w.orgId, userId, 'viewer'), {})).teams[0].readiness;
  const smsOf = ({ channels }: { channels: { channel: string; state: string }[] }) =>
    channels.find(({ channel }) => channel === 'sms');

  test('follows STOP and START, sent or told by the provider', async () => {
    const { w, anna, entry } = await annaIsPaged('sms');
    const stopped = { state: 'stopped' };
    await w.phone.reply({ from: anna.phone, body: 'Stop' });
    const afterStop = await readinessOf(w, anna);
    expect(smsOf(afterStop)).toMatchObject(stopped);
    expect(afterStop.reasons).toContain('sms_stopped');
    await w.phone.reply({ from: anna.phone, body: 'START' });
    expect(smsOf(await readinessOf(w, anna))).toMatchObject({ state: 'ready' });

    w.phone.addFault({ kind: 'undelivered', errorCode: 21610, number: anna.phone });
    w.clock.advance({ minutes: 5 });
    await runOperation(w, sendTestNotification, memberCaller(w.orgId, anna.userId, 'viewer'), { channel: 'sms' });
    await w.runUntilIdle();
    expect(smsOf(await readinessOf(w, anna))).toMatchObject(stopped);
    // A report of an earlier message that comes late changes nothing.
    const { notificationId, providerId } = await entry();
    const arrived = { MessageSid: providerId, MessageStatus: 'delivered' };
    await post(w, `/api/callbacks/twilio/sms-status/${notificationId}`, arrived);
    expect(smsOf(await readinessOf(w, anna))).toMatchObject(stopped);
    await w.phone.reply({ from: anna.phone, body: 'yes' });
    expect(smsOf(await readinessOf(w, anna))).toMatchObject({ state: 'ready' });
  });

  test('is not shown by a call in which no key was pressed, and is by one in which one was', async () => {
    const { w, anna } = await annaIsPaged('call');
    const [call] = w.phone.calls;
    await w.phone.answer(call!, 'human');
    await w.runUntilIdle();
    expect((await readinessOf(w, anna)).answer).toBe('unproved');
    await w.phone.press(call!, '3');
    expect((await readinessOf(w, anna)).answer).toBe('yes');
  });

  test('is shown by a reply to an SMS whose arrival nobody reported', async () => {
    const { w, anna, incident } = await annaIsPaged('sms', (number) => ({ kind: 'callback_lost', number }));
    expect((await readinessOf(w, anna)).answer).toBe('unproved');
    const reply = { MessageSid: 'SM1', From: anna.phone, Body: `ack ${(await incident()).number}` };
    await post(w, '/api/callbacks/twilio/sms', reply);
    expect((await readinessOf(w, anna)).answer).toBe('yes');
  });
});

test('an incident says which messages went to the phone simulator, also once a provider is set up', async () => {
  const { w, entry } = await annaIsPaged('sms');
  expect(await entry()).toMatchObject({ status: 'delivered', isSimulated: false });
  const simulated = simulatedIdsOf(w.context.config.appSecret ?? '')
    .replace('__', 'SM')
    .replace('%', '0'.repeat(20));
  await w.context.db.sql.run('update notifications set provider_id = $1', [simulated]);
  expect(await entry()).toMatchObject({ status: 'delivered', isSimulated: true });
  const listed = await runOperation(w, searchIncidents, memberCaller(w.orgId, w.owner.userId, 'owner'), {});
  expect(listed.incidents).toMatchObject([{ reached: { outcome: 'simulated' } }]);
  const { escalation, timeline } = await w.expectOk('get_incident', { incidentId: listed.incidents[0].incidentId });
  expect(escalation.steps[0].people).toMatchObject([{ status: 'delivered', isSimulated: true }]);
  const delivered = timeline.find(({ event }: { event: string }) => event === 'page_delivered');
  expect(delivered.text).toContain('the phone simulator: nobody was reached');
});
