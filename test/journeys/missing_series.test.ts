import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import type { Aggregation } from '#modules/metrics/decide/aggregation.ts';
import type { Comparator } from '#modules/rules/decide/kind_settings.ts';
import type { PointKind } from '#modules/metrics/decide/point.ts';
import type { StoredSettings } from '#modules/rules/decide/rule_settings.ts';
import type { Id } from '#kernel/ids.ts';
import { runStorePoints } from '#test/kit/ingest_jobs.ts';
import { setOfRule } from '#test/kit/metrics/rule_settings.ts';
import { type StaffedWorld, staffedWorld } from '#test/kit/staffed_world.ts';
import { evaluateRules } from '#workers/evaluate_rules.ts';

interface Rule {
  readonly aggregation: Aggregation;
  readonly comparator: Comparator;
  readonly threshold: number;
  readonly metricName?: string;
  readonly settings?: StoredSettings;
}

interface Host {
  readonly host: string;
  readonly value: number;
  readonly kind?: PointKind;
}

const A: Host = { host: 'a', value: 96 };
const B: Host = { host: 'b', value: 20 };

async function watched(w: StaffedWorld, { settings, ...config }: Rule) {
  const [teamId, anna] = await w.staff.teamOf('Anna');
  const { serviceId, ruleId } = await w.staff.alert(teamId, [
    { afterMinutes: 0, channels: ['sms'], targetUserIds: [anna.userId] },
  ]);
  await w.expectOk('update_alert_rule', { ruleId, config: { metricName: 'load', windowMinutes: 3, ...config } });
  if (settings !== undefined) await setOfRule(w, ruleId, settings);
  return serviceId;
}

/** Each host sends once a minute, and the rule is evaluated. */
async function minutes(w: StaffedWorld, serviceId: Id<'service'>, count: number, hosts: readonly Host[]) {
  for (let passed = 0; passed < count; passed += 1) {
    w.clock.advance({ minutes: 1 });
    const at = w.clock.now();
    const points = hosts.map(({ host, value, kind = 'gauge' }) => ({
      name: 'load',
      at,
      value,
      kind,
      labels: { host },
    }));
    await runStorePoints(w.runtime, serviceId, points);
    await w.evaluate();
  }
}

async function onlyStatus(w: StaffedWorld): Promise<string> {
  const { incidents } = await w.expectOk('list_incidents');
  expect(incidents).toHaveLength(1);
  return incidents[0].status;
}

async function onlyIncident(w: StaffedWorld) {
  const { incidents } = await w.expectOk('list_incidents');
  const { timeline, ...incident } = await w.expectOk('get_incident', { incidentId: incidents[0].incidentId });
  return { ...incident, texts: timeline.map(({ text }: { text: string }) => text) as string[] };
}

const KEEP: StoredSettings = { noData: 'keep' };

test.each<[name: string, rule: Rule, broken: Host, others: Host]>([
  ['the greatest', { aggregation: 'max', comparator: '>', threshold: 90 }, A, B],
  ['the least', { aggregation: 'min', comparator: '<', threshold: 10 }, { host: 'a', value: 3 }, B],
  ['the mean', { aggregation: 'avg', comparator: '>', threshold: 50 }, A, B],
  ['the sum', { aggregation: 'sum', comparator: '>', threshold: 210 }, A, B],
  ['the newest', { aggregation: 'last', comparator: '>=', threshold: 100 }, A, B],
  [
    'the mean, with a recovery that is shorter than the window',
    { aggregation: 'avg', comparator: '>', threshold: 50, settings: { recoveryMinutes: 1 } },
    A,
    B,
  ],
])('a host that breached and fell silent has not recovered by %s of the others', async (_, rule, broken, others) => {
  const w = await staffedWorld();
  const serviceId = await watched(w, { ...rule, settings: { ...KEEP, ...rule.settings } });
  await minutes(w, serviceId, 2, [broken, others]);
  expect(await onlyStatus(w)).toBe('triggered');
  await minutes(w, serviceId, 7, [others]);
  const silent = await onlyIncident(w);
  expect(silent.status).toBe('triggered');
  expect(silent.texts.filter((text: string) => text.startsWith('Nothing more came'))).toEqual([
    'Nothing more came from host="a", so the condition is false only for want of data: the incident stays open until data from there shows recovery.',
  ]);
  await minutes(w, serviceId, 2, [{ ...broken, value: 20 }, others]);
  expect(await onlyStatus(w)).toBe(rule.settings === undefined ? 'triggered' : 'resolved');
  await minutes(w, serviceId, 3, [{ ...broken, value: 20 }, others]);
  expect((await onlyIncident(w)).texts.at(-1)).toMatch(/^Resolved by Tocsin itself, as its cause is gone/);
});

