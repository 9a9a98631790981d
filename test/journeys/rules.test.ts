import { beforeEach, describe, expect, test } from 'vitest';

import type { Id } from '#kernel/ids.ts';
import type { RuleKind } from '#modules/rules/decide/rule_kinds.ts';
import type { RuleReader } from '#modules/rules/store/rule_reader.ts';
import { runGroupExceptions, runStorePoints, runStoreTogether } from '#test/kit/ingest_jobs.ts';
import { type Responder, type StaffedWorld, staffedWorld } from '#test/kit/staffed_world.ts';
import { arrive, delayPoints } from '#test/kit/metrics/delayed_points.ts';
import { setOfRule } from '#test/kit/metrics/rule_settings.ts';
import { exceptionEvent } from '#test/kit/exception_event.ts';
import { type EvaluationRuntime, evaluateRules } from '#workers/evaluate_rules.ts';

interface Watched {
  readonly anna: Responder;
  readonly serviceId: Id<'service'>;
  readonly ruleId: string;
}

const LATENCY = { metricName: 'latency', comparator: '>', threshold: 100, windowMinutes: 5, aggregation: 'max' };

/** A service with one rule, which pages Anna by SMS. */
async function watched(
  w: StaffedWorld,
  config: object = LATENCY,
  kind: RuleKind = 'metric_threshold',
): Promise<Watched> {
  const [teamId, anna] = await w.staff.teamOf('Anna');
  // Whether a page arrived is no question here.
  w.phone.addFault({ kind: 'callback_lost', number: anna.phone });
  const steps = [{ afterMinutes: 0, channels: ['sms'], targetUserIds: [anna.userId] }] as const;
  const { serviceId, ruleId } = await w.staff.alert(teamId, steps, { name: 'Slow', kind, config });
  return { anna, serviceId, ruleId };
}

/** A value of the latency, now or some seconds ago. */
async function measured(w: StaffedWorld, { serviceId }: Watched, value: number, secondsAgo = 0): Promise<void> {
  const at = w.clock.now().subtract({ seconds: secondsAgo });
  await runStorePoints(w.runtime, serviceId, [{ name: 'latency', at, value }]);
}

/** A value of the latency of each, now. */
async function allMeasured(w: StaffedWorld, rules: readonly Watched[], value: number): Promise<void> {
  const points = [{ name: 'latency', at: w.clock.now(), value }];
  await runStoreTogether(
    w.runtime,
    rules.map(({ serviceId }) => ({ serviceId, points })),
  );
}

/** Returns the number of services whose rules wait for points, from the product's own metrics. */
async function servicesWaiting(w: StaffedWorld): Promise<number> {
  const headers = { authorization: `Bearer ${w.context.config.metricsToken}` };
  const { body } = await w.app.inject({ url: '/metrics', headers });
  return Number(/^tocsin_services_waiting_for_points (\S+)$/m.exec(body)?.[1]);
}

async function incidents(w: StaffedWorld): Promise<Incident[]> {
  return (await w.expectOk('list_incidents')).incidents;
}

interface Incident {
  readonly incidentId: string;
  readonly status: string;
  readonly occurrences: number;
}

test('a breach opens one incident and pages, counts while it lasts, and resolves once it is over for a window', async () => {
  const w = await staffedWorld();
  const rule = await watched(w);
  await measured(w, rule, 100);
  await w.evaluate();
  expect(await incidents(w)).toEqual([]);

  await measured(w, rule, 250);
  w.clock.advance({ seconds: 1 });
  await w.evaluate();
  expect(await incidents(w)).toMatchObject([
    {
      status: 'triggered',
      title: 'Slow: 250 > 100 (highest of latency)',
      kind: 'metric_threshold',
      ruleId: rule.ruleId,
      details: { ...LATENCY, value: 250 },
      occurrences: 1,
    },
  ]);
  expect(w.phone.messages).toMatchObject([{ to: rule.anna.phone }]);

  w.clock.advance({ minutes: 4 });
  await w.evaluate();
  expect(await incidents(w)).toMatchObject([{ occurrences: 1 }]);
  w.clock.advance({ minutes: 1 });
  await measured(w, rule, 300);
  await w.evaluate();
  expect(await incidents(w)).toMatchObject([{ occurrences: 2 }]);

  w.clock.advance({ minutes: 5 });
  await measured(w, rule, 10);
  await w.evaluate();
  w.clock.advance({ minutes: 4, seconds: 59 });
  await measured(w, rule, 10);
  await w.evaluate();
  expect(await incidents(w)).toMatchObject([{ status: 'triggered' }]);
  w.clock.advance({ seconds: 1 });
  await w.evaluate();
  expect(await incidents(w)).toMatchObject([{ status: 'resolved', resolvedBy: { system: true, via: 'rule' } }]);
  expect(w.phone.messages.map(({ body }) => body.includes('resolved'))).toEqual([false, true]);

  w.clock.advance({ seconds: 5 });
  await measured(w, rule, 400);
  await w.evaluate();
  expect(await incidents(w)).toMatchObject([
    { status: 'triggered', occurrences: 1 },
    { status: 'resolved', occurrences: 2 },
  ]);
});

