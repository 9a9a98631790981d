import { expect, test } from 'vitest';

import { simulatedIdsOf } from '#notify/twilio/simulated_account.ts';
import { getTestNotification, sendTestNotification } from '#modules/contacts/operations/test_notification.ts';
import type { Channel } from '#modules/contacts/decide/channel.ts';
import { spokenText } from '@tocsin/phone-simulator';
import { storesOf } from '#modules/stores.ts';
import { startMailServer } from '#test/kit/programs/mail_server.ts';
import { startPushService } from '#test/kit/programs/push_service.ts';
import { memberCaller, runOperation } from '#test/kit/run_operation.ts';
import { type Responder, type StaffedWorld, staffedWorld } from '#test/kit/staffed_world.ts';
import { pruneNotifications } from '#workers/pruning.ts';

async function annaWantsToKnow() {
  const post = await startMailServer();
  const w = await staffedWorld({ settings: { smtpUrl: post.url, mailFrom: 'tocsin@example.com' } });
  const [teamId, anna] = await w.staff.teamOf('Anna');
  return { w, post, teamId, anna, test: testerFor(w, anna), fate: fateFor(w, anna) };
}

const callerOf = (w: StaffedWorld, { userId }: Pick<Responder, 'userId'>) => memberCaller(w.orgId, userId, 'viewer');

/** Asks for a test, lets it happen, and tells what became of it. */
function testerFor(w: StaffedWorld, person: Pick<Responder, 'userId'>) {
  return async (channel: Channel) => {
    const { testNotifications } = await runOperation(w, sendTestNotification, callerOf(w, person), { channel });
    await w.runUntilIdle();
    return await Promise.all(
      testNotifications.map(({ notificationId }: { notificationId: string }) => fateFor(w, person)(notificationId)),
    );
  };
}

function fateFor(w: StaffedWorld, person: Pick<Responder, 'userId'>) {
  return (notificationId: string) => runOperation(w, getTestNotification, callerOf(w, person), { notificationId });
}

test('a test by SMS arrives at the person’s phone, and nothing else happens', async () => {
  const { w, anna, test } = await annaWantsToKnow();
  expect(await test('sms')).toMatchObject([
    { channel: 'sms', status: 'delivered', to: expect.stringMatching(/^\+31•/) },
  ]);
  expect(w.phone.messages).toMatchObject([{ to: anna.phone, body: expect.stringContaining('this is a test') }]);
  expect((await w.expectOk('list_incidents')).total).toBe(0);
});

test('a test that went to the phone simulator says that it reached nobody', async () => {
  const { w, test, fate } = await annaWantsToKnow();
  const [sent] = await test('sms');
  expect(sent).toMatchObject({ isSimulated: false });
  const simulated = simulatedIdsOf(w.context.config.appSecret ?? '')
    .replace('__', 'SM')
    .replace('%', '0'.repeat(20));
  await w.context.db.sql.run('update notifications set provider_id = $1', [simulated]);
  expect(await fate(sent!.notificationId)).toMatchObject({ isSimulated: true, simulatorUrl: null });
});

test('an owner is led to a simulated test, unless the simulator shows messages of other organizations, too', async () => {
  const simulatorUrl = 'http://127.0.0.1:7001/token/';
  const { w, anna, test } = await annaWantsToKnow();
  const [sent] = await test('sms');
  const installation = { ...w.context.actions.installation, simulatedIds: '%', simulatorUrl };
  const context = { ...w.context, actions: { ...w.context.actions, installation } };
  const notificationId = sent!.notificationId;
  const urlFor = async () => {
    const caller = memberCaller(w.orgId, anna.userId, 'viewer');
    return (await runOperation({ ...w, context }, getTestNotification, caller, { notificationId })).simulatorUrl;
  };
  expect(await urlFor()).toBeNull();
  await w.context.db.sql.run("update memberships set role = 'owner' where user_id = $1", [anna.userId]);
  expect(await urlFor()).toBe(`${simulatorUrl}?number=${encodeURIComponent(anna.phone)}`);
  await w.given.organization();
  expect(await urlFor()).toBeNull();
});

test('a test call says that it is one and asks for a key; voicemail fails it', async () => {
  const { w, test, fate } = await annaWantsToKnow();
  const [first] = await test('call');
  await w.phone.answer(w.phone.calls[0]!, 'human');
  await w.runUntilIdle();
  expect(spokenText(w.phone.calls[0]!)).toBe(
    'This is Tocsin. This is a test call. Press 1 to confirm that you hear it.',
  );
  await w.phone.press(w.phone.calls[0]!, '1');
  expect(spokenText(w.phone.calls[0]!)).toContain('Calls reach you.');
  expect(await fate(first!.notificationId)).toMatchObject({ status: 'delivered' });
  const [second] = await test('call');
  await w.phone.answer(w.phone.calls[1]!, 'machine');
  await w.phone.hangUp(w.phone.calls[1]!);
  await w.runUntilIdle();
  expect(await fate(second!.notificationId)).toMatchObject({ status: 'failed', reason: 'answering_machine' });
});

