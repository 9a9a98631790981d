import { expect, test } from 'vitest';

import { waitForAll } from '#kernel/promises.ts';

test('the first failure is thrown once all have ended', async () => {
  const { promise: slow, resolve: end } = Promise.withResolvers<void>();
  let isSettled = false;
  const settling = waitForAll([Promise.reject(new Error('first')), slow, Promise.reject(new Error('second'))]).finally(
    () => (isSettled = true),
  );
  settling.catch(() => {});
  await new Promise((resolve) => setImmediate(resolve));
  expect(isSettled).toBe(false);
  end();
  await expect(settling).rejects.toThrow('first');
});
