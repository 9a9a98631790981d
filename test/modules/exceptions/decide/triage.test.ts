import { describe, expect, test } from 'vitest';

import { parseEvent, serializeEvent } from '#modules/exceptions/decide/event.ts';
import { LEVELS } from '#modules/exceptions/decide/level.ts';
import { culpritOf } from '#modules/exceptions/decide/frames.ts';
import { isOlderRelease } from '#modules/releases/decide/release.ts';
import {
  isAtLeast,
  isHandled,
  onEventForGroup,
  trendOf,
  userKeyOf,
  worseLevel,
} from '#modules/exceptions/decide/triage.ts';
import { eventOf, exceptionOf, frameOf } from '#test/modules/exceptions/decide/sample_events.ts';

test('a level reaches every minimum up to itself', () => {
  for (const [i, level] of LEVELS.entries()) {
    for (const [j, minimum] of LEVELS.entries()) expect(isAtLeast(level, minimum)).toBe(i >= j);
  }
  expect(worseLevel('warning', 'fatal')).toBe('fatal');
  expect(worseLevel('error', 'info')).toBe('error');
});

describe('an event', () => {
  const from = (release: string | null) => ({ release });
  test.each([
    ['is new without a group', null, '1.0.0', 'new'],
    ['is known in an unresolved group', { status: 'unresolved', resolvedInRelease: null }, '1.0.0', 'known'],
    ['is ignored in an ignored group', { status: 'ignored', resolvedInRelease: null }, '9.0.0', 'ignored'],
    ['reopens a resolved group', { status: 'resolved', resolvedInRelease: null }, null, 'regression'],
    [
      'reopens it from the release it was resolved in',
      { status: 'resolved', resolvedInRelease: '1.2.0' },
      '1.2.0',
      'regression',
    ],
    ['reopens it from a newer release', { status: 'resolved', resolvedInRelease: '1.2.0' }, '1.10.0', 'regression'],
    [
      'reopens it from a release that cannot be compared',
      { status: 'resolved', resolvedInRelease: '1.2.0' },
      '4bf92f3',
      'regression',
    ],
    ['does not reopen it from an older release', { status: 'resolved', resolvedInRelease: '1.2.0' }, '1.1.9', 'known'],
  ] as const)('%s', (_case, group, release, decision) => {
    expect(onEventForGroup(group === null ? null : { ...group, fix: null }, from(release))).toBe(decision);
  });
});

test.each([
  ['1.2.3', '1.2.4', true],
  ['1.9.0', '1.10.0', true],
  ['v1.2', '1.2.1', true],
  ['1.2.3.4', '1.2.3.5', true],
  ['shop@1.2.3', 'shop@2.0.0+build.7', true],
  ['1.0.0-alpha', '1.0.0-alpha.1', true],
  ['1.0.0-alpha.1', '1.0.0-alpha.beta', true],
  ['1.0.0-beta.2', '1.0.0-beta.11', true],
  ['1.0.0-rc.1', '1.0.0', true],
  ['1.0.0+a', '1.0.0+b', false],
  ['1.0.0', '1.0.0', false],
  ['1.0.0', '1.0.0-rc.1', false],
  ['2.0.0', '1.0.0', false],
  ['shop@1.0.0', 'web@2.0.0', false],
  ['shop@1.0.0', '2.0.0', false],
  ['4bf92f3577b34da6a3ce929d0e0e4736', '1.0.0', false],
  ['release-1', '1.0.0', false],
  ['', '1.0.0', false],
  [null, '1.0.0', false],
  ['1.0.0', null, false],
])('%j is older than %j: %s', (a, b, expected) => {
  expect(isOlderRelease(a, b)).toBe(expected);
});

test.each([
  [0, 0, { direction: 'quiet', changePercent: null }],
  [0, 4, { direction: 'quiet', changePercent: -100 }],
  [5, 0, { direction: 'new', changePercent: null }],
  [110, 100, { direction: 'steady', changePercent: 10 }],
  [120, 100, { direction: 'steady', changePercent: 20 }],
  [121, 100, { direction: 'rising', changePercent: 21 }],
  [40, 100, { direction: 'falling', changePercent: -60 }],
])('%i events after %i are %j', (thisWeek, weekBefore, trend) => {
  expect(trendOf(thisWeek, weekBefore)).toEqual(trend);
});

test('an event is unhandled if any exception of it was, unknown if nobody said', () => {
  const handled = (...answers: (boolean | null)[]) =>
    isHandled(
      eventOf({
        exceptions: answers.map((handled) =>
          exceptionOf('E', null, { mechanism: { type: null, handled, synthetic: false } }),
        ),
      }),
    );
  expect(handled(true, true)).toBe(true);
  expect(handled(false, true)).toBe(false);
  expect(handled(true, null)).toBeNull();
  expect(handled()).toBeNull();
});

test('users are told apart by the best identity there is', () => {
  const key = (user: Partial<NonNullable<ReturnType<typeof eventOf>['user']>>) =>
    userKeyOf(eventOf({ user: { id: null, email: null, username: null, ip: null, ...user } }));
  expect(key({ id: '7', email: 'a@b.co' })).toBe('id:7');
  expect(key({ email: 'A@b.co', ip: '::1' })).toBe('email:a@b.co');
  expect(key({ ip: '192.0.2.7' })).toBe('ip:192.0.2.7');
  expect(key({})).toBeNull();
  expect(userKeyOf(eventOf())).toBeNull();
});

describe('the culprit', () => {
  const library = frameOf({ module: 'django', function: 'get', inApp: false });
  const frame = frameOf({ module: 'shop', function: 'sell', inApp: true });
  const deeper = frameOf({ module: 'shop', function: 'charge', inApp: true });

  test('is the deepest call of the application in the exception that reached the client', () => {
    const exceptions = [
      exceptionOf('A', null, { frames: [deeper] }),
      exceptionOf('B', null, { frames: [frame, library] }),
    ];
    expect(culpritOf(eventOf({ exceptions }))).toEqual({ label: 'sell (shop)', inApp: true, frame: frame });
  });

  test('is looked for in its causes, then in the thread, then outside the application', () => {
    const cause = exceptionOf('A', null, { frames: [deeper] });
    const outer = exceptionOf('B', null, { frames: [library] });
    const thread = { id: null, name: null, crashed: false, frames: [frame] };
    expect(culpritOf(eventOf({ exceptions: [cause, outer], thread }))?.frame).toBe(deeper);
    expect(culpritOf(eventOf({ exceptions: [outer], thread }))?.frame).toBe(frame);
    expect(culpritOf(eventOf({ exceptions: [outer] }))).toMatchObject({ inApp: false, frame: library });
    expect(culpritOf(eventOf())).toBeNull();
  });
});

test('an event survives the queue', () => {
  const event = eventOf({ tags: { a: '1' }, extra: { b: [1, null] }, exceptions: [exceptionOf('E', 'x')] });
  expect(parseEvent(serializeEvent(event))).toEqual(event);
});