test('a test by mail goes to the address of the account', async () => {
  const { post, anna, test } = await annaWantsToKnow();
  expect(await test('email')).toMatchObject([{ status: 'sent' }]);
  expect(post.mails).toMatchObject([{ recipients: [anna.email], subject: '[Tocsin] Test message' }]);
});

test('a test by push goes to every browser of the person', async () => {
  const { w, anna, test } = await annaWantsToKnow();
  const service = await startPushService();
  const { endpoint, keys } = service.browser('phone', w.context.vapidKeys.publicKey).subscription;
  const browser = { endpoint, ...keys, label: 'phone' };
  await storesOf(w.context.db.session()).pushSubscriptions.put(anna.userId, browser, w.clock.now());
  expect(await test('push')).toMatchObject([{ channel: 'push', to: null, status: 'sent' }]);
  expect(service.pushed).toMatchObject([{ payload: { title: 'Push from Tocsin reaches you.' } }]);
});

test('a test that fails says why, and is tried again like a page when it may yet succeed', async () => {
  const { w, anna, test, fate } = await annaWantsToKnow();
  w.phone.addFault({ kind: 'http_error', status: 503, number: anna.phone, times: 1 });
  const [first] = await test('sms');
  expect(first).toMatchObject({ status: 'queued', reason: 'provider_fault' });
  await w.advance({ seconds: 2 });
  expect(await fate(first!.notificationId)).toMatchObject({ status: 'delivered', reason: null });
  await w.phone.reply({ from: anna.phone, body: 'STOP' });
  expect(await test('sms')).toMatchObject([{ status: 'failed', reason: 'unsubscribed' }]);
});

test('a test without an address fails at once', async () => {
  const { w, test } = await annaWantsToKnow();
  await expect(test('push')).rejects.toMatchObject({ code: 'conflict', message: 'you have not subscribed a browser' });
  const loner = await w.given.user({ name: 'Loner' });
  await expect(testerFor(w, loner)('sms')).rejects.toMatchObject({ code: 'conflict' });
  const bare = await staffedWorld();
  const cleo = await bare.staff.responder(await bare.staff.team(), 'Cleo');
  await expect(testerFor(bare, cleo)('email')).rejects.toMatchObject({ message: 'email is not set up on this server' });
});

test('a person can send three tests a minute', async () => {
  const { w, test } = await annaWantsToKnow();
  for (let time = 0; time < 3; time += 1) await test('sms');
  await expect(test('sms')).rejects.toMatchObject({ code: 'rate_limited', retryAfterSeconds: 60 });
  w.clock.advance({ minutes: 1 });
  await test('sms');
  expect(w.phone.messages).toHaveLength(4);
});

test('a clock that is set back by an hour does not block tests for that hour', async () => {
  const { w, test } = await annaWantsToKnow();
  for (let time = 0; time < 3; time += 1) await test('sms');
  w.clock.advance({ hours: -1 });
  await test('sms');
  expect(w.phone.messages).toHaveLength(4);
});

test('tests do not delay pages: they do not count towards the limit', async () => {
  const { w, teamId, anna, test } = await annaWantsToKnow();
  for (let time = 0; time < 3; time += 1) await test('sms');
  const alert = await w.staff.alert(teamId, [{ afterMinutes: 0, channels: ['sms'], targetUserIds: [anna.userId] }]);
  await alert.trigger();
  await w.runUntilIdle();
  expect(w.phone.messages.at(-1)?.body).toMatch(/^checkout: latency/);
});

test('only the person who asked for a test sees its result', async () => {
  const { w, test } = await annaWantsToKnow();
  const [sent] = await test('sms');
  const others = fateFor(w, await w.given.user({ name: 'Bram' }));
  await expect(others(sent!.notificationId)).rejects.toMatchObject({ code: 'not_found' });
});

test('tests and digests are removed after 400 days', async () => {
  const { w, test, fate } = await annaWantsToKnow();
  const [sent] = await test('sms');
  w.clock.advance({ hours: 399 * 24 });
  await pruneNotifications(w.runtime);
  expect(await fate(sent!.notificationId)).toMatchObject({ status: 'delivered' });
  w.clock.advance({ hours: 25 });
  await pruneNotifications(w.runtime);
  await expect(fate(sent!.notificationId)).rejects.toMatchObject({ code: 'not_found' });
});
