import { describe, expect, test } from 'vitest';

import { type Channel, CHANNELS } from '#modules/contacts/decide/channel.ts';
import type { Contact } from '#modules/contacts/decide/contact.ts';
import { judgeReadiness, type Reach } from '#modules/contacts/decide/readiness.ts';
import { ANNA, at } from '#test/modules/schedules/decide/given_rotation.ts';

const NOW = at('2026-06-01T12:00:00Z');
const daysAgo = (days: number) => NOW.subtract({ hours: days * 24 });
const PHONE = '+31612345678';

const contact = (changes: Partial<Contact>): Contact => ({
  userId: ANNA,
  phone: null,
  email: 'anna@example.com',
  hasPush: false,
  smsEnabled: true,
  callEnabled: true,
  pushEnabled: true,
  emailEnabled: true,
  ...changes,
});

const reach = (changes: Partial<Contact>, others: Partial<Omit<Reach, 'contact'>> = {}): Reach => ({
  contact: contact(changes),
  isPhoneConfirmed: true,
  hasStoppedSms: false,
  mayAnswer: true,
  arrivals: [],
  devicesSince: null,
  ...others,
});

const judge = (of: Reach, configured: readonly Channel[] = CHANNELS, simulated: readonly Channel[] = []) =>
  judgeReadiness(of, { configured: new Set(configured), simulated: new Set(simulated) }, NOW);

const arrived = (channel: Channel, days: number, address: string | null = PHONE) => [
  { channel, address, at: daysAgo(days) },
];

describe('whether a page at night would wake somebody', () => {
  test('no: mail alone wakes nobody', () => {
    expect(judge(reach({}))).toMatchObject({ answer: 'no', reasons: ['no_waking_channel'] });
    expect(judge(reach({}, { arrivals: arrived('email', 1, 'anna@example.com') })).answer).toBe('no');
  });

  test('no: what wakes is off, or not set up on this server', () => {
    expect(judge(reach({ phone: PHONE, smsEnabled: false, callEnabled: false })).answer).toBe('no');
    expect(judge(reach({ phone: PHONE }), ['email', 'push']).answer).toBe('no');
  });

  test('not proved: nothing has arrived, or too long ago', () => {
    expect(judge(reach({ phone: PHONE }))).toMatchObject({ answer: 'unproved', reasons: ['never_proved'] });
    const old = reach({ phone: PHONE }, { arrivals: arrived('sms', 91) });
    expect(judge(old)).toMatchObject({ answer: 'unproved', reasons: ['proof_too_old'] });
  });

  test('yes: something has arrived by a channel that wakes', () => {
    expect(judge(reach({ phone: PHONE }, { arrivals: arrived('call', 90) }))).toMatchObject({
      answer: 'yes',
      reasons: [],
    });
  });

  test('a message to another number proves nothing', () => {
    const moved = reach({ phone: PHONE }, { arrivals: arrived('sms', 1, '+31600000000') });
    expect(judge(moved)).toMatchObject({ answer: 'unproved', reasons: ['never_proved'] });
  });

  test('of several numbers each is judged by what arrived at it, also before something arrived at another', () => {
    const both = [...arrived('sms', 1, '+31600000000'), ...arrived('sms', 9)];
    expect(judge(reach({ phone: PHONE }, { arrivals: both })).answer).toBe('yes');
    expect(judge(reach({ phone: PHONE }, { arrivals: both.toReversed() })).answer).toBe('yes');
  });

  test('somebody who has stopped SMS is woken by calls at most, and told what resumes them', () => {
    const arrivals = arrived('sms', 1);
    const onlySms = judge(reach({ phone: PHONE, callEnabled: false }, { arrivals, hasStoppedSms: true }));
    expect(onlySms).toMatchObject({ answer: 'no', reasons: ['no_waking_channel', 'sms_stopped'] });
    const calls = judge(reach({ phone: PHONE }, { arrivals: arrived('call', 1), hasStoppedSms: true }));
    expect(calls).toMatchObject({ answer: 'yes', reasons: ['sms_stopped'] });
    expect(calls.channels[0]).toMatchObject({ channel: 'sms', state: 'stopped' });
  });

  test('messages to the phone simulator wake nobody, whatever arrived there', () => {
    const phone = reach({ phone: PHONE }, { arrivals: arrived('sms', 1) });
    const judged = judge(phone, CHANNELS, ['sms', 'call']);
    expect(judged).toMatchObject({ answer: 'unproved', reasons: ['simulated'] });
    expect(judged.channels[0]).toMatchObject({ channel: 'sms', state: 'simulated' });
    const withPush = reach(
      { phone: PHONE, hasPush: true },
      { arrivals: arrived('push', 1, null), devicesSince: daysAgo(9) },
    );
    expect(judge(withPush, CHANNELS, ['sms', 'call'])).toMatchObject({ answer: 'yes', reasons: [] });
  });

  test('somebody whose role cannot answer is not ready, whatever wakes them', () => {
    const viewer = reach({ phone: PHONE }, { arrivals: arrived('sms', 1), mayAnswer: false });
    expect(judge(viewer)).toMatchObject({ answer: 'unproved', reasons: ['cannot_answer'] });
  });

  test('push is proved only while a device is there that was there then', () => {
    const push = arrived('push', 10, null);
    expect(judge(reach({ hasPush: true }, { arrivals: push, devicesSince: daysAgo(20) })).answer).toBe('yes');
    expect(judge(reach({ hasPush: true }, { arrivals: push, devicesSince: daysAgo(5) })).answer).toBe('unproved');
    expect(judge(reach({ hasPush: false }, { arrivals: push })).answer).toBe('no');
  });

  test('a number that is not confirmed is told, and takes nothing from what has arrived', () => {
    const unconfirmed = { isPhoneConfirmed: false, arrivals: arrived('sms', 1) };
    expect(judge(reach({ phone: PHONE }, unconfirmed))).toMatchObject({
      answer: 'yes',
      reasons: ['number_not_confirmed'],
    });
    expect(judge(reach({ hasPush: true }, { isPhoneConfirmed: false })).reasons).toEqual(['never_proved']);
  });

  test('says of each channel how it stands', () => {
    const { channels } = judge(reach({ phone: PHONE, callEnabled: false }, { arrivals: arrived('sms', 3) }), [
      'sms',
      'push',
    ]);
    expect(channels).toEqual([
      { channel: 'sms', state: 'ready', provedAt: daysAgo(3) },
      { channel: 'call', state: 'off', provedAt: null },
      { channel: 'push', state: 'no_address', provedAt: null },
      { channel: 'email', state: 'not_configured', provedAt: null },
    ]);
  });
});
