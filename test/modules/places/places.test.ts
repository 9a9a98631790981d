import { AsyncLocalStorage } from 'node:async_hooks';

import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { asId } from '#kernel/ids.ts';
import { addIncidentNote } from '#modules/incidents/operations/notes.ts';
import { announceChanges } from '#modules/places/announce.ts';
import { deliverTo } from '#modules/places/deliver.ts';
import { createPlace, deletePlace, listPlaces, updatePlace } from '#modules/places/operations/places.ts';
import { listPlaceDeliveries, redeliverToPlace, testPlace } from '#modules/places/operations/deliveries.ts';
import type { PlaceSender } from '#notify/places/place_sender.ts';
import { type MailServer, startMailServer } from '#test/kit/programs/mail_server.ts';
import { SLACK_CHANNEL, SLACK_SECRET, SLACK_TOKEN, type Slack, startSlack } from '#test/kit/programs/slack.ts';
import { startWebhookReceiver, type WebhookReceiver } from '#test/kit/programs/webhook_receiver.ts';
import { memberCaller, runOperation } from '#test/kit/run_operation.ts';
import { type StaffedWorld, staffedWorld } from '#test/kit/staffed_world.ts';
import { enforceRetention } from '#workers/enforce_retention.ts';
import { tellPlaces } from '#workers/tell_places.ts';

const ALL = [{ serviceId: null, teamId: null, atLeast: null }];
const STEPS = [
  { afterMinutes: 0, channels: ['sms'], useSchedule: false },
  { afterMinutes: 15, channels: ['sms'], useSchedule: false },
] as const;

let slack: Slack;
let receiver: WebhookReceiver;
let mails: MailServer;
let w: StaffedWorld;

beforeAll(async () => {
  slack = await startSlack(() => w.clock.now().epochMilliseconds);
  receiver = await startWebhookReceiver();
});

afterAll(async () => {
  await slack.close();
  await receiver.close();
});

beforeEach(async () => {
  slack.removeMessages();
  (receiver.received as unknown[]).splice(0);
  receiver.answer(200);
  mails = await startMailServer();
  const mail = { smtpUrl: mails.url, mailFrom: 'Pages <pages@shop.test>' };
  w = await staffedWorld({ settings: { slackApiBase: slack.url, ...mail } });
});

const asOwner = (operation: Parameters<typeof runOperation>[1], input: object) =>
  runOperation(w, operation, memberCaller(w.orgId, w.owner.userId, 'owner'), input);

async function makeSlack(routes: object[] = ALL) {
  const settings = { channel: SLACK_CHANNEL, token: SLACK_TOKEN, signingSecret: SLACK_SECRET };
  return (await asOwner(createPlace, { kind: 'slack', name: 'Operations', settings, routes })).place.placeId;
}

async function makeWebhook() {
  const made = await asOwner(createPlace, {
    kind: 'webhook',
    name: 'Hook',
    settings: { address: receiver.url },
    routes: ALL,
  });
  return { placeId: made.place.placeId as string, secret: made.signingSecret as string };
}

async function makeAlert() {
  const [teamId, anna] = await w.staff.teamOf('Anna');
  const steps = STEPS.map((step) => ({ ...step, channels: [...step.channels], targetUserIds: [anna.userId] }));
  return { teamId, anna, alert: await w.staff.alert(teamId, steps) };
}

const deliveriesOf = async (placeId: string) =>
  (await asOwner(listPlaceDeliveries, { placeId })).deliveries as {
    status: string;
    event: string;
    deliveryId: string;
  }[];

