import twilio from 'twilio';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { type Fault, spokenText } from '@tocsin/phone-simulator';
import { deliveryOfError } from '#notify/twilio/client.ts';
import { reasonOfCode } from '#notify/twilio/error_codes.ts';
import { type StaffedWorld, staffedWorld } from '#test/kit/staffed_world.ts';

const BASE_URL = 'http://tocsin.test';

let w: StaffedWorld;
beforeAll(async () => {
  w = await staffedWorld({ keepOpen: true });
});
afterAll(() => w.close());

/** Anna is paged at once on this channel; Bram by SMS after 15 minutes. */
async function annaIsPaged(channel: 'sms' | 'call', fault?: (phone: string) => Fault) {
  const [teamId, anna, bram] = await w.staff.teamOf('Anna', 'Bram');
  const alert = await w.staff.alert(teamId, [
    { afterMinutes: 0, channels: [channel], targetUserIds: [anna.userId] },
    { afterMinutes: 15, channels: ['sms'], targetUserIds: [bram.userId] },
  ]);
  if (fault !== undefined) w.phone.addFault(fault(anna.phone));
  const incidentId = await alert.trigger();
  await w.runUntilIdle();
  const incident = () => w.expectOk('get_incident', { incidentId });
  return {
    anna,
    phoned: () => w.phone.calls.findLast(({ to }) => to === anna.phone)!,
    bram,
    incidentId,
    incident,
    entry: async () => (await incident()).notifications[0],
    story: async () => (await incident()).timeline.map(({ text }: { text: string }) => text) as string[],
    bramIsPaged: () => w.phone.messages.some(({ to }) => to === bram.phone),
  };
}

/** Pages one person in one world for each of the faults: the outcome of the page, and whether the next step fired. */
async function eachIsPaged(channel: 'sms' | 'call', faults: readonly ((phone: string) => Fault)[]) {
  const teamId = await w.staff.team();
  const paged: { readonly anna: string; readonly bram: string; readonly incidentId: string }[] = [];
  for (const fault of faults) {
    const anna = await w.staff.responder(teamId, 'Anna');
    const bram = await w.staff.responder(teamId, 'Bram');
    const alert = await w.staff.alert(teamId, [
      { afterMinutes: 0, channels: [channel], targetUserIds: [anna.userId] },
      { afterMinutes: 15, channels: ['sms'], targetUserIds: [bram.userId] },
    ]);
    w.phone.addFault(fault(anna.phone));
    paged.push({ anna: anna.phone, bram: bram.phone, incidentId: await alert.trigger() });
  }
  await w.runUntilIdle();
  const messagesTo = (phone: string) => w.phone.messages.filter(({ to }) => to === phone).length;
  const outcomes = async () =>
    await Promise.all(
      paged.map(async ({ anna, bram, incidentId }) => {
        const { status, notifications, timeline } = await w.expectOk('get_incident', { incidentId });
        const story: readonly string[] = timeline.map(({ text }: { text: string }) => text);
        return { status, entry: notifications[0], story, toAnna: messagesTo(anna), toBram: messagesTo(bram) };
      }),
    );
  return { outcomes };
}

/** Posts as Twilio does, signed. */
async function post(path: string, fields: Record<string, string>, signature?: string) {
  const expectedTwilioSignature = twilio.getExpectedTwilioSignature(
    w.context.config.twilioAuthToken ?? '',
    BASE_URL + path,
    fields,
  );
  const { statusCode, body } = await w.app.inject({
    method: 'POST',
    url: path,
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      'x-twilio-signature': signature ?? expectedTwilioSignature,
    },
    payload: new URLSearchParams(fields).toString(),
  });
  return { status: statusCode, body };
}

