import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import type { Id } from '#kernel/ids.ts';
import type { StoredSettings } from '#modules/rules/decide/rule_settings.ts';
import { readRuleHistory } from '#modules/rules/operations/read_rule_history.ts';
import { replayRule } from '#modules/rules/operations/replay_rule.ts';
import { runStorePoints } from '#test/kit/ingest_jobs.ts';
import { memberCaller, runOperation } from '#test/kit/run_operation.ts';
import { setOfRule } from '#test/kit/metrics/rule_settings.ts';
import { type StaffedWorld, staffedWorld } from '#test/kit/staffed_world.ts';

type Hosts = Readonly<Record<string, number>>;

async function watched(w: StaffedWorld, settings: StoredSettings, config: object = {}) {
  const [teamId, anna] = await w.staff.teamOf('Anna');
  const { serviceId, ruleId } = await w.staff.alert(teamId, [
    { afterMinutes: 0, channels: ['sms'], targetUserIds: [anna.userId] },
  ]);
  const load = { metricName: 'load', comparator: '>', threshold: 90, windowMinutes: 5, aggregation: 'max' };
  await w.expectOk('update_alert_rule', { ruleId, name: 'Busy', config: { ...load, ...config } });
  await setOfRule(w, ruleId, settings);
  return { serviceId, ruleId };
}

/** A minute passes, in which each host sends its load; the rules are evaluated. */
async function minute(w: StaffedWorld, serviceId: Id<'service'>, hosts: Hosts, times = 1): Promise<void> {
  for (let passed = 0; passed < times; passed += 1) {
    w.clock.advance({ minutes: 1 });
    const at = w.clock.now();
    const points = Object.entries(hosts).map(([host, value]) => ({ name: 'load', at, value, labels: { host } }));
    await runStorePoints(w.runtime, serviceId, points);
    await w.evaluate();
  }
}

async function incidents(w: StaffedWorld): Promise<{ title: string; status: string; occurrences: number }[]> {
  const found = (await w.expectOk('list_incidents', {})).incidents;
  return found.toSorted((a: { title: string }, b: { title: string }) => (a.title < b.title ? -1 : 1));
}

const titlesOf = async (w: StaffedWorld, status: string) =>
  (await incidents(w)).filter((one) => one.status === status).map(({ title }) => title);

describe('each value of the label is an incident of its own, which', () => {
  let w: StaffedWorld;
  let watching: Awaited<ReturnType<typeof watched>>;
  const pass = (hosts: Hosts, times = 1) => minute(w, watching.serviceId, hosts, times);
  beforeAll(async () => {
    w = await staffedWorld({ keepOpen: true });
    watching = await watched(w, { byLabel: 'host', noDataMinutes: 5 }, { windowMinutes: 2 });
    await pass({ a: 95, b: 20, c: 99 });
  });
  afterAll(() => w.close());

  test('opens, once', async () => {
    expect(await titlesOf(w, 'triggered')).toEqual([
      'Busy: host a: 95 > 90 (highest of load)',
      'Busy: host c: 99 > 90 (highest of load)',
    ]);
    const details = { label: 'host', labelValue: 'a', value: 95 };
    expect((await incidents(w))[0]).toMatchObject({ ruleId: watching.ruleId, details });
    expect(w.phone.messages).toHaveLength(2);
    // Doubled evaluations change nothing.
    await Promise.all([w.evaluate(), w.evaluate()]);
    expect((await incidents(w)).map(({ occurrences }) => occurrences)).toEqual([1, 1]);
  });

  test('recovers', async () => {
    await pass({ a: 10, b: 97, c: 99 }, 5);
    expect(await titlesOf(w, 'resolved')).toEqual(['Busy: host a: 95 > 90 (highest of load)']);
    expect(await titlesOf(w, 'triggered')).toEqual([
      'Busy: host b: 97 > 90 (highest of load)',
      'Busy: host c: 99 > 90 (highest of load)',
    ]);
  });

  test('waits for data when its host dies', async () => {
    await pass({ a: 10, b: 10 }, 5);
    expect(await titlesOf(w, 'triggered')).toEqual(['Busy: host c: 99 > 90 (highest of load)']);
  });

  test('ends without data', async () => {
    await pass({ a: 10, b: 10 }, 3);
    expect(await titlesOf(w, 'triggered')).toEqual([]);
  });
});