test('a host that ended by a stale marker has not recovered', async () => {
  const w = await staffedWorld();
  const serviceId = await watched(w, { aggregation: 'last', comparator: '>', threshold: 90, settings: KEEP });
  await minutes(w, serviceId, 2, [A, B]);
  await minutes(w, serviceId, 1, [{ ...A, value: 0, kind: 'stale' }, B]);
  await minutes(w, serviceId, 5, [B]);
  expect(await onlyStatus(w)).toBe('triggered');
});

describe('the incident of a host that fell silent', () => {
  let w: StaffedWorld;
  let serviceId: Id<'service'>;
  beforeAll(async () => {
    w = await staffedWorld({ keepOpen: true });
    serviceId = await watched(w, { aggregation: 'max', comparator: '>', threshold: 90 });
    await minutes(w, serviceId, 2, [A, B]);
    await minutes(w, serviceId, 3 + 14, [B]);
  });
  afterAll(() => w.close());

  test('is resolved as "no data" of it when the rule says so', async () => {
    expect(await onlyStatus(w)).toBe('triggered');
    await minutes(w, serviceId, 1, [B]);
    const incident = await onlyIncident(w);
    expect(incident.resolvedBy).toEqual({ system: true, via: 'rule', because: 'no_data' });
    expect(incident.texts.at(-1)).toMatch(
      /^Resolved by Tocsin itself, as no data arrives from host="a", for 15 minutes now\./,
    );
    expect(await w.context.db.sql.rows('select * from rule_memory')).toEqual([]);
  });
});

test('hosts that recovered before they fell silent, or were gone before the breach, keep nothing open', async () => {
  const w = await staffedWorld();
  const serviceId = await watched(w, { aggregation: 'max', comparator: '>', threshold: 90, settings: KEEP });
  await minutes(w, serviceId, 1, [{ host: 'gone', value: 80 }, B]);
  await minutes(w, serviceId, 4, [B]);
  await minutes(w, serviceId, 2, [A, B]);
  await minutes(w, serviceId, 4, [{ ...A, value: 10 }, B]);
  await minutes(w, serviceId, 4, [B]);
  expect((await onlyIncident(w)).texts.at(-1)).toMatch(/^Resolved by Tocsin itself, as its cause is gone/);
});

test('what is counted when it happens is over when nothing happens any more', async () => {
  const w = await staffedWorld();
  const serviceId = await watched(w, { aggregation: 'sum', comparator: '>', threshold: 90, settings: KEEP });
  await minutes(w, serviceId, 1, [
    { ...A, kind: 'delta' },
    { ...B, value: 1, kind: 'delta' },
  ]);
  await minutes(w, serviceId, 6, [{ ...B, value: 1, kind: 'delta' }]);
  expect(await onlyStatus(w)).toBe('resolved');
});