test('a value that comes late still opens the incident, as long as its time is in the window', async () => {
  const w = await staffedWorld();
  const rule = await watched(w);
  await w.evaluate();
  await measured(w, rule, 250, 301);
  await w.evaluate();
  expect(await incidents(w)).toEqual([]);
  await measured(w, rule, 250, 290);
  await w.evaluate();
  expect(await incidents(w)).toMatchObject([{ status: 'triggered' }]);
});

test('a window without data opens nothing, and resolves nothing where the rule keeps its incident', async () => {
  const w = await staffedWorld();
  const rule = await watched(w, { ...LATENCY, comparator: '<', threshold: 1, aggregation: 'count' });
  await w.evaluate();
  expect(await incidents(w)).toEqual([]);
  const open = await watched(w);
  await setOfRule(w, open.ruleId, { noData: 'keep' });
  await measured(w, open, 250);
  await w.evaluate();
  for (const minutes of [15, 45]) {
    w.clock.advance({ minutes });
    await w.evaluate();
  }
  expect(await incidents(w)).toMatchObject([{ status: 'triggered', ruleId: open.ruleId }]);
  expect(rule.ruleId).not.toBe(open.ruleId);
});

describe('workers that evaluate at the same time', () => {
  let w: StaffedWorld;
  let rules: Watched[];
  beforeEach(async () => {
    w = await staffedWorld();
    rules = [await watched(w), await watched(w)];
    await allMeasured(w, rules, 250);
  });

  test('open one incident per rule, and count and page once', async () => {
    const worker = meeting(w, 4);
    await Promise.all([1, 2, 3, 4].map(() => evaluateRules(worker())));
    await w.runUntilIdle();
    expect(await incidents(w)).toMatchObject(rules.map(() => ({ status: 'triggered', occurrences: 1 })));
    expect(w.phone.messages.map(({ to }) => to).sort()).toEqual(rules.map(({ anna }) => anna.phone).sort());
  });

  test('resolve each incident once', async () => {
    await w.evaluate();
    await clearFor(w, rules, { minutes: 5 });
    const before = w.phone.messages.length;
    w.clock.advance({ minutes: 5 });
    await allMeasured(w, rules, 1);
    await Promise.all([1, 2, 3, 4].map(() => evaluateRules(w.runtime)));
    await w.runUntilIdle();
    expect(await incidents(w)).toMatchObject(rules.map(() => ({ status: 'resolved' })));
    expect(w.phone.messages).toHaveLength(before + rules.length);
  });
});

test('an evaluation that fails never counts as one that found no breach', async () => {
  const w = await staffedWorld();
  const rule = await watched(w);
  await measured(w, rule, 250);
  await w.evaluate();
  await clearFor(w, [rule], { minutes: 5 });
  const before = await w.context.db.sql.rows('select * from incidents');
  const away = { ...w.runtime, rules: { evaluate: () => Promise.reject(new Error('away')) } };
  w.clock.advance({ minutes: 10 });
  await expect(evaluateRules(away)).rejects.toThrow('away');
  expect(await w.context.db.sql.rows('select * from incidents')).toEqual(before);
});

test('a rule that cannot be evaluated stays as it is, and does not stop the others', async () => {
  const w = await staffedWorld();
  const [odd, good] = [await watched(w), await watched(w)];
  await allMeasured(w, [odd, good], 250);
  const evaluate: RuleReader['evaluate'] = async (questions, now) => {
    const evaluations = await w.runtime.rules.evaluate(questions, now);
    const values = new Map([...evaluations.values].filter(([ruleId]) => ruleId !== odd.ruleId));
    return { ...evaluations, values, failed: new Map([[odd.ruleId as Id<'rule'>, new Error('odd')]]) };
  };
  await evaluateRules({ ...w.runtime, rules: { evaluate } });
  expect(await incidents(w)).toMatchObject([{ ruleId: good.ruleId }]);
  await w.evaluate();
  await clearFor(w, [odd, good], { minutes: 6 });
  await evaluateRules({ ...w.runtime, rules: { evaluate } });
  expect(await statuses(w)).toEqual({ [odd.ruleId]: 'triggered', [good.ruleId]: 'resolved' });
});

