import { expect, test } from 'vitest';

import { waitForAll, withTimeout } from '#kernel/promises.ts';

const never = new Promise<string>(() => {});

test('work that ends in time gives its own result, or its own error', async () => {
  expect(await withTimeout(Promise.resolve('done'), 60_000, () => 'late')).toBe('done');
  await expect(withTimeout(Promise.reject(new Error('wrong')), 60_000, () => 'late')).rejects.toThrow('wrong');
});

test('work that takes too long gives what `onTimeout` returns or throws', async () => {
  expect(await withTimeout(never, 1, () => 'late')).toBe('late');
  const thrown = withTimeout(never, 1, () => {
    throw new Error('too late');
  });
  await expect(thrown).rejects.toThrow('too late');
});

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
