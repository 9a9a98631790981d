import { beforeEach, expect, test } from 'vitest';

import type { AnyOperation } from '#actions/action_context.ts';
import { declareIncident } from '#modules/incidents/operations/declare_incident.ts';
import { createMaintenance } from '#modules/maintenance/operations/maintenance.ts';
import { readRuleHistory } from '#modules/rules/operations/read_rule_history.ts';
import { replaceAlertRule } from '#modules/rules/operations/update_alert_rule.ts';
import { replayRule } from '#modules/rules/operations/replay_rule.ts';
import { searchRules } from '#modules/rules/operations/search_rules.ts';
import { suggestRules } from '#modules/rules/operations/suggest_rules.ts';
import type { Id } from '#kernel/ids.ts';
import type { Role } from '#kernel/permissions.ts';
import { givenMetrics } from '#test/kit/metrics/given_metrics.ts';
import { memberCaller, runOperation } from '#test/kit/run_operation.ts';
import { fileWorld } from '#test/kit/world.ts';

let serviceId: Id<'service'>;
const twilio = { twilioAccountSid: `AC${'0'.repeat(32)}`, twilioAuthToken: 'token', twilioFrom: '+15005550006' };
const w = await fileWorld({ settings: twilio });
beforeEach(async () => {
  w.clock.set('2027-03-10T12:00:00Z');
  ({ serviceId } = await w.given.service());
});

const run = (operation: AnyOperation, input: object, { role = 'viewer', orgId = w.orgId }: Options = {}) =>
  runOperation(w, operation, memberCaller(orgId, w.owner.userId, role), input);

interface Options {
  readonly role?: Role;
  readonly orgId?: Id<'org'>;
}

/** Stores a latency of 900 for 20 minutes of each of the last two nights, at 02:00 UTC, else 100. */
async function slowNights(): Promise<void> {
  const minutes = 48 * 60;
  await givenMetrics(w, serviceId, {
    name: 'latency',
    minutes,
    everySeconds: 60,
    value: (step) => {
      const at = new Date(w.clock.now().epochMilliseconds - (minutes - step) * 60_000);
      return at.getUTCHours() === 2 && at.getUTCMinutes() < 20 ? 900 : 100;
    },
  });
}

const RULE = { metricName: 'latency', aggregation: 'avg', windowMinutes: 5, comparator: '>', threshold: 500 } as const;

test('a replay says which incidents a rule would have opened, whom they would have paged, and in how many nights', async () => {
  await slowNights();
  const { teamId } = await w.expectOk('create_team', { name: 'Platform' });
  const [anna, cleo] = [await w.given.user({ name: 'Anna' }), await w.given.user({ name: 'Cleo' })];
  await w.expectOk('add_team_member', { teamId, userId: anna.userId, phone: '+31612345678' });
  // Cleo is in no team: she has given a number for such pages.
  await w.context.db.sql.run('update memberships set phone = $2 where user_id = $1', [cleo.userId, '+31687654321']);
  const steps = [
    { afterMinutes: 0, channels: ['sms'], targetUserIds: [anna.userId] },
    { afterMinutes: 10, channels: ['call'], targetUserIds: [cleo.userId] },
  ];
  const { policyId } = await w.expectOk('create_escalation_policy', { teamId, name: 'Nights', steps });
  const input = { serviceId, ...RULE, escalationPolicyId: policyId, days: 2 };
  const { incidents, incidentCount, cost } = await run(replayRule, input);
  expect(incidentCount).toBe(2);
  for (const { openedAt, closedAt } of incidents) {
    expect(openedAt).toMatch(/T02:0[0-5]:00/);
    expect(closedAt).toMatch(/T02:2\d:00/);
  }
  expect(cost).toMatchObject({
    pages: 4,
    nights: 4,
    peopleCount: 2,
    people: [
      { name: 'Anna', timeZone: 'UTC', pages: 2, nights: 2 },
      { name: 'Cleo', pages: 2, nights: 2 },
    ],
  });
  expect(await run(replayRule, { ...input, escalationPolicyId: null })).toMatchObject({ incidentCount: 2, cost: null });
  expect(await run(replayRule, { ...input, threshold: 1_000 })).toMatchObject({ incidentCount: 0, cost: { pages: 0 } });
  const other = await w.given.organization('Umbrella');
  await expect(run(replayRule, input, { orgId: other.orgId })).rejects.toMatchObject({ code: 'not_found' });
});

