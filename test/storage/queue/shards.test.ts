import { expect, test } from 'vitest';

import { handsOverShare, groupShards, shardOwner, SHARDS, shardsOf } from '#storage/queue/shards.ts';
import { Temporal } from '#kernel/time.ts';
import fc from '#test/kit/properties.ts';

const members = fc.uniqueArray(fc.string({ minLength: 1, maxLength: 40 }), { minLength: 1, maxLength: 12 });
const shard = fc.integer({ min: 0, max: SHARDS - 1 });

test('each shard has exactly one owner, whatever the order in which the members are known', () => {
  fc.assert(
    fc.property(members, fc.infiniteStream(fc.double()), (names, random) => {
      const shuffled = names.toSorted(() => (random.next().value ?? 0) - 0.5);
      const shares = names.map((name) => shardsOf(name, shuffled));
      expect(shares.flat().toSorted((a, b) => a - b)).toEqual(Array.from({ length: SHARDS }, (_, index) => index));
    }),
    { numRuns: 50 },
  );
});

test('shards move only from one who goes, and only to one who comes', () => {
  fc.assert(
    fc.property(members, shard, (names, one) => {
      const [moved = '', ...others] = names;
      const [before, after] = [shardOwner(one, names), shardOwner(one, others)];
      expect(before === moved || before === after).toBe(true);
      expect(after === null).toBe(others.length === 0);
      expect(after).not.toBe(moved);
    }),
  );
});

test('processes have nearly equal shares', () => {
  for (const count of [2, 4, 8]) {
    const names = Array.from({ length: count }, (_, index) => `job_01jd${index}x7k3m`);
    for (const name of names)
      expect(Math.abs(shardsOf(name, names).length * count - SHARDS)).toBeLessThan(SHARDS / 2.5);
  }
});

test('one of whom the others do not know yet counts itself', () => {
  expect(shardsOf('new', [])).toHaveLength(SHARDS);
  expect(shardsOf('new', ['old']).length).toBeLessThan(SHARDS);
});

test('groups of shards have each shard once, and no more work than is wanted unless one shard has more', () => {
  const work = fc.dictionary(fc.integer({ min: 0, max: SHARDS - 1 }).map(String), fc.integer({ min: 1, max: 50 }));
  fc.assert(
    fc.property(work, fc.integer({ min: 1, max: 60 }), (found, workMax) => {
      const byPart = new Map(Object.entries(found).map(([name, own]) => [Number(name), own]));
      const groups = groupShards(byPart, workMax);
      expect(groups.flat()).toEqual([...byPart.keys()]);
      for (const group of groups) {
        expect(group.length).toBeGreaterThan(0);
        const sum = group.reduce((all, one) => all + (byPart.get(one) ?? 0), 0);
        expect(sum <= workMax || group.length === 1).toBe(true);
      }
    }),
  );
});

const now = Temporal.Instant.from('2026-11-22T12:00:00Z');
const ago = (seconds: number) => now.subtract({ seconds });

test.each([
  ['whose share is done', null, [ago(1)], false],
  ['whose share fails for a moment', ago(10), [ago(1)], false],
  ['whose share has failed for long, while others do theirs', ago(11), [null, ago(29)], true],
  ['whose share has failed for long, as those of all others', ago(60), [null, ago(31)], false],
  ['who is alone', ago(60), [], false],
])('a process %s', (_, failingSince, othersDoneAt, expected) => {
  expect(handsOverShare(failingSince, othersDoneAt, now)).toBe(expected);
});
