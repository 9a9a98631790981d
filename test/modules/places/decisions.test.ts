import { expect, test } from 'vitest';

import { afterAttempt, type PlaceHealth, type PlaceOutcome } from '#modules/places/decide/delivery.ts';
import { placeEventOf } from '#modules/places/decide/place_content.ts';
import { takesIncident } from '#modules/places/decide/place_route.ts';
import { cursorAfter } from '#modules/places/decide/timeline_cursor.ts';
import { Temporal } from '#kernel/time.ts';
import { plainSlackText } from '#notify/places/slack.ts';

const NOW = Temporal.Instant.from('2027-02-03T02:00:00Z');
const WIRE = { body: '{}', status: 500, answer: '' };
const HEALTHY: PlaceHealth = {
  failures: 0,
  failingSince: null,
  lastFailure: null,
  lastSuccessAt: NOW,
  heldUntil: null,
};
const FAILED: PlaceOutcome = { kind: 'retry', reason: 'It cannot be reached.', ...WIRE };

test('the pause grows with each failure, and a place that names a time is given it', () => {
  const expiresAt = NOW.add({ hours: 24 });
  const pauses = [0, 1, 2, 3, 4, 50].map((tries) =>
    afterAttempt({ tries, expiresAt }, HEALTHY, FAILED, NOW).dueAt.since(NOW).total('seconds'),
  );
  expect(pauses).toEqual([5, 15, 60, 120, 300, 300]);
  const asked = afterAttempt({ tries: 0, expiresAt }, HEALTHY, { ...FAILED, afterMs: 90_000 }, NOW);
  expect(asked.dueAt.since(NOW).total('seconds')).toBe(90);
  expect(asked.health.heldUntil?.since(NOW).total('seconds')).toBe(90);
});

test('a delivery dies after a day of failures, and the place is switched off', () => {
  const old = { tries: 100, expiresAt: NOW };
  const place = { ...HEALTHY, failures: 100, failingSince: NOW.subtract({ hours: 24 }) };
  expect(afterAttempt(old, place, FAILED, NOW)).toMatchObject({ status: 'dead', switchesOff: true });
  const younger = { ...place, failingSince: NOW.subtract({ hours: 23, minutes: 59 }) };
  expect(afterAttempt({ tries: 1, expiresAt: NOW.add({ hours: 1 }) }, younger, FAILED, NOW)).toMatchObject({
    status: 'waiting',
    switchesOff: false,
  });
});

test('a success ends the failure of a place, and a refused message says nothing about it', () => {
  const failing = { ...HEALTHY, failures: 3, failingSince: NOW.subtract({ hours: 23 }) };
  const delivery = { tries: 2, expiresAt: NOW.add({ hours: 1 }) };
  expect(afterAttempt(delivery, failing, { kind: 'sent', reference: null, ...WIRE }, NOW)).toMatchObject({
    status: 'sent',
    health: { failures: 0, failingSince: null, heldUntil: null },
  });
  expect(afterAttempt(delivery, failing, { kind: 'refused', reason: 'Too long.', ...WIRE }, NOW)).toMatchObject({
    status: 'dead',
    health: { failures: 3, lastFailure: 'Too long.' },
  });
});

test('a route takes an incident when all that it names is true', () => {
  const incident = { serviceId: 's1', teamId: 't1', severity: 'error' };
  const any = { serviceId: null, teamId: null, atLeast: null };
  expect(takesIncident([any], incident)).toBe(true);
  expect(takesIncident([{ ...any, serviceId: 's2' }], incident)).toBe(false);
  expect(
    takesIncident(
      [
        { ...any, serviceId: 's2' },
        { ...any, teamId: 't1' },
      ],
      incident,
    ),
  ).toBe(true);
  expect(takesIncident([{ ...any, atLeast: 'error' }], incident)).toBe(true);
  expect(takesIncident([{ ...any, atLeast: 'fatal' }], incident)).toBe(false);
  expect(takesIncident([{ ...any, teamId: 't1' }], { ...incident, teamId: null })).toBe(false);
});

test('the first step is no news beside the trigger, and later steps are', () => {
  expect(placeEventOf('step_fired', { stepIndex: 0 })).toBeNull();
  expect(placeEventOf('step_fired', { stepIndex: 1 })).toBe('escalated');
  expect(placeEventOf('page_sent', {})).toBeNull();
});

test('the cursor waits before a number that may still be committed, and passes one that never will be', () => {
  const entry = (id: number, secondsAgo: number) => ({ id, at: NOW.subtract({ seconds: secondsAgo }) });
  expect(cursorAfter(4, [entry(5, 1), entry(6, 1)], NOW)).toBe(6);
  expect(cursorAfter(4, [entry(5, 1), entry(7, 1), entry(8, 1)], NOW)).toBe(5);
  expect(cursorAfter(4, [entry(5, 200), entry(7, 121), entry(8, 1)], NOW)).toBe(8);
  expect(cursorAfter(4, [], NOW)).toBe(4);
});

test.each([
  ['a &amp;lt; b', 'a &lt; b'],
  ['see <https://a.test/x?y=1&amp;z=2>', 'see https://a.test/x?y=1&z=2'],
  ['see <https://a.test|the page>', 'see the page (https://a.test)'],
  ['<http://a.test|a.test>', 'a.test'],
  ['<https://b.test/a.test|a.test>', 'a.test (https://b.test/a.test)'],
  ['<mailto:a@b.test|a@b.test>', 'a@b.test'],
  ['<@U1> <#C1|ops> <!here> <!subteam^S1|@dba> <!date^1^{date}|today>', '@U1 #ops @here @dba today'],
  ['<<<a', '<<<a'],
])('the text of Slack %j is read as %j', (sent, read) => {
  expect(plainSlackText(sent)).toBe(read);
});