describe('only a key press, a reply or a click is an answer', () => {
  test('an SMS that arrived and stays unanswered stops nothing', async () => {
    const { entry, bramIsPaged, incident } = await annaIsPaged('sms');
    expect(await entry()).toMatchObject({ status: 'delivered' });
    await w.advance({ minutes: 15 });
    expect(bramIsPaged()).toBe(true);
    expect((await incident()).status).toBe('triggered');
  });

  test('somebody who answers the call and hangs up without a key has not acknowledged', async () => {
    const { entry, story, bramIsPaged, incident, phoned } = await annaIsPaged('call');
    const call = phoned();
    await w.phone.answer(call, 'human');
    await w.phone.hangUp(call);
    await w.runUntilIdle();
    expect(await entry()).toMatchObject({ status: 'delivered' });
    expect((await story()).at(-1)).toBe('Anna answered the call.');
    expect((await incident()).status).toBe('triggered');
    expect(bramIsPaged()).toBe(false);
    await w.advance({ minutes: 15 });
    expect(bramIsPaged()).toBe(true);
  });

  test('pressing 3 repeats the message, pressing 1 acknowledges, and the timeline keeps their order', async () => {
    const { anna, story, incident, phoned } = await annaIsPaged('call');
    const call = phoned();
    await w.phone.answer(call, 'human');
    await w.phone.press(call, '3');
    expect((await incident()).status).toBe('triggered');
    expect(call.transcript.filter(({ text }) => text.includes('Press 1 to acknowledge'))).toHaveLength(2);
    await w.phone.press(call, '1');
    await w.runUntilIdle();
    expect(await incident()).toMatchObject({
      status: 'acknowledged',
      acknowledgedBy: { userId: anna.userId, via: 'call' },
    });
    expect((await story()).slice(-2)).toEqual([
      'Anna answered the call.',
      'Acknowledged by Anna by phone; escalation is paused.',
    ]);
  });

  test('a call that a phone screens says who calls, and a key pressed in it acknowledges', async () => {
    const { entry, story, bramIsPaged, incident, phoned } = await annaIsPaged('call');
    const call = phoned();
    await w.phone.answer(call, 'machine');
    const heard = spokenText(call);
    expect(heard).toContain('This is Tocsin, calling about incident');
    expect(heard).not.toContain('latency');
    expect(call.isListening).toBe(true);
    await w.phone.press(call, '3');
    expect(spokenText(call)).toContain('latency');
    await w.phone.press(call, '1');
    await w.runUntilIdle();
    expect((await incident()).status).toBe('acknowledged');
    expect(await entry()).toMatchObject({ status: 'delivered' });
    expect((await story()).at(-1)).toBe('Acknowledged by Anna by phone; escalation is paused.');
    expect(bramIsPaged()).toBe(false);
  });

  test('a call that something unknown answered without a key has reached nobody: the next step fires', async () => {
    const { entry, bramIsPaged } = await annaIsPaged('call');
    const { notificationId, providerId } = await entry();
    const ended = { CallSid: providerId, CallStatus: 'completed', AnsweredBy: 'unknown' };
    await post(`/api/callbacks/twilio/voice/${notificationId}`, { CallSid: providerId, AnsweredBy: 'unknown' });
    expect(await entry()).toMatchObject({ status: 'sent' });
    await post(`/api/callbacks/twilio/call-status/${notificationId}`, ended);
    await w.runUntilIdle();
    expect(await entry()).toMatchObject({ status: 'failed', reason: 'no_key_pressed' });
    expect(bramIsPaged()).toBe(true);
  });

  test('a call that ends without an answer has reached nobody: the next step fires at once, and a key is refused later', async () => {
    const ends = [
      ['busy', 'busy', 'The line of Anna was busy.'],
      ['no-answer', 'no_answer', 'Anna did not answer the call.'],
      ['failed', 'call_failed', 'Call to Anna failed: the call could not be put through.'],
    ] as const;
    const { outcomes } = await eachIsPaged(
      'call',
      ends.map(([as]) => (number) => ({ kind: 'call_ends', as, number })),
    );
    const expected = ends.map(([, reason, sentence]) => ({
      status: 'triggered',
      entry: expect.objectContaining({ status: 'failed', reason }),
      story: expect.arrayContaining([sentence]),
      toBram: 1,
    }));
    const after = await outcomes();
    expect(after).toMatchObject(expected);
    w.clock.advance({ hours: 1 });
    for (const { entry } of after) {
      const path = `/api/callbacks/twilio/voice-digit/${entry.notificationId}`;
      expect((await post(path, { CallSid: entry.providerId, Digits: '1' })).status).toBe(403);
    }
    expect(await outcomes()).toMatchObject(expected);
  });
});

