import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';

import { KeyCache, KeyReads } from '#auth/key_cache.ts';
import { AppError } from '#kernel/errors.ts';
import { silentLog } from '#kernel/log.ts';
import { type TestClock, testClock } from '#test/kit/clock.ts';
import { nextTurn } from '#kernel/cooperative_task.ts';
import { happenings } from '#test/kit/when.ts';

interface Target {
  readonly name: string;
}

const hashOf = (key: string) => Buffer.from(key);

let clock: TestClock;
let known: Map<string, Target>;
let queries: string[][];
let fault: Error | null;
let cache: KeyCache<Target>;

beforeEach(() => {
  clock = testClock();
  known = new Map([['good', { name: 'first' }]]);
  queries = [];
  fault = null;
  cache = new KeyCache<Target>({
    clock,
    log: silentLog,
    async findMany(hashes) {
      const keys = hashes.map(String);
      queries.push(keys);
      if (fault !== null) throw fault;
      return keys.flatMap((key) => {
        const target = known.get(key);
        return target === undefined ? [] : [{ ...target, hash: hashOf(key) }];
      });
    },
  });
});

const find = (key: string) => cache.find(hashOf(key));
const unavailable = new AppError('unavailable', 'away');

test('a key in use is looked up twice a second, not once a request', async () => {
  for (let i = 0; i < 100; i += 1) {
    expect(await find('good')).toMatchObject({ name: 'first' });
    clock.advance({ milliseconds: 20 });
  }
  expect(queries.length).toBeLessThanOrEqual(5);
});

test('a change is seen within a second, however often the key is used', async () => {
  await find('good');
  known.delete('good');
  const changedAt = clock.now();
  while ((await find('good')) !== null) clock.advance({ milliseconds: 10 });
  expect(clock.now().since(changedAt).total('milliseconds')).toBeLessThan(1_000);
});

test('a change is seen within a second by a key that was not used in between', async () => {
  await find('good');
  known.set('good', { name: 'second' });
  clock.advance({ milliseconds: 900 });
  expect(await find('good')).toMatchObject({ name: 'second' });
});

test('a bad key is not looked up at each request, and works within a second of becoming good', async () => {
  for (let i = 0; i < 10; i += 1) expect(await find('bad')).toBeNull();
  expect(queries).toHaveLength(1);
  known.set('bad', { name: 'new' });
  clock.advance({ milliseconds: 900 });
  expect(await find('bad')).toMatchObject({ name: 'new' });
});

test('lookups at the same time share one query', async () => {
  const targets = await Promise.all(['good', 'bad', 'good', 'worse'].map(find));
  expect(targets.map((target) => target?.name)).toEqual(['first', undefined, 'first', undefined]);
  expect(queries).toEqual([['good', 'bad', 'worse']]);
});

test('guessed keys never push out good ones', async () => {
  await find('good');
  for (let i = 0; i < 25; i += 1) {
    await Promise.all(Array.from({ length: 1_000 }, (_, guess) => find(`guess ${i} ${guess}`)));
  }
  queries = [];
  expect(await find('good')).toMatchObject({ name: 'first' });
  expect(queries).toEqual([]);
});

