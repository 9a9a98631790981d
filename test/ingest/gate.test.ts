import { expect, test } from 'vitest';

import { Gate } from '#ingest/gate.ts';

const soon = () => new Promise((resolve) => setImmediate(resolve));

test('a gate lets only so many run at once, in turn, also when some of them fail', async () => {
  const gate = new Gate({ places: 2, placesOfOne: 2 });
  const order: number[] = [];
  let running = 0;
  let runningMax = 0;
  const results = await Promise.allSettled(
    Array.from({ length: 20 }, (_, index) =>
      gate.run('a', async () => {
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

test('an owner whose work takes long does not hold up the others', async () => {
  const gate = new Gate({ places: 2, placesOfOne: 1 });
  const { promise, resolve: finish } = Promise.withResolvers<void>();
  const slow = [1, 2, 3].map(() => gate.run('slow', () => promise));
  for (let index = 0; index < 10; index += 1) expect(await gate.run('quick', async () => index)).toBe(index);
  finish();
  await Promise.all(slow);
  expect(await gate.run('slow', async () => 'again')).toBe('again');
});