describe('a message in Slack', () => {
  test('is sent when an incident opens, and kept up to date until it is resolved', async () => {
    await makeSlack();
    const { anna, alert } = await makeAlert();
    const incidentId = await alert.trigger('<!channel> latency is 250');
    await w.runUntilIdle();
    expect(slack.messages).toHaveLength(1);
    expect(slack.messages[0]?.text).toContain('&lt;!channel&gt; latency is 250');
    const buttons = () =>
      slack.messages[0]?.blocks
        .find(({ type }) => type === 'actions')
        .elements.map((element: { action_id: string }) => element.action_id);
    expect(buttons()).toEqual(['acknowledge', 'resolve', 'escalate', 'open']);
    await w.expectOk('acknowledge_incident', { incidentId }, { key: anna.key });
    await w.runUntilIdle();
    expect(slack.messages[0]?.text).toContain('Acknowledged by Anna');
    expect(buttons()).toEqual(['resolve', 'open']);
    await w.expectOk('resolve_incident', { incidentId }, { key: anna.key });
    await w.runUntilIdle();
    expect(slack.messages).toMatchObject([{ text: expect.stringContaining('Resolved by Anna'), edits: 2 }]);
    expect(buttons()).toEqual(['open']);
  });

  test('has the newest state after an outage, in one message, however many states it missed', async () => {
    const placeId = await makeSlack();
    const { anna, alert } = await makeAlert();
    slack.answerNext({ status: 503 });
    const incidentId = await alert.trigger();
    await w.runUntilIdle();
    await w.expectOk('acknowledge_incident', { incidentId }, { key: anna.key });
    await w.expectOk('resolve_incident', { incidentId }, { key: anna.key });
    await w.runUntilIdle();
    expect(slack.messages).toEqual([]);
    await w.advance({ minutes: 1 });
    await w.advance({ minutes: 5 });
    expect(slack.messages).toMatchObject([{ text: expect.stringContaining('Resolved by Anna'), edits: 0 }]);
    expect((await deliveriesOf(placeId)).map(({ status }) => status).toSorted()).toEqual([
      'sent',
      'superseded',
      'superseded',
    ]);
  });

  test('waits for as long as Slack asks when it limits', async () => {
    await makeSlack();
    const { alert } = await makeAlert();
    slack.answerNext({ status: 429, retryAfter: '120' });
    await alert.trigger();
    await w.runUntilIdle();
    const calls = () => slack.calls.length;
    const before = calls();
    await w.advance({ seconds: 119 });
    expect(calls()).toBe(before);
    await w.advance({ seconds: 1 });
    expect(slack.messages).toHaveLength(1);
  });

  test('is sent anew when somebody has deleted it', async () => {
    await makeSlack();
    const { anna, alert } = await makeAlert();
    const incidentId = await alert.trigger();
    await w.runUntilIdle();
    slack.removeMessages();
    await w.expectOk('acknowledge_incident', { incidentId }, { key: anna.key });
    await w.runUntilIdle();
    expect(slack.messages).toMatchObject([{ text: expect.stringContaining('Acknowledged by Anna') }]);
  });

  test('is not sent for incidents that no route takes', async () => {
    await makeSlack([{ serviceId: null, teamId: null, atLeast: 'fatal' }]);
    const { alert } = await makeAlert();
    await alert.trigger();
    await w.runUntilIdle();
    expect(slack.messages).toEqual([]);
  });
});

test('a place that hangs delays no page', async () => {
  await makeSlack();
  const { anna, alert } = await makeAlert();
  const { arrived, release } = slack.hang();
  await alert.trigger();
  const telling = tellPlaces(w.runtime);
  await arrived;
  await w.runUntilIdle();
  expect(w.phone.messages).toMatchObject([{ to: anna.phone }]);
  release();
  await telling;
  expect(slack.messages).toHaveLength(1);
});

