import { expect, test } from 'vitest';

import type { Id } from '#kernel/ids.ts';
import { type PointInput, runStorePoints } from '#test/kit/ingest_jobs.ts';
import { delayPoints } from '#test/kit/metrics/delayed_points.ts';
import { setOfRule } from '#test/kit/metrics/rule_settings.ts';
import { type StaffedWorld, staffedWorld } from '#test/kit/staffed_world.ts';
import { evaluateRules } from '#workers/evaluate_rules.ts';

interface Watched {
  readonly serviceId: Id<'service'>;
  readonly ruleId: Id<'rule'>;
}

/** A rule over 5 minutes (the greatest latency above 100) that pages one person by SMS. */
async function watched(w: StaffedWorld, config = {}): Promise<Watched> {
  const [teamId, anna] = await w.staff.teamOf('Anna');
  w.phone.addFault({ kind: 'callback_lost', number: anna.phone });
  const steps = [{ afterMinutes: 0, channels: ['sms'], targetUserIds: [anna.userId] }] as const;
  const { serviceId, ruleId } = await w.staff.alert(teamId, steps, {
    config: { metricName: 'latency', comparator: '>', threshold: 100, aggregation: 'max', ...config },
  });
  return { serviceId, ruleId };
}

async function minute(w: StaffedWorld, { serviceId }: Watched, value: number | null): Promise<void> {
  w.clock.advance({ minutes: 1 });
  if (value !== null) await runStorePoints(w.runtime, serviceId, [{ name: 'latency', at: w.clock.now(), value }]);
  await w.evaluate();
}

async function minutes(w: StaffedWorld, rule: Watched, count: number, value: number | null): Promise<void> {
  for (let passed = 0; passed < count; passed += 1) await minute(w, rule, value);
}

async function statuses(w: StaffedWorld): Promise<string[]> {
  const { incidents } = await w.expectOk('list_incidents');
  return incidents.map(({ status }: { status: string }) => status);
}

async function lastEvent(w: StaffedWorld): Promise<string> {
  const { incidents } = await w.expectOk('list_incidents');
  const { timeline } = await w.expectOk('get_incident', { incidentId: incidents[0].incidentId });
  return timeline.at(-1).text;
}

test('an incident of a series that ended is resolved as "no data" after 15 minutes, and timeline and message say so', async () => {
  const w = await staffedWorld();
  const rule = await watched(w);
  await minute(w, rule, 250);
  // The window empties, and then stays empty for 15 minutes.
  w.clock.advance({ minutes: 4 });
  await minute(w, rule, null);
  w.clock.advance({ minutes: 13 });
  await minute(w, rule, null);
  expect(await statuses(w)).toEqual(['triggered']);
  await minute(w, rule, null);
  expect(await statuses(w)).toEqual(['resolved']);
  expect(await lastEvent(w)).toMatch(/^Resolved by Tocsin itself, as no data arrives, for 15 minutes now\./);
  expect(w.phone.messages.at(-1)?.body).toContain('no data arrives');
  const { incidents } = await w.expectOk('list_incidents');
  expect(incidents).toMatchObject([{ resolvedBy: { system: true, via: 'rule', because: 'no_data' } }]);
});

test('data that waits to be stored is never taken for a series that ended', async () => {
  const w = await staffedWorld();
  const rule = await watched(w);
  await minute(w, rule, 250);
  await delayPoints(w, rule.serviceId);
  for (let passed = 0; passed < 3; passed += 1) {
    w.clock.advance({ minutes: 20 });
    await evaluateRules(w.runtime);
  }
  expect(await statuses(w)).toEqual(['triggered']);
});

