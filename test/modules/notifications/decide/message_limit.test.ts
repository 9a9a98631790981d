import fc from '#test/kit/properties.ts';
import { expect, test } from 'vitest';

import { limitMessages, type RecentMessage, type WaitingDigest } from '#modules/notifications/decide/message_limit.ts';
import { isAtOrBefore, type Temporal } from '#kernel/time.ts';
import { at } from '#test/modules/schedules/decide/given_rotation.ts';

const T0 = at('2026-03-01T09:00:00Z');
const WINDOW_MS = 60_000;

const second = (seconds: number): Temporal.Instant => T0.add({ seconds });

interface Given {
  readonly pages?: readonly number[];
  readonly notices?: readonly number[];
  readonly digests?: readonly WaitingDigest[];
}

const decide = (message: 'page' | 'notice', nowSecond: number, { pages = [], notices = [], digests = [] }: Given) =>
  limitMessages(
    message,
    {
      sent: [
        ...pages.map((seconds) => ({ at: second(seconds), carriesPage: true })),
        ...notices.map((seconds) => ({ at: second(seconds), carriesPage: false })),
      ],
      digests,
    },
    second(nowSecond),
  );

test('three pages within a minute go out, the fourth waits for a digest', () => {
  expect(decide('page', 0, {})).toEqual({ kind: 'send' });
  expect(decide('page', 20, { pages: [0, 10] })).toEqual({ kind: 'send' });
  expect(decide('page', 30, { pages: [0, 10, 20] })).toEqual({ kind: 'open_digest', dueAt: second(60) });
  expect(decide('page', 30, { pages: [20, 0, 10] })).toEqual({ kind: 'open_digest', dueAt: second(60) });
});

test('a message exactly a minute ago no longer counts', () => {
  expect(decide('page', 60, { pages: [0, 10, 20] })).toEqual({ kind: 'send' });
  expect(decide('page', 59, { pages: [0, 10, 20] })).toEqual({ kind: 'open_digest', dueAt: second(60) });
});

test('notices leave the room of pages alone, whether they have left or wait', () => {
  const digest = { dueAt: second(60), carriesPage: false };
  expect(decide('page', 30, { pages: [0], notices: [10, 20] })).toEqual({ kind: 'send' });
  expect(decide('page', 30, { notices: [0, 10, 20], digests: [digest] })).toEqual({ kind: 'send' });
  expect(decide('notice', 30, { pages: [0], notices: [10, 20] })).toEqual({ kind: 'open_digest', dueAt: second(60) });
  expect(decide('notice', 30, { digests: [digest] })).toEqual({ kind: 'join', digest });
});

test('everything new joins a digest with pages that waits, even one that is late', () => {
  const digest = { dueAt: second(60), carriesPage: true };
  expect(decide('page', 40, { pages: [0, 1, 2], digests: [digest] })).toEqual({ kind: 'join', digest });
  expect(decide('page', 90, { digests: [digest] })).toEqual({ kind: 'join', digest });
  expect(decide('notice', 40, { digests: [{ dueAt: second(50), carriesPage: false }, digest] })).toEqual({
    kind: 'join',
    digest,
  });
});

test('in any sequence of pages and notices no page waits that need not, nor anything longer than a minute', () => {
  const messages = fc.array(fc.tuple(fc.integer({ min: 0, max: 20_000 }), fc.constantFrom('page', 'notice')), {
    maxLength: 60,
  });
  fc.assert(
    fc.property(messages, (arriving) => {
      const sent: RecentMessage[] = [];
      let digests: WaitingDigest[] = [];
      const waitsMs: number[] = [];
      let now = T0;
      for (const [gapMs, message] of arriving) {
        now = now.add({ milliseconds: gapMs });
        const leaving = digests.filter(({ dueAt }) => isAtOrBefore(dueAt, now));
        sent.push(...leaving.map(({ dueAt, carriesPage }) => ({ at: dueAt, carriesPage })));
        digests = digests.filter((digest) => !leaving.includes(digest));

        const decision = limitMessages(message, { sent, digests }, now);
        const room =
          message === 'page' ? within(sent, now).filter(({ carriesPage }) => carriesPage) : within(sent, now);
        const mustWait = room.length >= 3 || (message === 'notice' && digests.length > 0);
        expect(decision.kind !== 'send').toBe(mustWait);
        if (decision.kind === 'send') sent.push({ at: now, carriesPage: message === 'page' });
        else {
          const digest = decision.kind === 'join' ? decision.digest : { dueAt: decision.dueAt, carriesPage: false };
          waitsMs.push(digest.dueAt.epochMilliseconds - now.epochMilliseconds);
          const joined = { ...digest, carriesPage: digest.carriesPage || message === 'page' };
          digests = [...digests.filter((other) => other !== digest), joined];
        }
        expect(digests.filter(({ carriesPage }) => carriesPage).length).toBeLessThanOrEqual(1);
        expect(digests.filter(({ carriesPage }) => !carriesPage).length).toBeLessThanOrEqual(1);
      }
      expect(waitsMs.filter((waitMs) => waitMs < 0 || waitMs > WINDOW_MS)).toEqual([]);
      expectAtMostThreeAMinute(sent.filter(({ carriesPage }) => carriesPage));
      expectAtMostThreeAMinute(sent.filter(({ carriesPage }) => !carriesPage));
    }),
  );
});

function within(sent: readonly RecentMessage[], now: Temporal.Instant): RecentMessage[] {
  return sent.filter(({ at: leftAt }) => now.epochMilliseconds - leftAt.epochMilliseconds < WINDOW_MS);
}

function expectAtMostThreeAMinute(sent: readonly RecentMessage[]): void {
  const times = sent.map(({ at: leftAt }) => leftAt.epochMilliseconds).toSorted((a, b) => a - b);
  const spans = times.slice(3).map((fourth, index) => fourth - times[index]!);
  expect(spans.filter((span) => span < WINDOW_MS)).toEqual([]);
}