test('a replay honours maintenance, other incidents that were open then, and acknowledgements that go stale', async () => {
  await slowNights();
  const { teamId } = await w.expectOk('create_team', { name: 'Database' });
  const dora = await w.given.user({ name: 'Dora' });
  await w.expectOk('add_team_member', { teamId, userId: dora.userId, phone: '+31612345679' });
  const steps = [{ afterMinutes: 0, channels: ['sms'], targetUserIds: [dora.userId] }];
  const { policyId } = await w.expectOk('create_escalation_policy', { teamId, name: 'Nights', steps });
  const input = { serviceId, ...RULE, escalationPolicyId: policyId, days: 2 };
  const settings = { groupMinutes: 15, repageMinutes: 5 };
  const loud = await run(replayRule, { ...input, settings });
  expect(loud).toMatchObject({ quietCount: 0, joinedCount: 0, cost: { pages: 2 }, forgotten: { peopleCount: 1 } });
  expect(loud.forgotten.pages).toBeGreaterThan(3);

  // Covers the slow minutes of last night, a Wednesday.
  const recurrence = { weekdays: [3], startTime: '02:00', minutes: 60 };
  const window = {
    name: 'Upgrade',
    timezone: 'UTC',
    startsAt: '2027-03-10T00:00:00Z',
    target: { serviceId },
    recurrence,
  };
  await run(createMaintenance, window, { role: 'editor' });
  expect(await run(replayRule, { ...input, settings })).toMatchObject({
    quietCount: 1,
    incidents: [{ paging: 'at_once' }, { paging: 'quiet', pagedAt: null }],
    cost: { pages: 1 },
  });

  w.clock.set('2027-03-09T01:55:00Z');
  await run(
    declareIncident,
    { serviceId, title: 'Disk is slow', severity: 'error', escalationPolicyId: policyId, requestKey: 'disk-is-slow-1' },
    { role: 'responder' },
  );
  w.clock.set('2027-03-10T12:00:00Z');
  expect(await run(replayRule, { ...input, settings })).toMatchObject({
    joinedCount: 1,
    incidents: [{ paging: 'with_parent', pagedAt: null }, { paging: 'quiet' }],
    cost: { pages: 0 },
  });
});

test('the history is what the rule would have measured, minute by minute, and null without data', async () => {
  await slowNights();
  const { comparator: _, threshold: __, ...wanted } = RULE;
  const { firstAt, stepSeconds, values } = await run(readRuleHistory, { serviceId, ...wanted, days: 3 });
  expect(stepSeconds).toBe(60);
  const valueAt = (time: string) => values[(Date.parse(time) - Date.parse(firstAt)) / 60_000];
  expect(valueAt('2027-03-10T02:10:00Z')).toBe(900);
  expect(valueAt('2027-03-10T11:00:00Z')).toBe(100);
  expect(valueAt('2027-03-08T11:00:00Z')).toBeNull();
});

test('rules are suggested for what arrives, with a threshold beyond it, and pages nobody yet', async () => {
  await givenMetrics(w, serviceId, {
    name: 'latency',
    minutes: 60,
    everySeconds: 60,
    value: (step) => 80 + (step % 20),
  });
  const { suggestions } = await run(suggestRules, { serviceId });
  expect(suggestions).toMatchObject([
    {
      name: 'checkout is slow',
      kind: 'metric_threshold',
      config: { metricName: 'latency', comparator: '>', aggregation: 'avg' },
    },
    { name: 'New exceptions in checkout', kind: 'exception', config: { minSeverity: 'error' } },
  ]);
  expect(suggestions[0].config.threshold).toBeGreaterThan(99);
});

test('a rule is not replaced when somebody has changed it since, and rules are found by state and text', async () => {
  const config = { metricName: 'latency', comparator: '>', threshold: 500 };
  const rule = await w.expectOk('create_alert_rule', { serviceId, name: 'Slow', kind: 'metric_threshold', config });
  const replaced = { ruleId: rule.ruleId, name: 'Slower', config, escalationPolicyId: null, enabled: false };
  const stale = { ...replaced, basedOn: '2027-03-10T11:00:00.000Z' };
  await expect(run(replaceAlertRule, stale, { role: 'editor' })).rejects.toMatchObject({ code: 'conflict' });
  await run(replaceAlertRule, { ...replaced, basedOn: rule.updatedAt }, { role: 'editor' });
  await w.expectOk('create_alert_rule', { serviceId, name: 'New', kind: 'exception', config: {} });
  const names = async (input: object) =>
    (await run(searchRules, { serviceId, ...input })).rules.map(({ name }: { name: string }) => name);
  expect(await names({})).toEqual(['New', 'Slower']);
  expect(await names({ state: 'disabled' })).toEqual(['Slower']);
  expect(await names({ text: 'LATENCY' })).toEqual(['Slower']);
  expect(await names({ kind: 'exception' })).toEqual(['New']);
  const first = await run(searchRules, { serviceId, limit: 1 });
  expect(await names({ limit: 1, cursor: first.nextCursor })).toEqual(['Slower']);
});

test('whoever asks for some rules by id is told how many there are of all', async () => {
  const add = async (name: string, threshold: number) =>
    await w.expectOk('create_alert_rule', {
      serviceId,
      name,
      kind: 'metric_threshold',
      config: { ...RULE, threshold },
      enabled: threshold > 0,
    });
  const { ruleId } = await add('Slow', 1);
  await add('Fast', 0);
  const counted = async (input: object) => (await run(searchRules, { serviceId, ...input })).counts;
  const ofAll = await counted({});
  expect(ofAll).toMatchObject({ waiting_for_data: 1, disabled: 1 });
  expect(await counted({ ruleIds: [ruleId] })).toEqual(ofAll);
  expect(await counted({ incidentIds: ['incident_01kdwm4a1b2c3d4e5f6g7h8j9m'] })).toEqual(ofAll);
});