test('a counter that died while it rose has not recovered', async () => {
  const w = await staffedWorld();
  const serviceId = await watched(w, { aggregation: 'sum', comparator: '>', threshold: 90, settings: KEEP });
  for (let n = 1; n <= 3; n += 1) {
    await minutes(w, serviceId, 1, [
      { host: 'a', value: 60 * n, kind: 'counter' },
      { host: 'b', value: n, kind: 'counter' },
    ]);
  }
  expect(await onlyStatus(w)).toBe('triggered');
  for (let n = 4; n <= 10; n += 1) await minutes(w, serviceId, 1, [{ host: 'b', value: n, kind: 'counter' }]);
  expect(await onlyStatus(w)).toBe('triggered');
});

test('a quantile of a histogram does not recover when the slow host falls silent', async () => {
  const w = await staffedWorld();
  const serviceId = await watched(w, {
    aggregation: 'avg',
    comparator: '>',
    threshold: 5,
    metricName: 'latency{quantile="0.9"}',
    settings: KEEP,
  });
  const minute = async (total: number, hosts: readonly (readonly [host: string, bound: string])[]) => {
    w.clock.advance({ minutes: 1 });
    const at = w.clock.now();
    const points = hosts.flatMap(([host, bound]) =>
      ['1', '10', '+Inf'].map((le) => ({
        name: 'latency_bucket',
        at,
        value: bound === '1' || le !== '1' ? total : 0,
        kind: 'counter' as const,
        labels: { host, le },
      })),
    );
    await runStorePoints(w.runtime, serviceId, points);
    await w.evaluate();
  };
  const [slow, quick] = [
    ['a', '10'],
    ['b', '1'],
  ] as const;
  for (let n = 1; n <= 3; n += 1) await minute(10 * n, [slow, quick]);
  expect(await onlyStatus(w)).toBe('triggered');
  for (let n = 4; n <= 10; n += 1) await minute(10 * n, [quick]);
  expect(await onlyStatus(w)).toBe('triggered');
});

describe('a host that sends more slowly than the window is long', () => {
  let w: StaffedWorld;
  let serviceId: Id<'service'>;
  const opened = async () => (await w.expectOk('list_incidents')).incidents.length;
  const pass = async (from: number, to: number) => {
    for (let n = from; n <= to; n += 1) await minutes(w, serviceId, 1, n % 5 === 0 ? [A, B] : [B]);
  };
  beforeAll(async () => {
    w = await staffedWorld({ keepOpen: true });
    const rule = { aggregation: 'max', comparator: '>', threshold: 90 } as const;
    serviceId = await watched(w, { ...rule, settings: { forMinutes: 12 } });
    // One that dies meanwhile is no slow one.
    await minutes(w, serviceId, 6, [{ host: 'c', value: 99 }, B]);
  });
  afterAll(() => w.close());

  test('opens nothing before its samples have breached for long enough', async () => {
    await pass(1, 16);
    expect(await opened()).toBe(0);
  });

  test('breaches for as long as each of its samples does', async () => {
    await pass(17, 30);
    expect(await opened()).toBe(1);
  });
});

test('a breach opens its incident before anybody looks for silent series of other rules, however long that takes', async () => {
  const w = await staffedWorld();
  const rule = { aggregation: 'max', comparator: '>', threshold: 90, settings: KEEP } as const;
  const first = await watched(w, rule);
  await minutes(w, first, 2, [A, B]);
  expect(await onlyStatus(w)).toBe('triggered');
  await minutes(w, first, 7, [B]);
  const second = await watched(w, rule);
  w.clock.advance({ minutes: 1 });
  const at = w.clock.now();
  await runStorePoints(w.runtime, first, [
    { name: 'load', at, value: B.value, kind: 'gauge', labels: { host: B.host } },
  ]);
  await runStorePoints(w.runtime, second, [{ name: 'load', at, value: 99, kind: 'gauge', labels: { host: 'c' } }]);
  const openWhenAsked: number[] = [];
  const find = async () => {
    openWhenAsked.push((await w.expectOk('list_incidents', { serviceId: second })).incidents.length);
    return null;
  };
  await evaluateRules({ ...w.runtime, missingSeries: { find } });
  expect(openWhenAsked).toEqual([1]);
});