test('a replay by label says which incidents the evaluation has opened and ended, and the preview the worst of the hosts', async () => {
  const w = await staffedWorld();
  const settings = { byLabel: 'host', forMinutes: 1, recoveryMinutes: 2, noDataMinutes: 3 };
  const { serviceId, ruleId } = await watched(w, settings, { windowMinutes: 2, aggregation: 'avg' });
  w.clock.set('2027-02-03T10:00:00.000Z');
  const [both, one] = [{ a: 95, b: 99, c: 1 }, { a: 10 }];
  for (const hosts of [{ a: 95, b: 20 }, both, both, { ...one, b: 99 }, one, one, { a: 190 }, { a: 99 }]) {
    await minute(w, serviceId, hosts);
  }
  await minute(w, serviceId, {}, 5);
  const opened = (await w.expectOk('list_incidents', {})).incidents.map(
    ({
      triggeredAt,
      resolvedAt,
      details,
    }: {
      triggeredAt: string;
      resolvedAt: string;
      details: { labelValue: string };
    }) => {
      return { openedAt: triggeredAt, closedAt: resolvedAt, labelValue: details.labelValue };
    },
  );
  const asked = {
    serviceId,
    metricName: 'load',
    aggregation: 'avg',
    windowMinutes: 2,
    comparator: '>',
    settings,
    days: 1,
  };
  const caller = memberCaller(w.orgId, w.owner.userId, 'editor');
  const more = { ruleId, threshold: 90, escalationPolicyId: null };
  const replayed = await runOperation(w, replayRule, caller, { ...asked, ...more });
  expect(replayed.incidents).toHaveLength(3);
  expect(replayed.incidents).toEqual(
    opened.toReversed().map((incident: object) => ({ ...incident, paging: 'at_once', pagedAt: null })),
  );
  const preview = await runOperation(w, readRuleHistory, caller, asked);
  expect(preview.valueCount).toBe(3);
  const misspelt = { ...asked, settings: { ...settings, byLabel: 'hoost' } };
  expect((await runOperation(w, readRuleHistory, caller, misspelt)).valueCount).toBe(0);
  expect(preview.values.slice(-13, -8)).toEqual([95, 95, 99, 99, 99]);
});

test('a replay by label counts a value that only the lower side of a ratio of deltas has, as the evaluation does', async () => {
  const w = await staffedWorld();
  const config = { metricName: 'ok / requests', comparator: '<', threshold: 0.5, windowMinutes: 2, aggregation: 'sum' };
  const settings = { byLabel: 'route' };
  const { serviceId, ruleId } = await watched(w, settings, config);
  w.clock.set('2027-02-03T10:00:00.000Z');
  const at = w.clock.now();
  const points = [
    { name: 'ok', route: '/fine' },
    { name: 'requests', route: '/fine' },
    { name: 'requests', route: '/broken' },
  ].map(({ name, route }) => ({ name, at, value: 1, kind: 'delta' as const, labels: { route } }));
  await runStorePoints(w.runtime, serviceId, points);
  await w.evaluate();
  expect(await incidents(w)).toMatchObject([{ details: { labelValue: '/broken', value: 0 } }]);
  const caller = memberCaller(w.orgId, w.owner.userId, 'editor');
  const asked = { serviceId, ruleId, ...config, settings, days: 1, escalationPolicyId: null };
  const replayed = await runOperation(w, replayRule, caller, asked);
  expect(replayed.incidents).toMatchObject([
    { openedAt: at.toString({ smallestUnit: 'millisecond' }), labelValue: '/broken' },
  ]);
});

