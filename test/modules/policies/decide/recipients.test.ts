import fc from '#test/kit/properties.ts';
import { describe, expect, test } from 'vitest';

import { type Channel, CHANNELS } from '#modules/contacts/decide/channel.ts';
import { type Contact, contactOfNonMember } from '#modules/contacts/decide/contact.ts';
import type { EscalationStep } from '#modules/policies/decide/escalation.ts';
import {
  decideRecipients,
  hasNoChannelLeft,
  NOTIFICATION_STATUSES,
  type StepRecipients,
} from '#modules/policies/decide/recipients.ts';
import { ANNA, BRAM, CHLOE, DIRK } from '#test/modules/schedules/decide/given_rotation.ts';

const ALL: ReadonlySet<Channel> = new Set(CHANNELS);

const contact = (userId: Contact['userId'], changes: Partial<Contact> = {}): Contact => ({
  userId,
  phone: '+31612345678',
  email: `${userId}@example.com`,
  hasPush: true,
  smsEnabled: true,
  callEnabled: true,
  pushEnabled: true,
  emailEnabled: true,
  ...changes,
});

const step = (changes: Partial<EscalationStep>): EscalationStep => ({
  afterMinutes: 0,
  channels: ['sms'],
  targetUserIds: [],
  useSchedule: false,
  ...changes,
});

function decide(
  changes: Partial<EscalationStep>,
  contacts: readonly Contact[],
  { onCall = [] as Contact['userId'][], configured = ALL } = {},
): StepRecipients {
  return decideRecipients(step(changes), onCall, new Map(contacts.map((c) => [c.userId, c])), configured);
}

const shown = ({ pages }: StepRecipients): string[] =>
  pages.map((p) => `${p.userId} ${p.channel} ${p.kind === 'notify' ? (p.to ?? 'all browsers') : p.reason}`);

describe('whom a step pages', () => {
  test('its targets, and with useSchedule the person on call, each person once per channel', () => {
    const changes = { targetUserIds: [BRAM, ANNA, BRAM], channels: ['sms', 'email', 'sms'] } as const;
    const contacts = [contact(ANNA), contact(BRAM), contact(CHLOE)];
    const expected = [
      'bram sms +31612345678',
      'bram email bram@example.com',
      'anna sms +31612345678',
      'anna email anna@example.com',
    ];
    expect(shown(decide(changes, contacts, { onCall: [ANNA, CHLOE] }))).toEqual(expected);
    expect(shown(decide({ ...changes, useSchedule: true }, contacts, { onCall: [ANNA, CHLOE] }))).toEqual([
      ...expected,
      'chloe sms +31612345678',
      'chloe email chloe@example.com',
    ]);
  });

  test('by every channel that it names, at the address of that channel', () => {
    expect(shown(decide({ targetUserIds: [ANNA], channels: CHANNELS }, [contact(ANNA)]))).toEqual([
      'anna sms +31612345678',
      'anna call +31612345678',
      'anna push all browsers',
      'anna email anna@example.com',
    ]);
  });

  test.each([
    ['sms', { smsEnabled: false }, 'channel_off'],
    ['call', { callEnabled: false }, 'channel_off'],
    ['push', { pushEnabled: false }, 'channel_off'],
    ['email', { emailEnabled: false }, 'channel_off'],
    ['sms', { phone: null }, 'no_address'],
    ['call', { phone: null }, 'no_address'],
    ['push', { hasPush: false }, 'no_address'],
    ['email', { email: null }, 'no_address'],
    ['sms', { smsEnabled: false, phone: null }, 'channel_off'],
  ] as const)('%s is skipped for a person with %j', (channel, changes, reason) => {
    const decided = decide({ targetUserIds: [ANNA], channels: [channel] }, [contact(ANNA, changes)]);
    expect(decided.pages).toEqual([{ kind: 'skipped', userId: ANNA, channel, reason }]);
    expect(decided.nobodyReached).toBe('no_usable_channel');
  });

  test('a channel that the operator has not configured fails, if the person could have been reached by it', () => {
    const configured = new Set<Channel>(['email']);
    const contacts = [contact(ANNA), contact(BRAM, { phone: null })];
    const decided = decide({ targetUserIds: [ANNA, BRAM], channels: ['sms', 'email'] }, contacts, { configured });
    expect(shown(decided)).toEqual([
      'anna sms channel_not_configured',
      'anna email anna@example.com',
      'bram sms no_address',
      'bram email bram@example.com',
    ]);
    expect(decided.pages.map((page) => page.kind)).toEqual(['failed', 'notify', 'skipped', 'notify']);
    expect(decided.nobodyReached).toBeNull();
  });

  test('somebody who has left is skipped', () => {
    const decided = decide({ targetUserIds: [DIRK, ANNA] }, [contact(ANNA)]);
    expect(shown(decided)).toEqual(['dirk sms left_organization', 'anna sms +31612345678']);
  });

  test('somebody who is no member of the team is reached by the e-mail of the account and by push', () => {
    const outsider = contactOfNonMember({ userId: DIRK, email: 'dirk@example.com', hasPush: true });
    expect(shown(decide({ targetUserIds: [DIRK], channels: CHANNELS }, [outsider]))).toEqual([
      'dirk sms no_address',
      'dirk call no_address',
      'dirk push all browsers',
      'dirk email dirk@example.com',
    ]);
  });
});