test('a rule that pages when data ends opens an incident, which ends once data is back', async () => {
  const w = await staffedWorld();
  const rule = await watched(w);
  await setOfRule(w, rule.ruleId, { noData: 'page', noDataMinutes: 3 });
  await minute(w, rule, 1);
  w.clock.advance({ minutes: 4 });
  await minute(w, rule, null);
  w.clock.advance({ minutes: 1 });
  await minute(w, rule, null);
  expect(await statuses(w)).toEqual([]);
  await minute(w, rule, null);
  expect(await statuses(w)).toEqual(['triggered']);
  const { incidents } = await w.expectOk('list_incidents');
  expect(incidents[0].title).toBe('Latency: no data of latency');
  expect(w.phone.messages).toHaveLength(1);
  // Longer than any other rule waits for data.
  w.clock.advance({ minutes: 15 });
  await minute(w, rule, null);
  expect(await statuses(w)).toEqual(['triggered']);
  await minute(w, rule, 1);
  w.clock.advance({ minutes: 4 });
  await minute(w, rule, 1);
  expect(await statuses(w)).toEqual(['resolved']);
});

test('a breach has to last, and an incident has to recover, as the settings of the rule say', async () => {
  const w = await staffedWorld();
  const rule = await watched(w, { windowMinutes: 1 });
  await setOfRule(w, rule.ruleId, { forMinutes: 3, recoveryThreshold: 50, recoveryMinutes: 2 });
  await minutes(w, rule, 3, 250);
  await minute(w, rule, 90);
  await minutes(w, rule, 3, 250);
  expect(await statuses(w)).toEqual([]);
  await minute(w, rule, 250);
  expect(await statuses(w)).toEqual(['triggered']);
  await minute(w, rule, 90);
  w.clock.advance({ minutes: 8 });
  await minute(w, rule, 90);
  expect(await statuses(w)).toEqual(['triggered']);
  await minutes(w, rule, 2, 10);
  expect(await statuses(w)).toEqual(['triggered']);
  await minute(w, rule, 10);
  expect(await statuses(w)).toEqual(['resolved']);
  const memory = await w.context.db.sql.rows('select * from rule_memory');
  expect(memory).toEqual([]);
});

test('the incident of a rule that flaps stays open, and its timeline says why', async () => {
  const w = await staffedWorld();
  const rule = await watched(w, { windowMinutes: 1 });
  await setOfRule(w, rule.ruleId, { flapIncidents: 2, flapMinutes: 12 });
  for (let times = 0; times < 4; times += 1) {
    await minute(w, rule, 250);
    await minutes(w, rule, 2, 1);
  }
  expect(await statuses(w)).toEqual(['triggered', 'resolved']);
  const { incidents } = await w.expectOk('list_incidents');
  expect(incidents[0].occurrences).toBe(3);
  const { timeline } = await w.expectOk('get_incident', { incidentId: incidents[0].incidentId });
  const lines = timeline.map(({ text }: { text: string }) => text);
  expect(lines).toContainEqual(expect.stringMatching(/^The rule flaps: .* false for as long\.$/));
  w.clock.advance({ minutes: 10 });
  await minute(w, rule, 1);
  expect(await statuses(w)).toEqual(['resolved', 'resolved']);
});

test('a rule on a counter fires by its increase, across a restart, on the series it selects', async () => {
  const w = await staffedWorld();
  const config = { metricName: 'requests_total{code=~"5.."}', comparator: '>=', threshold: 30, aggregation: 'sum' };
  const { serviceId } = await watched(w, config);
  const at = (secondsAgo: number) => w.clock.now().subtract({ seconds: secondsAgo });
  const sample = (code: string, secondsAgo: number, value: number): PointInput => ({
    name: 'requests_total',
    kind: 'counter',
    labels: { code },
    at: at(secondsAgo),
    value,
  });
  const grown = [
    sample('500', 400, 1_000),
    sample('500', 200, 1_010),
    sample('500', 100, 12),
    sample('503', 50, 9_000),
  ];
  await runStorePoints(w.runtime, serviceId, [...grown, sample('200', 200, 5), sample('200', 100, 5_000)]);
  await w.evaluate();
  expect((await w.expectOk('list_incidents')).incidents).toEqual([]);
  await runStorePoints(w.runtime, serviceId, [sample('503', 10, 9_008)]);
  await w.evaluate();
  expect((await w.expectOk('list_incidents')).incidents).toMatchObject([{ details: { value: 30 } }]);
});