describe('call-backs', () => {
  const arrived = (story: readonly string[]) => story.filter((text) => text === 'SMS to Anna arrived.').length;

  test('that come twice or in another order change nothing more', async () => {
    const kinds = ['callback_doubled', 'callback_reordered'] as const;
    const { outcomes } = await eachIsPaged(
      'sms',
      kinds.map((kind) => (number) => ({ kind, number })),
    );
    for (const { entry, story } of await outcomes()) {
      expect(entry).toMatchObject({ status: 'delivered', reason: null });
      expect(arrived(story)).toBe(1);
    }
  });

  test('lost reports leave the entry at what is known: sent', async () => {
    const { entry, bramIsPaged } = await annaIsPaged('sms', (number) => ({ kind: 'callback_lost', number }));
    expect(await entry()).toMatchObject({ status: 'sent', reason: null, attempts: 1 });
    expect(bramIsPaged()).toBe(false);
  });

  test('a late report still records the arrival after the incident was acknowledged', async () => {
    const held = await annaIsPaged('sms', (number) => ({ kind: 'callback_held', number }));
    const { anna, incidentId, entry, story } = held;
    await w.expectOk('acknowledge_incident', { incidentId }, { key: anna.key });
    w.clock.advance({ hours: 2 });
    await w.phone.releaseCallbacks();
    await w.runUntilIdle();
    expect(await entry()).toMatchObject({ status: 'delivered' });
    expect((await story()).at(-1)).toBe('SMS to Anna arrived.');
    expect((await held.incident()).status).toBe('acknowledged');
  });

  test('a report of a failure pages nobody after the incident was acknowledged', async () => {
    const { anna, incidentId, entry, bramIsPaged } = await annaIsPaged('sms', (number) => ({
      kind: 'callback_held',
      number,
    }));
    await w.expectOk('acknowledge_incident', { incidentId }, { key: anna.key });
    const { notificationId, providerId } = await entry();
    const fields = { MessageSid: providerId, MessageStatus: 'undelivered', ErrorCode: '30007' };
    await post(`/api/callbacks/twilio/sms-status/${notificationId}`, fields);
    await w.runUntilIdle();
    expect(await entry()).toMatchObject({ status: 'failed', reason: 'carrier_filtered' });
    expect(bramIsPaged()).toBe(false);
  });

  test('replayed reports undo nothing: neither a failure after the arrival nor a key after the end', async () => {
    const { entry, incidentId, incident, bramIsPaged } = await annaIsPaged('sms');
    const { notificationId, providerId } = await entry();
    const failed = { MessageSid: providerId, MessageStatus: 'failed', ErrorCode: '30003' };
    await post(`/api/callbacks/twilio/sms-status/${notificationId}`, failed);
    await w.runUntilIdle();
    expect(await entry()).toMatchObject({ status: 'delivered' });
    expect(bramIsPaged()).toBe(false);
    await w.expectOk('resolve_incident', { incidentId });
    const before = await incident();
    const key = { CallSid: 'CA1', Digits: '1' };
    const { body } = await post(`/api/callbacks/twilio/voice-digit/${notificationId}`, key);
    expect(body).toContain('resolved already');
    expect(await incident()).toMatchObject({ status: 'resolved', resolvedBy: before.resolvedBy });
    await w.runUntilIdle();
  });

  describe('reports of a call that has ended', () => {
    /** Anna has heard the page, pressed 3 to hear it again, and hung up. */
    async function callIsOver() {
      const paged = await annaIsPaged('call');
      const { entry, phoned } = paged;
      const call = phoned();
      await w.phone.answer(call, 'human');
      await w.phone.press(call, '3');
      await w.phone.hangUp(call);
      await w.runUntilIdle();
      const { notificationId } = await entry();
      const replay = (name: string, fields: Record<string, string> = {}) =>
        post(`/api/callbacks/twilio/${name}/${notificationId}`, { CallSid: call.sid, ...fields });
      return { ...paged, notificationId, replay };
    }

    test('are accepted for some minutes, because they may overtake one another', async () => {
      const { incident, replay } = await callIsOver();
      w.clock.advance({ minutes: 5 });
      expect((await replay('voice')).body).toContain('Press 1 to acknowledge');
      expect((await replay('voice-digit', { Digits: '1' })).status).toBe(200);
      expect((await incident()).status).toBe('acknowledged');
      await w.runUntilIdle();
    });

    test('are rejected and audited an hour later, and change nothing', async () => {
      const { incidentId, notificationId, incident, replay } = await callIsOver();
      w.clock.advance({ minutes: 5, milliseconds: 1 });
      // The end of the call, told once more, does not begin it anew.
      expect((await replay('call-status', { CallStatus: 'completed' })).status).toBe(200);
      w.clock.advance({ minutes: 55 });
      const before = await incident();
      for (const [name, fields] of [
        ['voice-digit', { Digits: '1' }],
        ['voice-digit', { Digits: '2' }],
        ['voice', { AnsweredBy: 'human' }],
      ] as const) {
        const answer = await replay(name, fields);
        expect(answer.status).toBe(403);
        expect(answer.body).not.toContain('latency');
      }
      expect(await incident()).toEqual(before);
      const audited = await w.context.db.sql.rows(
        `select action, via, target, after, result from audit_log where result = 'forbidden' and target = $1 order by id`,
        [incidentId],
      );
      const refusal = { via: 'call', target: incidentId, result: 'forbidden' };
      const after = { notificationId, why: 'replayed call-back' };
      expect(audited).toEqual(
        ['report_voice_digit', 'report_voice_digit', 'report_voice'].map((action) => ({ action, ...refusal, after })),
      );
    });
  });

  test('are rejected with a signature for other fields, and reveal nothing', async () => {
    const { entry, incident } = await annaIsPaged('call');
    const { notificationId } = await entry();
    for (const name of ['voice', 'voice-digit', 'call-status', 'sms-status']) {
      const path = `/api/callbacks/twilio/${name}/${notificationId}`;
      const signature = twilio.getExpectedTwilioSignature(w.context.config.twilioAuthToken ?? '', BASE_URL + path, {
        Digits: '3',
      });
      const answer = await post(path, { Digits: '1' }, signature);
      expect(answer.status, name).toBe(403);
      expect(answer.body).not.toContain('latency');
    }
    expect((await incident()).status).toBe('triggered');
  });
});

