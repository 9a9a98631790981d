import { expect, test } from 'vitest';

import { KeyedLimit } from '#kernel/keyed_limit.ts';
import { nextTurn } from '#kernel/cooperative_task.ts';

const soon = () => new Promise((resolve) => setImmediate(resolve));

test('a keyed limit runs so many calls at the same time, in order, also when some of them fail', async () => {
  const limit = new KeyedLimit({ concurrency: 2, concurrencyPerKey: 2 });
  const order: number[] = [];
  let running = 0;
  let runningMax = 0;
  const results = await Promise.allSettled(
    Array.from({ length: 20 }, (_, index) =>
      limit.run('a', async () => {
        running += 1;
        runningMax = Math.max(runningMax, running);
        order.push(index);
        await soon();
        running -= 1;
        if (index % 3 === 0) throw new Error('no');
      }),
    ),
  );
  expect(runningMax).toBe(2);
  expect(order).toEqual(Array.from({ length: 20 }, (_, index) => index));
  expect(results.filter(({ status }) => status === 'rejected')).toHaveLength(7);
});

test('a key whose calls take long does not delay other keys', async () => {
  const limit = new KeyedLimit({ concurrency: 2, concurrencyPerKey: 1 });
  const { promise, resolve: finish } = Promise.withResolvers<void>();
  const slow = [1, 2, 3].map(() => limit.run('slow', () => promise));
  for (let index = 0; index < 10; index += 1) expect(await limit.run('quick', async () => index)).toBe(index);
  finish();
  await Promise.all(slow);
  expect(await limit.run('slow', async () => 'again')).toBe('again');
});

test('calls are counted while they run or wait, however many keys there are', async () => {
  const limit = new KeyedLimit({ concurrency: 2, concurrencyPerKey: 1 });
  const { promise, resolve: finish } = Promise.withResolvers<void>();
  const slow = [1, 2, 3].map(() => limit.run('slow', () => promise));
  for (let index = 0; index < 3_000; index += 1) await limit.run(`quick ${index}`, async () => {});
  expect([limit.countOf('slow'), limit.countOf('quick 0'), limit.countOf('unknown')]).toEqual([3, 0, 0]);
  finish();
  await Promise.all(slow);
  await nextTurn();
  expect(limit.countOf('slow')).toBe(0);
});