describe('a webhook', () => {
  test('is signed as Standard Webhooks say, and each event is one message', async () => {
    const { placeId, secret } = await makeWebhook();
    const { anna, alert } = await makeAlert();
    const incidentId = await alert.trigger();
    await w.runUntilIdle();
    await w.expectOk('resolve_incident', { incidentId }, { key: anna.key });
    await w.runUntilIdle();
    const bodies = receiver.received.map(({ headers, body }) => {
      expect(typeof headers['webhook-timestamp']).toBe('string');
      return verify(secret, headers, body);
    });
    expect(bodies).toMatchObject([
      { type: 'incident.triggered', data: { incident: { id: incidentId, status: 'triggered' } } },
      { type: 'incident.resolved', data: { incident: { id: incidentId, status: 'resolved' } } },
    ]);
    expect(bodies[0].data.sequence).toBeLessThan(bodies[1].data.sequence);
    const deliveries = await deliveriesOf(placeId);
    expect(deliveries).toMatchObject([
      { status: 'sent', answerStatus: 200, answer: 'thanks' },
      { status: 'sent', body: receiver.received[0]?.body },
    ]);
    await asOwner(redeliverToPlace, { deliveryId: deliveries[1]!.deliveryId });
    await w.runUntilIdle();
    expect(receiver.received[2]?.body).toBe(receiver.received[0]?.body);
    expect(receiver.received[2]?.headers['webhook-id']).toBe(receiver.received[0]?.headers['webhook-id']);
    expect(JSON.stringify(await asOwner(listPlaces, {}))).not.toContain(secret);
  });

  test('waits as long as the receiver asks', async () => {
    const { placeId } = await makeWebhook();
    receiver.answer(429, { 'retry-after': '120' });
    await asOwner(testPlace, { placeId });
    await w.runUntilIdle();
    expect(receiver.received).toHaveLength(1);
    receiver.answer(200);
    await w.advance({ seconds: 119 });
    expect(receiver.received).toHaveLength(1);
    await w.advance({ seconds: 1 });
    expect(receiver.received).toHaveLength(2);
    expect(receiver.received[1]?.body).toBe(receiver.received[0]?.body);
    expect(await deliveriesOf(placeId)).toMatchObject([{ status: 'sent', event: 'test', tries: 2 }]);
  });
});

test('a place that fails for a day is switched off, owners are told once, and it can be switched on again', async () => {
  const { placeId } = await makeWebhook();
  receiver.answer(500);
  await asOwner(testPlace, { placeId });
  await w.runUntilIdle();
  for (let hour = 0; hour < 25; hour += 5) await w.advance({ hours: 5 });
  const [place] = (await asOwner(listPlaces, {})).places;
  expect(place).toMatchObject({ isOn: false, switchedOffAt: expect.any(String), waiting: 0 });
  expect(mails.mails).toMatchObject([
    {
      subject: '[Tocsin] The place Hook (Webhook) was switched off after a day of failures',
      recipients: [w.owner.email],
    },
  ]);
  const attempts = receiver.received.length;
  await w.advance({ hours: 2 });
  expect(receiver.received).toHaveLength(attempts);
  receiver.answer(200);
  await asOwner(updatePlace, { placeId, isOn: true });
  await asOwner(testPlace, { placeId });
  await w.runUntilIdle();
  expect((await asOwner(listPlaces, {})).places).toMatchObject([
    { isOn: true, switchedOffAt: null, failingSince: null },
  ]);
});

test('a place that somebody has changed meanwhile is not overwritten', async () => {
  const { placeId } = await makeWebhook();
  const [{ name, routes }] = (await asOwner(listPlaces, {})).places;
  const basedOn = { name, routes };
  await asOwner(updatePlace, { placeId, name: 'Operations', routes, basedOn });
  const late = asOwner(updatePlace, { placeId, name: 'Nights', routes, basedOn });
  await expect(late).rejects.toMatchObject({ code: 'conflict' });
  const fatal = [{ ...ALL[0], atLeast: 'fatal' }];
  // What only one of both has changed is kept.
  const { place } = await asOwner(updatePlace, { placeId, name, routes: fatal, basedOn });
  expect(place).toMatchObject({ name: 'Operations', routes: fatal });
});

test('a place whose routes cannot be read is set aside, shown and told to owners, and holds up no other', async () => {
  const unreadable = await makeSlack();
  const { placeId } = await makeWebhook();
  await w.context.db.sql.run(`update places set routes = '[{"atLeast": 5}, null]' where id = $1`, [unreadable]);
  const { alert } = await makeAlert();
  await alert.trigger();
  await tellPlaces(w.runtime);
  await w.runUntilIdle();
  expect(await deliveriesOf(placeId)).toMatchObject([{ event: 'triggered', status: 'sent' }]);
  const { places } = await asOwner(listPlaces, {});
  const shown = places.find((place: { readonly placeId: string }) => place.placeId === unreadable);
  expect(shown).toMatchObject({ isOn: false, switchedOffAt: expect.any(String), routes: [] });
  expect(mails.mails).toMatchObject([
    { subject: '[Tocsin] The place Operations (Slack) was switched off because its routes cannot be read' },
  ]);
});