describe('errors by Twilio’s codes', () => {
  const FINAL = [
    [400, 21211, 'bad_number'],
    [400, 21614, 'not_a_mobile_number'],
    [400, 21610, 'unsubscribed'],
    [400, 21612, 'not_reachable_from_sender'],
    [403, 21408, 'region_not_enabled'],
    [400, 21601, 'provider_sender_refused'],
    [400, 21635, 'landline'],
    [400, 21608, 'number_not_verified'],
    [401, 20003, 'provider_refused_credentials'],
    [400, 21999, 'provider_refused_21999'],
  ] as const;

  test.each(FINAL)('%i with %i is final: %s', (status, code, reason) => {
    expect(deliveryOfError(Object.assign(new Error('refused'), { status, code }))).toEqual({
      kind: 'rejected',
      reason,
    });
  });

  const REPORTED = [
    [30004, 'message_blocked'],
    [30005, 'unknown_number'],
    [30006, 'landline'],
    [30007, 'carrier_filtered'],
    [30008, 'carrier_fault'],
    [21610, 'unsubscribed'],
    [30032, 'provider_sender_not_registered'],
    [30034, 'provider_sender_not_registered'],
    [30022, 'provider_rate_limit'],
    [30036, 'expired'],
    [30453, 'provider_blocks_number'],
    [63038, 'provider_limit_reached'],
    [13224, 'bad_number'],
    [21217, 'bad_number'],
    [30999, undefined],
  ] as const;

  test.each(REPORTED)('%i of a report or a call is told as %s', (code, reason) => {
    expect(reasonOfCode(code)).toBe(reason);
  });

  test('fail an SMS or call at once, and the next step fires, or have it tried again', async () => {
    const { outcomes } = await eachIsPaged('sms', [
      (number) => ({ kind: 'http_error', status: 400, code: 21614, number }),
      (number) => ({ kind: 'http_error', status: 400, code: 21999, number }),
      (number) => ({ kind: 'undelivered', errorCode: 30007, number }),
      (number) => ({ kind: 'undelivered', errorCode: 30999, number }),
      ...[429, 500, 503].map(
        (status) => (number: string) => ({ kind: 'http_error', status, number, times: 1 }) as const,
      ),
    ]);
    const failed = { status: 'failed', attempts: 1 };
    const final = [
      { entry: { ...failed, reason: 'not_a_mobile_number', providerId: null }, toBram: 1 },
      { entry: { ...failed, reason: 'provider_refused_21999', providerId: null }, toBram: 1 },
      { entry: { ...failed, reason: 'carrier_filtered' }, toBram: 1 },
      { entry: { ...failed, reason: 'not_delivered' }, toBram: 1 },
    ];
    expect((await outcomes()).slice(0, 4)).toMatchObject(final);
    await w.advance({ seconds: 2 });
    const again = { entry: { status: 'delivered', attempts: 2 }, toAnna: 1, toBram: 0 };
    expect(await outcomes()).toMatchObject([...final, again, again, again]);
  });
});

test('the number of a person who has left the organization gets no information and changes nothing', async () => {
  const { anna, incident } = await annaIsPaged('sms');
  const { number } = await incident();
  await w.context.db.sql.run('delete from memberships where user_id = $1', [anna.userId]);
  const sent = w.phone.messages.length;
  await w.phone.reply({ from: anna.phone, body: `RES ${number}` });
  await w.runUntilIdle();
  expect(w.phone.messages.slice(sent).filter(({ to }) => to === anna.phone)).toEqual([]);
  expect((await incident()).status).toBe('triggered');
});
