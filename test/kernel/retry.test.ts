import { describe, expect, test } from 'vitest';

import { AppError, isNotConnected, isUnavailable, isUnreachable } from '#kernel/errors.ts';
import { retry, retryWhileUnavailable } from '#kernel/promises.ts';

const away = () => new AppError('unavailable', 'the store does not answer');

/** Fails with each of the errors, one after another, and then succeeds. */
function failing(...errors: readonly Error[]) {
  const rest = errors.values();
  let tries = 0;
  return {
    get tries() {
      return tries;
    },
    run: async (): Promise<string> => {
      tries += 1;
      const { value } = rest.next();
      if (value !== undefined) throw value;
      return 'done';
    },
  };
}

describe('retry', () => {
  test('work is done again while a store does not answer, and each failure is reported', async () => {
    const work = failing(away(), away());
    const failures: unknown[] = [];
    const options = { pauseMs: 0, timeoutMs: 60_000, onFailure: (error: unknown) => failures.push(error) };
    expect(await retryWhileUnavailable(work.run, options)).toBe('done');
    expect(work.tries).toBe(3);
    expect(failures).toHaveLength(2);
  });

  test('an error that another try cannot mend is thrown at once', async () => {
    const work = failing(new AppError('conflict', 'no'));
    await expect(retryWhileUnavailable(work.run, { pauseMs: 0, timeoutMs: 60_000 })).rejects.toThrow('no');
    expect(work.tries).toBe(1);
  });

  test('the last error is thrown when the time is over', async () => {
    const work = failing(...Array.from({ length: 1_000 }, away));
    await expect(retry(work.run, { mayRetry: () => true, pauseMs: 1, timeoutMs: 200 })).rejects.toThrow(
      'does not answer',
    );
    expect(work.tries).toBeGreaterThan(1);
    expect(work.tries).toBeLessThan(1_000);
  });
});

const withCode = (code: string) => Object.assign(new Error('socket'), { code });

test.each([
  ['ECONNREFUSED', true, true],
  ['ENOTFOUND', true, true],
  ['EAI_AGAIN', true, true],
  ['ECONNRESET', false, true],
  ['ETIMEDOUT', false, true],
  ['23505', false, false],
])('a fault with code %s: never connected %s, unreachable %s', (code, neverConnected, unreachable) => {
  expect(isNotConnected(withCode(code))).toBe(neverConnected);
  expect(isUnreachable(withCode(code))).toBe(unreachable);
});

test('only our own `unavailable` says that something is unavailable', () => {
  expect([away(), new AppError('internal', 'x'), withCode('ECONNREFUSED'), null].map(isUnavailable)).toEqual([
    true,
    false,
    false,
    false,
  ]);
});
