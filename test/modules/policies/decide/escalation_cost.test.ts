import { describe, expect, test } from 'vitest';

import { CHANNELS } from '#modules/contacts/decide/channel.ts';
import type { Contact } from '#modules/contacts/decide/contact.ts';
import type { EscalationStep } from '#modules/policies/decide/escalation.ts';
import { finish } from '#kernel/cooperative_task.ts';
import { escalationCost } from '#modules/policies/decide/simulate_escalation.ts';
import { nightFinder } from '#modules/schedules/decide/layered_shifts.ts';
import { Temporal } from '#kernel/time.ts';
import { ANNA, BRAM } from '#test/modules/schedules/decide/given_rotation.ts';
import fc from '#test/kit/properties.ts';
import { restsOf } from '#test/kit/counting/rests.ts';

const at = (text: string): number => Temporal.Instant.from(text).epochMilliseconds;

const contact = (userId: Contact['userId']): Contact => ({
  userId,
  phone: '+31612345678',
  email: `${userId}@example.com`,
  hasPush: false,
  smsEnabled: true,
  callEnabled: true,
  pushEnabled: true,
  emailEnabled: true,
});

const step = (changes: Partial<EscalationStep>): EscalationStep => ({
  afterMinutes: 0,
  channels: ['sms'],
  targetUserIds: [ANNA],
  useSchedule: false,
  ...changes,
});

/** Anna by SMS at once and by mail too, Bram by a call after ten minutes. */
const SETTING = {
  steps: [step({ channels: ['sms', 'email'] }), step({ afterMinutes: 10, channels: ['call'], targetUserIds: [BRAM] })],
  schedules: [],
  contacts: new Map([ANNA, BRAM].map((userId) => [userId, contact(userId)])),
  configured: new Set(CHANNELS),
  isPresent: () => true,
};

const NOW = at('2027-02-05T12:00:00Z');
const costOf = (incidents: readonly { openedAt: number; closedAt: number | null }[], zone = 'UTC') =>
  finish(escalationCost(SETTING, incidents, () => zone, NOW));

describe('what incidents cost', () => {
  test('a page is sent for each channel of each step that came due while it was open', () => {
    const short = { openedAt: at('2027-02-03T12:00:00Z'), closedAt: at('2027-02-03T12:10:00Z') };
    expect(costOf([short])).toEqual({ pages: 2, nights: 0, people: [{ userId: ANNA, pages: 2, nights: 0 }] });
    const long = { openedAt: at('2027-02-03T12:00:00Z'), closedAt: at('2027-02-03T12:10:01Z') };
    expect(costOf([long])).toMatchObject({ pages: 3, people: [{ userId: ANNA }, { userId: BRAM, pages: 1 }] });
    expect(costOf([{ openedAt: NOW - 60_000, closedAt: null }])).toMatchObject({ pages: 2 });
    expect(costOf([])).toEqual({ pages: 0, nights: 0, people: [] });
  });

  test('are counted with a rest after each, so that others have their turn', () => {
    const incidents = Array.from({ length: 50 }, (_, index) => ({ openedAt: NOW - index * 60_000, closedAt: null }));
    expect(restsOf(escalationCost(SETTING, incidents, () => 'UTC', NOW))).toBe(50);
  });

  test('several pages of one night wake a person in one night, and mail wakes nobody', () => {
    const night = ['23:05', '23:40', '23:59'].map((time) => {
      const openedAt = at(`2027-02-03T${time}:00Z`);
      return { openedAt, closedAt: openedAt + 60_000 };
    });
    const after = { openedAt: at('2027-02-04T06:30:00Z'), closedAt: at('2027-02-04T06:31:00Z') };
    expect(costOf([...night, after])).toMatchObject({ pages: 8, nights: 1 });
    const nextNight = { openedAt: at('2027-02-04T23:30:00Z'), closedAt: at('2027-02-04T23:31:00Z') };
    expect(costOf([...night, nextNight]).nights).toBe(2);
    expect(costOf([after], 'Asia/Tokyo').nights).toBe(0);
  });
});

test('a night is from 23:00 to 07:00 where the person is, and belongs to the day on which it begins', () => {
  const nightOf = nightFinder();
  expect(nightOf(at('2027-02-03T22:59:59Z'), 'UTC')).toBeNull();
  expect(nightOf(at('2027-02-03T23:00:00Z'), 'UTC')).toBe('2027-02-03');
  expect(nightOf(at('2027-02-04T06:59:59Z'), 'UTC')).toBe('2027-02-03');
  expect(nightOf(at('2027-02-04T07:00:00Z'), 'UTC')).toBeNull();
  // Nepal is 5:45 ahead.
  expect(nightOf(at('2027-02-03T17:14:59Z'), 'Asia/Kathmandu')).toBeNull();
  expect(nightOf(at('2027-02-03T17:15:00Z'), 'Asia/Kathmandu')).toBe('2027-02-03');
});

test('a night is what the clock on the wall says, in any zone, also when the clocks change', () => {
  const zones = [
    'UTC',
    'Europe/Amsterdam',
    'America/St_Johns',
    'Australia/Lord_Howe',
    'Pacific/Apia',
    'Asia/Kathmandu',
  ];
  const nightOf = nightFinder();
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 4_102_444_800 }), fc.constantFrom(...zones), (seconds, zone) => {
      const local = Temporal.Instant.fromEpochMilliseconds(seconds * 1_000).toZonedDateTimeISO(zone);
      const isNight = local.hour >= 23 || local.hour < 7;
      const day = local.hour < 7 ? local.toPlainDate().subtract({ days: 1 }) : local.toPlainDate();
      expect(nightOf(seconds * 1_000, zone)).toBe(isNight ? day.toString() : null);
    }),
  );
});