test('a rule by label remembers for how long each value breaches, and shows what it is to every reader', async () => {
  const w = await staffedWorld();
  const { serviceId, ruleId } = await watched(w, { byLabel: 'host', forMinutes: 3 });
  await minute(w, serviceId, { a: 95, b: 20 }, 2);
  expect(await incidents(w)).toEqual([]);
  await minute(w, serviceId, { a: 95, b: 95 }, 2);
  expect(await titlesOf(w, 'triggered')).toEqual(['Busy: host a: 95 > 90 (highest of load)']);
  await minute(w, serviceId, { a: 95, b: 95 }, 2);
  expect(await titlesOf(w, 'triggered')).toHaveLength(2);
  expect(await w.context.db.sql.rows('select * from rule_part_memory')).toEqual([]);
  const { alertRules: rules } = await w.expectOk('get_service', { serviceId });
  expect(rules.find((rule: { ruleId: string }) => rule.ruleId === ruleId).settings).toMatchObject({ byLabel: 'host' });
});

test('a rule that becomes one for all keeps the incidents of its values until all are well', async () => {
  const w = await staffedWorld();
  const { serviceId, ruleId } = await watched(w, { byLabel: 'host' }, { windowMinutes: 2 });
  await minute(w, serviceId, { a: 95, b: 20 });
  await setOfRule(w, ruleId, {});
  await minute(w, serviceId, { a: 10, b: 20 }, 5);
  expect(await titlesOf(w, 'triggered')).toEqual([]);
});

describe('a rule with two windows', () => {
  let w: StaffedWorld;
  let serviceId: Id<'service'>;
  beforeAll(async () => {
    w = await staffedWorld({ keepOpen: true });
    const burn = { shortWindowMinutes: 1, recoveryMinutes: 0 };
    ({ serviceId } = await watched(w, burn, { aggregation: 'avg', windowMinutes: 4, threshold: 50 }));
    await minute(w, serviceId, { a: 0 }, 3);
  });
  afterAll(() => w.close());

  test('opens nothing when the short one alone breaches', async () => {
    await minute(w, serviceId, { a: 60 });
    expect(await incidents(w)).toEqual([]);
  });

  test('opens when both breach', async () => {
    await minute(w, serviceId, { a: 100 }, 3);
    expect(await titlesOf(w, 'triggered')).toHaveLength(1);
  });

  test('ends soon after the short one is well', async () => {
    await minute(w, serviceId, { a: 0 });
    expect(await titlesOf(w, 'triggered')).toEqual([]);
  });
});

test('a config that contradicts what the console has set is refused', async () => {
  const w = await staffedWorld();
  const { ruleId } = await watched(w, { shortWindowMinutes: 4 });
  const config = { metricName: 'load', comparator: '>', threshold: 90, windowMinutes: 4 };
  const refused = await w.call('update_alert_rule', { ruleId, config });
  expect(refused.status).toBe(400);
  expect(JSON.stringify(refused.body)).toContain('settings.shortWindowMinutes: must be less than the 4 min');
});

test.each([{}, { byLabel: 'host' }])('a rule that was disabled remembers no breach of before: %j', async (settings) => {
  const w = await staffedWorld();
  const { serviceId, ruleId } = await watched(w, { ...settings, forMinutes: 3 });
  await minute(w, serviceId, { a: 95 }, 2);
  await w.expectOk('update_alert_rule', { ruleId, enabled: false });
  w.clock.advance({ minutes: 60 });
  await w.expectOk('update_alert_rule', { ruleId, enabled: true });
  await minute(w, serviceId, { a: 95 });
  expect(await incidents(w)).toEqual([]);
  await minute(w, serviceId, { a: 95 }, 3);
  expect(await titlesOf(w, 'triggered')).toHaveLength(1);
});