test('a rule that is disabled or deleted, or lacks metrics or on-call, is not evaluated, and leaves its open incident for people', async () => {
  const w = await staffedWorld();
  const changes: readonly ((rule: Watched) => Promise<unknown>)[] = [
    ({ ruleId }) => w.expectOk('update_alert_rule', { ruleId, enabled: false }),
    ({ ruleId }) => w.expectOk('delete_alert_rule', { ruleId }),
    ({ serviceId }) => disable(w, serviceId, 'metrics'),
    ({ serviceId }) => disable(w, serviceId, 'oncall'),
  ];
  const open: Watched[] = [];
  const closed: Watched[] = [];
  for (const _ of changes) {
    open.push(await watched(w));
    closed.push(await watched(w));
  }
  await allMeasured(w, open, 250);
  await w.evaluate();
  for (const [index, change] of changes.entries()) {
    for (const rule of [open[index]!, closed[index]!]) await change(rule);
  }
  await allMeasured(w, closed, 250);
  await clearFor(w, open, { minutes: 6 });
  await w.evaluate();
  const left = (await incidents(w)) as (Incident & { serviceId: string })[];
  expect(new Set(left.map(({ serviceId }) => serviceId))).toEqual(new Set(open.map(({ serviceId }) => serviceId)));
  expect(left).toMatchObject(open.map(() => ({ status: 'triggered', occurrences: 1 })));
});

test.each([
  ['disabled', { enabled: false }],
  ['changed', { config: { ...LATENCY, threshold: 1_000 } }],
])('a rule that is %s while it is being evaluated opens nothing', async (_what, change) => {
  const w = await staffedWorld();
  const rule = await watched(w);
  await measured(w, rule, 250);
  const evaluate: RuleReader['evaluate'] = async (questions, now) => {
    const evaluations = await w.runtime.rules.evaluate(questions, now);
    await w.expectOk('update_alert_rule', { ruleId: rule.ruleId, ...change });
    return evaluations;
  };
  await evaluateRules({ ...w.runtime, rules: { evaluate } });
  expect(await incidents(w)).toEqual([]);
});

test.each(['resolved', 'ignored'])(
  'an incident of an exception is resolved by the person who sets its group to %s',
  async (status) => {
    const w = await staffedWorld();
    const { anna, serviceId } = await watched(w, {}, 'exception');
    const messages = ['out of beans', 'out of milk'];
    const events = messages.map((message) => exceptionEvent(w.clock.now(), { exceptions: [], message }));
    await runGroupExceptions(w.runtime, { orgId: w.orgId, serviceId }, events);
    await w.runUntilIdle();
    const [, settled] = await groups(w, serviceId);
    await w.expectOk('set_exception_status', { groupId: settled!.groupId, status }, { key: w.owner.key });
    await w.runUntilIdle();
    const listed = await w.expectOk('list_incidents');
    const byStatus = Object.groupBy(listed.incidents as Incident[], (incident) => incident.status);
    expect(byStatus).toMatchObject({
      triggered: [{ escalation: { state: 'finished' } }],
      resolved: [
        { exceptionGroupId: settled!.groupId, resolvedBy: { userId: w.owner.userId, apiKeyName: 'test', via: 'rest' } },
      ],
    });
    expect(w.phone.messages.findLast(({ to }) => to === anna.phone)!.body).toContain('resolved');
    const audited = await w.context.db.sql.rows(
      'select action, via, actor from audit_log where target = $1 order by id',
      [byStatus['resolved']![0]!.incidentId],
    );
    const actor = { kind: 'user', userId: w.owner.userId };
    expect(audited.at(-1)).toMatchObject({ action: 'set_exception_status', via: 'rest', actor });
    const { timeline } = await w.expectOk('get_incident', { incidentId: byStatus['resolved']![0]!.incidentId });
    expect(timeline.at(-1).text).toMatch(
      new RegExp(`^Resolved by Olga with the API key "test", who set its exception to ${status}\\.`),
    );

    await w.expectOk('set_exception_status', { groupId: settled!.groupId, status: 'unresolved' });
    await w.expectOk('set_exception_status', { groupId: settled!.groupId, status });
    expect((await w.expectOk('list_incidents')).total).toBe(2);
  },
);

