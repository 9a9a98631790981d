import { expect, test } from 'vitest';

import { createObjective, previewObjective } from '#modules/rules/operations/objectives.ts';
import { runStorePoints } from '#test/kit/ingest_jobs.ts';
import { memberCaller, runOperation } from '#test/kit/run_operation.ts';
import { world } from '#test/kit/world.ts';
import { workerRuntime } from '#workers/worker_role.ts';

test('an objective shows its budget, and makes both rules or neither', async () => {
  const w = await world();
  const { serviceId } = await w.given.service();
  const at = w.clock.now();
  const points = [
    { name: 'requests', at, value: 2_000, kind: 'delta' as const },
    { name: 'failures', at, value: 1, kind: 'delta' as const },
  ];
  await runStorePoints(workerRuntime(w.context), serviceId, points);
  const as = memberCaller(w.orgId, w.owner.userId, 'editor');
  const objective = {
    serviceId,
    badMetric: 'failures',
    totalMetric: 'requests',
    objectivePercent: 99.9,
    days: 30,
    trafficAtLeast: 100,
  };
  const { rules, budget } = await runOperation(w, previewObjective, as, objective);
  expect(rules.map(({ burnRate }: { burnRate: number }) => burnRate)).toEqual([14.4, 6]);
  expect(budget).toEqual({ goodPercent: expect.closeTo(99.95), leftPercent: expect.closeTo(50) });

  const wanted = { ...objective, name: 'Checkout', escalationPolicyId: null };
  const refused = runOperation(w, createObjective, as, { ...wanted, objectivePercent: 100 });
  await expect(refused).rejects.toThrow('leaves no budget');
  expect((await w.expectOk('get_service', { serviceId })).alertRules).toEqual([]);
  await runOperation(w, createObjective, as, wanted);
  expect((await w.expectOk('get_service', { serviceId })).alertRules).toMatchObject([
    { name: 'Checkout burns fast', config: { windowMinutes: 60 }, settings: { shortWindowMinutes: 5 } },
    { name: 'Checkout burns steadily', config: { windowMinutes: 360 }, settings: { trafficAtLeast: 100 } },
  ]);
});
