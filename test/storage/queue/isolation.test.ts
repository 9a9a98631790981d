import { beforeEach, describe, expect, test } from 'vitest';

import { AppError } from '#kernel/errors.ts';
import { isolateFaults } from '#storage/queue/isolation.ts';

const items = Array.from({ length: 20 }, (_, index) => index);

let done: Set<number>;
beforeEach(() => {
  done = new Set();
});

/** Work that fails for any part holding an item of `faults`, with that item's error. */
function workFailing(faults: Record<number, Error>) {
  return async (part: readonly number[]): Promise<void> => {
    const fault = part.map((item) => faults[item]).find((error) => error !== undefined);
    if (fault !== undefined) throw fault;
    for (const item of part) done.add(item);
  };
}

const refused = Object.assign(new Error('invalid byte sequence'), { code: '22021' });
const deadlock = Object.assign(new Error('deadlock detected'), { code: '40P01' });

test('an item that the store rejects is isolated, and all others are processed', async () => {
  const given = await isolateFaults(items, 2, workFailing({ 3: refused, 17: refused }));
  expect(given.map(({ item }) => item)).toEqual([3, 17]);
  expect(done.size).toBe(18);
});

test('one item alone is given up when the store refuses its content', async () => {
  expect(await isolateFaults([3], 2, workFailing({ 3: refused }))).toMatchObject([{ item: 3, error: refused }]);
});

describe('a fault that is not about content', () => {
  test('is tried again, with everything else done', async () => {
    await expect(isolateFaults(items, 2, workFailing({ 3: deadlock }))).rejects.toBe(deadlock);
    expect(done.size).toBe(19);
  });

  test('is given up at the tenth attempt when others go through', async () => {
    expect(await isolateFaults(items, 10, workFailing({ 3: deadlock }))).toMatchObject([{ item: 3 }]);
  });

  test('is never given up when nothing goes through, and is not tried for each item', async () => {
    let calls = 0;
    const fail = async () => {
      calls += 1;
      throw deadlock;
    };
    await expect(isolateFaults(Array.from({ length: 1_000 }), 500, fail)).rejects.toBe(deadlock);
    expect(calls).toBeLessThan(50);
  });
});

test('a store that is away ends it at once', async () => {
  let calls = 0;
  const unavailable = new AppError('unavailable', 'away');
  const work = async () => {
    calls += 1;
    throw unavailable;
  };
  await expect(isolateFaults(items, 2, work)).rejects.toBe(unavailable);
  expect(calls).toBe(1);
});
