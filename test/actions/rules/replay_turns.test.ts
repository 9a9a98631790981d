import { expect, test } from 'vitest';

import { createMaintenance } from '#actions/rules/create_maintenance.ts';
import { replayRule } from '#actions/rules/replay_rule.ts';
import { givenMetrics } from '#test/kit/given_metrics.ts';
import { memberCaller, runOperation } from '#test/kit/run_operation.ts';
import { world } from '#test/kit/world.ts';

const DAYS = 4;
const WINDOWS = 30;

/** The processor's time of this thread, by turns of the event loop, while something is done. */
async function measureTurns(work: () => Promise<void>): Promise<{ longestMs: number; totalMs: number }> {
  const used = () => {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1_000;
  };
  const begin = used();
  let [last, longestMs, isOver] = [begin, 0, false];
  const look = (): void => {
    const now = used();
    longestMs = Math.max(longestMs, now - last);
    last = now;
    if (!isOver) setImmediate(look);
  };
  setImmediate(look);
  await work();
  look();
  isOver = true;
  return { longestMs, totalMs: used() - begin };
}

test('a replay of many incidents among many maintenance windows is done in turns of the event loop', async () => {
  const w = await world();
  w.clock.set('2027-03-10T12:00:00Z');
  const { serviceId } = await w.given.service();
  const value = (step: number) => (step % 40 < 20 ? 900 : 100);
  await givenMetrics(w, serviceId, { name: 'latency', minutes: DAYS * 1_440, everySeconds: 60, value });
  const { teamId } = await w.expectOk('create_team', { name: 'Platform' });
  const userIds = [(await w.given.user()).userId, (await w.given.user()).userId];
  for (let count = 0; count < 5; count += 1) {
    await w.expectOk('create_schedule', {
      teamId,
      name: `Hours ${count}`,
      timezone: 'Europe/Brussels',
      rotationType: 'daily',
      rotationConfig: { userIds, shiftHours: 1 },
    });
  }
  const steps = Array.from({ length: 10 }, (_, index) => ({
    afterMinutes: index,
    channels: ['email'],
    useSchedule: true,
  }));
  const { policyId } = await w.expectOk('create_escalation_policy', { teamId, name: 'All', steps });
  const asEditor = memberCaller(w.orgId, w.owner.userId, 'editor');
  for (let count = 0; count < WINDOWS; count += 1) {
    await runOperation(w, createMaintenance, asEditor, {
      name: `Window ${count}`,
      target: { serviceId },
      startsAt: '2027-02-01T00:00:00Z',
      recurrence: { weekdays: [1, 2, 3, 4, 5, 6, 7], startTime: '02:00', minutes: 5 },
      timezone: 'Europe/Brussels',
    });
  }
  const input = {
    serviceId,
    metricName: 'latency',
    aggregation: 'avg',
    windowMinutes: 1,
    comparator: '>',
    threshold: 500,
    escalationPolicyId: policyId,
    settings: { repageMinutes: 5 },
    days: DAYS,
  };
  const { longestMs, totalMs } = await measureTurns(async () => {
    const { incidentCount, forgotten } = await runOperation(w, replayRule, asEditor, input);
    expect(incidentCount).toBeGreaterThan(100);
    expect(forgotten).not.toBeNull();
  });
  console.log(`${totalMs.toFixed(0)} ms of the processor's time, at most ${longestMs.toFixed(0)} in one turn`);
  expect(longestMs * 5).toBeLessThan(totalMs);
});