async function groups(w: StaffedWorld, serviceId: string): Promise<{ groupId: string }[]> {
  return (await w.expectOk('list_exception_groups', { serviceId })).groups;
}

async function disable(w: StaffedWorld, serviceId: string, capability: string): Promise<void> {
  await w.expectOk('disable_capability', { serviceId, capability });
}

async function statuses(w: StaffedWorld): Promise<Record<string, string>> {
  const opened = (await incidents(w)) as (Incident & { ruleId: string })[];
  return Object.fromEntries(opened.map(({ ruleId, status }) => [ruleId, status]));
}

/** Lets the breach be over: the first evaluation after it finds good values, and time goes on with good values. */
async function clearFor(w: StaffedWorld, rules: readonly Watched[], duration: { minutes: number }): Promise<void> {
  w.clock.advance({ minutes: 6 });
  await allMeasured(w, rules, 1);
  await w.evaluate();
  w.clock.advance(duration);
  await allMeasured(w, rules, 1);
}

/** Workers of which each waits with its decisions until so many have measured. */
function meeting(w: StaffedWorld, workers: number): () => EvaluationRuntime {
  const { promise, resolve } = Promise.withResolvers<void>();
  let measuredBy = 0;
  return () => ({
    ...w.runtime,
    rules: {
      async evaluate(questions, now) {
        const evaluations = await w.runtime.rules.evaluate(questions, now);
        measuredBy += 1;
        if (measuredBy === workers) resolve();
        await promise;
        return evaluations;
      },
    },
  });
}

describe('a rule whose points wait to be stored', () => {
  const watchedCount = async (w: StaffedWorld) =>
    await watched(w, { ...LATENCY, windowMinutes: 1, aggregation: 'count', comparator: '<', threshold: 2 });

  test('opens nothing, says so, and continues by itself', async () => {
    const w = await staffedWorld();
    const rule = await watchedCount(w);
    const { serviceId } = rule;
    await measured(w, rule, 1);
    await delayPoints(w, serviceId);
    await evaluateRules(w.runtime);
    expect(await incidents(w)).toHaveLength(1);
    const [{ incidentId }] = (await incidents(w)) as [Incident];
    await w.expectOk('resolve_incident', { incidentId });

    w.clock.advance({ seconds: 6 });
    await evaluateRules(w.runtime);
    expect(await incidents(w)).toHaveLength(1);
    const waiting = {
      since: w.clock.now().subtract({ seconds: 6 }).toString({ smallestUnit: 'millisecond' }),
      behindSeconds: 6,
    };
    expect((await w.expectOk('get_service', { serviceId })).alertRules).toMatchObject([{ waitingForData: waiting }]);
    expect(await servicesWaiting(w)).toBe(1);

    await arrive(w);
    // The figures are kept for a second.
    w.clock.advance({ seconds: 1 });
    expect(await servicesWaiting(w)).toBe(0);
    await w.evaluate();
    expect(await incidents(w)).toMatchObject([{ status: 'triggered' }, { status: 'resolved' }]);
    expect((await w.expectOk('get_service', { serviceId })).alertRules).toMatchObject([{ waitingForData: null }]);
  });

  test('resolves nothing, and continues by itself', async () => {
    const w = await staffedWorld();
    const rule = await watchedCount(w);
    await measured(w, rule, 1);
    await w.evaluate();
    expect(await incidents(w)).toMatchObject([{ status: 'triggered' }]);
    const holdsBack = async (): Promise<void> => {
      await measured(w, rule, 1);
      await measured(w, rule, 1, 1);
      await evaluateRules(w.runtime);
    };
    await holdsBack();
    await delayPoints(w, rule.serviceId);
    for (let i = 0; i < 4; i += 1) {
      w.clock.advance({ seconds: 20 });
      await holdsBack();
    }
    expect(await incidents(w)).toMatchObject([{ status: 'triggered' }]);
    await arrive(w);
    for (let i = 0; i < 4; i += 1) {
      await holdsBack();
      w.clock.advance({ seconds: 20 });
    }
    await holdsBack();
    expect(await incidents(w)).toMatchObject([{ status: 'resolved' }]);
  });
});