test('deliveries are kept for thirty days, and go with their place', async () => {
  const { placeId } = await makeWebhook();
  await asOwner(testPlace, { placeId });
  await w.runUntilIdle();
  w.clock.advance({ hours: 24 * 30 - 1 });
  await enforceRetention(w.runtime);
  expect(await deliveriesOf(placeId)).toHaveLength(1);
  w.clock.advance({ hours: 2 });
  await enforceRetention(w.runtime);
  expect(await deliveriesOf(placeId)).toEqual([]);
  await asOwner(testPlace, { placeId });
  await asOwner(deletePlace, { placeId });
  expect(await w.context.db.sql.rows('select from place_deliveries')).toEqual([]);
});

test('deliveries of an incident are kept while it is open', async () => {
  const { placeId } = await makeWebhook();
  const incidentId = await (await makeAlert()).alert.trigger();
  await w.runUntilIdle();
  w.clock.advance({ hours: 24 * 31 });
  await enforceRetention(w.runtime);
  expect(await deliveriesOf(placeId)).toMatchObject([{ event: 'triggered' }]);
  await w.expectOk('resolve_incident', { incidentId });
  await enforceRetention(w.runtime);
  expect(await deliveriesOf(placeId)).toEqual([]);
});

test('a note that is written at once follows the message about its incident', async () => {
  const { placeId } = await makeWebhook();
  const incidentId = await (await makeAlert()).alert.trigger();
  await asOwner(addIncidentNote, { incidentId, text: 'I am looking.', requestKey: 'first-note' });
  expect((await deliveriesOf(placeId)).map(({ event }) => event)).toEqual(['note', 'triggered']);
  await announceChanges(w.runtime);
  expect(await deliveriesOf(placeId)).toHaveLength(2);
});

// eslint-disable-next-line typescript/no-explicit-any -- bodies of any shape
function verify(secret: string, headers: NodeJS.Dict<string | string[]>, body: string): any {
  // The clock of the test is not the one that the library compares with.
  const at = Number(headers['webhook-timestamp']);
  const now = Date.now;
  Date.now = () => at * 1_000;
  try {
    return new Webhook(secret).verify(body, headers as Record<string, string>);
  } finally {
    Date.now = now;
  }
}

describe('a process that is frozen while it sends to a place, until another one has the turn,', () => {
  const fresh = AsyncLocalStorage.snapshot();

  /** An incident of which a place is told; `send` is what the first process does instead of sending. */
  async function frozenProcess(send: PlaceSender['send']) {
    const { placeId } = await makeWebhook();
    const { alert } = await makeAlert();
    await alert.trigger();
    await announceChanges(w.runtime);
    const placeSenders = { ...w.runtime.placeSenders, webhook: { send } };
    await fresh(() => deliverTo({ ...w.runtime, placeSenders }, asId('place', placeId)));
    await w.advance({ minutes: 10 });
    return { received: receiver.received.length, statuses: (await deliveriesOf(placeId)).map(({ status }) => status) };
  }

  /** The time in which the process stands still, and another sends. */
  async function otherSends() {
    w.clock.advance({ seconds: 60 });
    await fresh(() => tellPlaces(w.runtime));
  }

  test('sends nothing that the other one has sent', async () => {
    const told = await frozenProcess(async (message) => {
      await otherSends();
      return await w.runtime.placeSenders.webhook.send(message);
    });
    expect(told).toEqual({ received: 1, statuses: ['sent'] });
  });

  test('changes nothing where somebody has switched the place off', async () => {
    const { placeId } = await makeWebhook();
    await (await makeAlert()).alert.trigger();
    await announceChanges(w.runtime);
    const send = async () => {
      await fresh(() => asOwner(updatePlace, { placeId, isOn: false }));
      return { kind: 'retry', reason: 'It cannot be reached.', body: '', status: null, answer: null } as const;
    };
    const placeSenders = { ...w.runtime.placeSenders, webhook: { send } };
    await fresh(() => deliverTo({ ...w.runtime, placeSenders }, asId('place', placeId)));
    expect(await deliveriesOf(placeId)).toMatchObject([{ status: 'dead' }]);
  });

  test.each(['retry', 'refused'] as const)('changes nothing with its outcome %s', async (kind) => {
    const told = await frozenProcess(async () => {
      await otherSends();
      return { kind, reason: 'It cannot be reached.', body: '', status: null, answer: null };
    });
    expect(told).toEqual({ received: 1, statuses: ['sent'] });
  });
});
