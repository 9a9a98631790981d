import { expect, test } from 'vitest';

import { runLimited } from '#console/pages/incidents/run_limited.ts';

test('at most four requests run at a time, and each id has one', async () => {
  const ids = Array.from({ length: 11 }, (_, index) => `incident_${index}`);
  const started: string[] = [];
  let running = 0;
  let peak = 0;
  const { done, failures } = await runLimited(ids, async (id) => {
    started.push(id);
    running += 1;
    peak = Math.max(peak, running);
    await Promise.resolve();
    running -= 1;
    return id;
  });
  expect([peak, failures, done, started]).toEqual([4, [], ids, ids]);
});

test('a failure is reported and does not stop the others', async () => {
  const refusal = new Error('refused');
  const { done, failures } = await runLimited(['a', 'b', 'c'], async (id) => {
    if (id === 'b') throw refusal;
    return id;
  });
  expect({ done, failures }).toEqual({ done: ['a', 'c'], failures: [refusal] });
});