describe('while the database is away', () => {
  test('a key that was good stays good for a minute, and then nothing is known of it', async () => {
    await find('good');
    fault = unavailable;
    for (let second = 1; second <= 60; second += 1) {
      clock.advance({ seconds: 1 });
      expect(await find('good'), `after ${second} s`).toMatchObject({ name: 'first' });
    }
    clock.advance({ seconds: 1 });
    await expect(find('good')).rejects.toBe(unavailable);
  });

  test('a key that was not known cannot be judged', async () => {
    fault = unavailable;
    await expect(find('good')).rejects.toBe(unavailable);
  });

  test('a key that was bad is not taken for a good one', async () => {
    expect(await find('bad')).toBeNull();
    clock.advance({ seconds: 1 });
    fault = unavailable;
    await expect(find('bad')).rejects.toBe(unavailable);
  });

  test('it is asked a few times a second, however much is sent', async () => {
    await find('good');
    fault = unavailable;
    queries = [];
    for (let i = 0; i < 1_000; i += 1) {
      clock.advance({ milliseconds: 10 });
      await find('good');
    }
    expect(queries.length).toBeLessThanOrEqual(50);
  });

  test('a key that was revoked meanwhile stops as soon as the database answers again', async () => {
    await find('good');
    fault = unavailable;
    clock.advance({ seconds: 10 });
    await find('good');
    known.delete('good');
    fault = null;
    clock.advance({ seconds: 1 });
    // Whoever comes first has it asked.
    await find('good');
    await nextTurn();
    expect(await find('good')).toBeNull();
  });

  test('a database that hangs counts as away for good keys', async () => {
    onTestFinished(clock.beImpatient(0.01));
    const slow = new KeyCache<Target>({
      clock,
      log: silentLog,
      findMany: vi
        .fn<() => Promise<(Target & { hash: Buffer })[]>>()
        .mockResolvedValueOnce([{ name: 'first', hash: hashOf('good') }])
        .mockReturnValue(new Promise(() => {})),
    });
    await slow.find(hashOf('good'));
    clock.advance({ seconds: 2 });
    expect(await slow.find(hashOf('good'))).toMatchObject({ name: 'first' });
  });
});

test('a fault that is no absence is not covered up', async () => {
  await find('good');
  clock.advance({ seconds: 2 });
  fault = new Error('column does not exist');
  await expect(find('good')).rejects.toThrow('column does not exist');
});

describe('keys that are read anew for each request', () => {
  /** Reads that are answered when the test says so, with what is known when they began. */
  function openReads() {
    const {
      all: asked,
      happen: ask,
      reach: nextQuery,
    } = happenings<{ readonly keys: readonly string[]; answer(): void }>();
    const reads = new KeyReads<Target>(async (hashes) => {
      const keys = hashes.map(String);
      const answers = keys.flatMap((key) => {
        const target = known.get(key);
        return target === undefined ? [] : [{ ...target, hash: hashOf(key) }];
      });
      const { promise, resolve } = Promise.withResolvers<void>();
      ask({ keys, answer: resolve });
      await promise;
      return answers;
    });
    return { reads, asked, nextQuery };
  }

  test('share one query if they arrive together', async () => {
    const { reads, asked, nextQuery } = openReads();
    const reading = Promise.all(['good', 'bad', 'good'].map((key) => reads.find(hashOf(key))));
    await nextQuery(1);
    asked[0]?.answer();
    expect((await reading).map((target) => target?.name)).toEqual(['first', undefined, 'first']);
    expect(asked.map(({ keys }) => keys)).toEqual([['good', 'bad']]);
  });

  test('open nothing once the key is revoked, although a query from before is under way', async () => {
    const { reads, asked, nextQuery } = openReads();
    const before = reads.find(hashOf('good'));
    await nextQuery(1);
    known.delete('good');
    const after = reads.find(hashOf('good'));
    asked[0]?.answer();
    expect(await before).toMatchObject({ name: 'first' });
    await nextQuery(2);
    asked[1]?.answer();
    expect(await after).toBeNull();
  });

  test('do not wait for a query whose connection is lost, and still ask one at a time when it answers late', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const { reads, asked, nextQuery } = openReads();
    const late = reads.find(hashOf('good'));
    await nextQuery(1);
    const next = reads.find(hashOf('good'));
    vi.advanceTimersByTime(50);
    await nextQuery(2);
    const last = reads.find(hashOf('good'));
    asked[0]?.answer();
    expect(await late).toMatchObject({ name: 'first' });
    await nextTurn();
    await nextTurn();
    expect(asked).toHaveLength(2);
    asked[1]?.answer();
    expect(await next).toMatchObject({ name: 'first' });
    await nextQuery(3);
    asked[2]?.answer();
    expect(await last).toMatchObject({ name: 'first' });
  });

  test('fail with their query, and only with theirs', async () => {
    let isAway = true;
    const reads = new KeyReads<Target>(async () => {
      if (isAway) throw unavailable;
      return [{ name: 'first', hash: hashOf('good') }];
    });
    await expect(reads.find(hashOf('good'))).rejects.toBe(unavailable);
    isAway = false;
    expect(await reads.find(hashOf('good'))).toMatchObject({ name: 'first' });
  });
});
