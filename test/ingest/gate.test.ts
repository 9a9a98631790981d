import { expect, test } from 'vitest';

import { Gate } from '#ingest/gate.ts';

test('a gate lets only so many run at once, in turn, also when some of them fail', async () => {
  const gate = new Gate(2);
  const order: number[] = [];
  let running = 0;
  let runningMax = 0;
  const results = await Promise.allSettled(
    Array.from({ length: 20 }, (_, index) =>
      gate.run(async () => {
        running += 1;
        runningMax = Math.max(runningMax, running);
        order.push(index);
        await new Promise((resolve) => setImmediate(resolve));
        running -= 1;
        if (index % 3 === 0) throw new Error('no');
      }),
    ),
  );
  expect(runningMax).toBe(2);
  expect(order).toEqual(Array.from({ length: 20 }, (_, index) => index));
  expect(results.filter(({ status }) => status === 'rejected')).toHaveLength(7);
});
