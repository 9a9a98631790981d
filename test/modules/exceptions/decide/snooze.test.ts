import { expect, test } from 'vitest';

import { snoozeEndOf, snoozeFaults } from '#modules/exceptions/decide/snooze.ts';
import { Temporal } from '#kernel/time.ts';

const NOW = Temporal.Instant.from('2027-02-03T02:00:00Z');
const NOTHING = { events: 0, users: 0 };
const FOREVER = { until: null, events: null, users: null };

test.each([
  ['before its time', { until: NOW.add({ milliseconds: 1 }) }, NOTHING, null],
  ['at its time', { until: NOW }, NOTHING, 'time'],
  ['below its events', { events: 3 }, { events: 2, users: 9 }, null],
  ['at its events', { events: 3 }, { events: 3, users: 1 }, 'events'],
  ['below its users', { users: 2 }, { events: 9, users: 1 }, null],
  ['at its users', { users: 2 }, { events: 2, users: 2 }, 'users'],
  ['at the first of several', { until: NOW.add({ hours: 1 }), events: 3 }, { events: 4, users: 0 }, 'events'],
  ['at time and events at once', { until: NOW, events: 3 }, { events: 4, users: 0 }, 'time'],
] as const)('a snoozed group %s', (_when, snooze, progress, end) => {
  expect(snoozeEndOf({ ...FOREVER, ...snooze }, progress, NOW)).toBe(end);
});

test.each([
  ['without an end', FOREVER, 'say until when'],
  ['with an end that has passed', { ...FOREVER, until: NOW }, 'must be in the future'],
  ['for years', { ...FOREVER, until: NOW.add({ hours: 24 * 400 }) }, 'must be within 366 days'],
])('refuses a snooze %s', (_which, snooze, message) => {
  expect(snoozeFaults(snooze, NOW)).toMatchObject([{ path: 'until', message: expect.stringContaining(message) }]);
});

test('accepts a number of events alone', () => {
  expect(snoozeFaults({ ...FOREVER, events: 1 }, NOW)).toEqual([]);
});
