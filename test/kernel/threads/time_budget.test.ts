import { expect, test } from 'vitest';

import { TimeBudget } from '#kernel/threads/run_with_time_limit.ts';
import { Temporal } from '#kernel/time.ts';

test('working time that was used up comes back with the minute, for each organization by itself', () => {
  let nowMs = 1_000_000;
  const budget = new TimeBudget(5_000, { now: () => Temporal.Instant.fromEpochMilliseconds(nowMs) });
  budget.spend('busy', 4_000);
  expect(budget.secondsToWait('busy')).toBe(0);
  budget.spend('busy', 6_000);
  expect(budget.secondsToWait('busy')).toBe(60);
  expect(budget.secondsToWait('quiet')).toBe(0);
  nowMs += 30_000;
  expect(budget.secondsToWait('busy')).toBe(30);
  nowMs += 31_000;
  expect(budget.secondsToWait('busy')).toBe(0);
  nowMs += 600_000;
  budget.spend('busy', 5_001);
  expect(budget.secondsToWait('busy'), 'nothing more is saved up than a minute').toBe(1);
});
