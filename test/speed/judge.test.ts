import { expect, test } from 'vitest';

import { judge } from '#test/speed/judge.ts';

const KEPT = { ms: 10, calibrationMs: 5 };

test.each([
  ['as long as before', { ms: 10, calibrationMs: 5 }, KEPT, false],
  ['twice as long on a machine of half the speed', { ms: 20, calibrationMs: 10 }, KEPT, false],
  ['more than twice as long', { ms: 22, calibrationMs: 5 }, KEPT, true],
  ['as long on a machine of three times the speed', { ms: 10, calibrationMs: 5 / 3 }, KEPT, true],
  ['too short to be measured', { ms: 0.9, calibrationMs: 5 }, { ms: 0.1, calibrationMs: 5 }, false],
  ['with no figure kept', { ms: 10, calibrationMs: 5 }, undefined, false],
])('work that takes %s is judged by its calibration', (_, timing, kept, isSlow) => {
  expect(judge('work', timing, kept).isSlow).toBe(isSlow);
});
