import { expect, test } from 'vitest';

import { runWithTimeLimit, TimeLimitExceeded } from '#kernel/threads/run_with_time_limit.ts';

/** Takes no processor, as where others of a busy machine have them all. */
function wait(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}

test('work that takes longer than its limit is stopped', () => {
  const endless = (): void => {
    for (;;);
  };
  expect(() => runWithTimeLimit(40, endless)).toThrow(TimeLimitExceeded);
});

test('work that a busy machine kept waiting is run again, three times in all', () => {
  const runs = { ended: 0, givenUp: 0 };
  const once = (): string => {
    runs.ended += 1;
    if (runs.ended === 1) wait(60_000);
    return 'done';
  };
  expect(runWithTimeLimit(40, once)).toBe('done');
  expect(runs.ended).toBe(2);
  const never = (): void => {
    runs.givenUp += 1;
    wait(60_000);
  };
  expect(() => runWithTimeLimit(10, never)).toThrow(TimeLimitExceeded);
  expect(runs.givenUp).toBe(3);
});