describe('why a step reaches nobody', () => {
  test('it has no targets and asks no schedule', () => {
    expect(decide({}, [contact(ANNA)], { onCall: [ANNA] })).toEqual({
      pages: [],
      nobodyReached: 'no_targets',
      unreachable: [],
    });
  });

  test('its schedule has nobody on call', () => {
    expect(decide({ useSchedule: true }, [contact(ANNA)])).toEqual({
      pages: [],
      nobodyReached: 'nobody_on_call',
      unreachable: [],
    });
  });

  test('only channels that the operator has not configured would have reached somebody', () => {
    const contacts = [contact(ANNA), contact(BRAM, { smsEnabled: false })];
    const decided = decide({ targetUserIds: [BRAM, ANNA] }, contacts, { configured: new Set() });
    expect(decided.nobodyReached).toBe('channel_not_configured');
  });

  test('everybody has left', () => {
    expect(decide({ targetUserIds: [DIRK] }, []).nobodyReached).toBe('no_usable_channel');
  });

  test('one entry per person and channel, and nobody is reached exactly when no page leaves', () => {
    const anyPeople = fc.array(fc.constantFrom(ANNA, BRAM, CHLOE, DIRK), { maxLength: 5 });
    const anyChannels = fc.array(fc.constantFrom(...CHANNELS), { minLength: 1, maxLength: 6 });
    const anyContact = fc.record({
      phone: fc.constantFrom(null, '+31612345678'),
      hasPush: fc.boolean(),
      smsEnabled: fc.boolean(),
      pushEnabled: fc.boolean(),
    });
    fc.assert(
      fc.property(
        anyPeople,
        anyPeople,
        anyChannels,
        anyChannels,
        anyContact,
        fc.boolean(),
        (targets, onCall, channels, configured, changes, useSchedule) => {
          const contacts = [contact(ANNA, changes), contact(BRAM), contact(CHLOE, changes)];
          const decided = decide({ targetUserIds: targets, channels, useSchedule }, contacts, {
            onCall,
            configured: new Set(configured),
          });
          const people = new Set(useSchedule ? [...targets, ...onCall] : targets);
          const pairs = new Set(decided.pages.map((page) => `${page.userId} ${page.channel}`));
          expect(pairs.size).toBe(decided.pages.length);
          expect(pairs.size).toBe(people.size * new Set(channels).size);
          expect(decided.nobodyReached === null).toBe(decided.pages.some((page) => page.kind === 'notify'));
        },
      ),
    );
  });
});

describe('the last channel of a person has failed', () => {
  test.each([
    [['failed'], true],
    [['failed', 'failed'], true],
    [['failed', 'skipped'], true],
    [['skipped'], false],
    [[], false],
    [['failed', 'cancelled'], false],
    ...(['queued', 'sent', 'delivered'] as const).map((status) => [['failed', status], false] as const),
  ] as const)('%j: %s', (statuses, expected) => {
    expect(hasNoChannelLeft(statuses)).toBe(expected);
  });

  test('never while a page may still arrive', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...NOTIFICATION_STATUSES)), (statuses) => {
        const mayArrive = statuses.some((status) => ['queued', 'sent', 'delivered'].includes(status));
        expect(mayArrive && hasNoChannelLeft(statuses)).toBe(false);
      }),
    );
  });
});
