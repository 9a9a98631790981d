import fc from 'fast-check';
import { expect, test } from 'vitest';

import { decideStorm } from '#core/oncall/storm.ts';
import { isAtOrBefore, type Temporal } from '#kernel/time.ts';
import { at } from '#test/core/oncall/given_rotation.ts';

const T0 = at('2026-03-01T09:00:00Z');

const second = (seconds: number): Temporal.Instant => T0.add({ seconds });

const decide = (sentSeconds: readonly number[], nowSecond: number, digestSecond: number | null = null) =>
  decideStorm(
    { sentAt: sentSeconds.map(second), digestDueAt: digestSecond === null ? null : second(digestSecond) },
    second(nowSecond),
  );

test('three messages within a minute go out, the fourth waits for a digest', () => {
  expect(decide([], 0)).toEqual({ kind: 'send' });
  expect(decide([0, 10], 20)).toEqual({ kind: 'send' });
  expect(decide([0, 10, 20], 30)).toEqual({ kind: 'fold', digestDueAt: second(60) });
  expect(decide([20, 0, 10], 30)).toEqual({ kind: 'fold', digestDueAt: second(60) });
});

test('a message exactly a minute ago no longer counts', () => {
  expect(decide([0, 10, 20], 60)).toEqual({ kind: 'send' });
  expect(decide([0, 10, 20], 59)).toEqual({ kind: 'fold', digestDueAt: second(60) });
});

test('everything new joins a digest that waits, even one that is late', () => {
  expect(decide([0, 1, 2], 40, 60)).toEqual({ kind: 'fold', digestDueAt: second(60) });
  expect(decide([], 90, 60)).toEqual({ kind: 'fold', digestDueAt: second(60) });
});

test('nobody gets more than three messages in any minute, and no message waits longer than a minute', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 20_000 }), { maxLength: 60 }), (gapsMs) => {
      const sent: Temporal.Instant[] = [];
      const waits: number[] = [];
      let digestDueAt: Temporal.Instant | null = null;
      let now = T0;
      for (const gapMs of gapsMs) {
        now = now.add({ milliseconds: gapMs });
        if (digestDueAt !== null && isAtOrBefore(digestDueAt, now)) {
          sent.push(digestDueAt);
          digestDueAt = null;
        }
        const decision = decideStorm({ sentAt: sent, digestDueAt }, now);
        if (decision.kind === 'send') sent.push(now);
        else digestDueAt = decision.digestDueAt;
        waits.push(decision.kind === 'send' ? 0 : decision.digestDueAt.epochMilliseconds - now.epochMilliseconds);
      }
      const spans = sent.slice(3).map((fourth, index) => fourth.epochMilliseconds - sent[index]!.epochMilliseconds);
      expect(spans.filter((span) => span < 60_000)).toEqual([]);
      expect(waits.filter((wait) => wait < 0 || wait > 60_000)).toEqual([]);
    }),
  );
});
