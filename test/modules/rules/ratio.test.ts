import { expect, test } from 'vitest';

import type { AnyOperation } from '#actions/action_context.ts';
import { queryMetrics } from '#modules/metrics/operations/query_metric.ts';
import { addAlertRule } from '#modules/rules/operations/create_alert_rule.ts';
import { readRuleHistory } from '#modules/rules/operations/read_rule_history.ts';
import { replayRule } from '#modules/rules/operations/replay_rule.ts';
import type { Id } from '#kernel/ids.ts';
import { memberCaller, runOperation } from '#test/kit/run_operation.ts';
import { runStorePoints } from '#test/kit/ingest_jobs.ts';
import { type StaffedWorld, staffedWorld } from '#test/kit/staffed_world.ts';

const RATIO = 'http_requests_total{status=~"5.."} / http_requests_total * 100';
const CONFIG = { metricName: RATIO, comparator: '>', threshold: 5, windowMinutes: 5, aggregation: 'sum' };

/** Counters of a shop, as Prometheus would scrape them. */
class Shop {
  readonly #w: StaffedWorld;
  readonly #serviceId: Id<'service'>;
  readonly #totals = new Map<string, number>();

  constructor(w: StaffedWorld, serviceId: Id<'service'>) {
    this.#w = w;
    this.#serviceId = serviceId;
  }

  /** A minute passes, in which so many requests end with each status; the rules are evaluated. */
  async minute(requests: Readonly<Record<string, number>>): Promise<void> {
    this.#w.clock.advance({ minutes: 1 });
    for (const [status, count] of Object.entries(requests)) {
      this.#totals.set(status, (this.#totals.get(status) ?? 0) + count);
    }
    const at = this.#w.clock.now();
    const points = [...this.#totals].map(([status, value]) => ({
      name: 'http_requests_total',
      at,
      value,
      kind: 'counter' as const,
      labels: { status },
    }));
    await runStorePoints(this.#w.runtime, this.#serviceId, points);
    await this.#w.evaluate();
  }
}

async function shop(w: StaffedWorld) {
  const { serviceId } = await w.given.service();
  return { serviceId, shop: new Shop(w, serviceId) };
}

const run = (w: StaffedWorld, operation: AnyOperation, input: object) =>
  runOperation(w, operation, memberCaller(w.orgId, w.owner.userId, 'editor'), input);

const incidents = async (w: StaffedWorld) => (await w.expectOk('list_incidents')).incidents;

test('a rule on an error ratio opens, recovers, and never judges where there is no traffic', async () => {
  const w = await staffedWorld();
  const { serviceId, shop: requests } = await shop(w);
  await requests.minute({ '200': 0, '500': 0 });
  const rule = { serviceId, name: 'Errors', kind: 'metric_threshold', config: { ...CONFIG, windowMinutes: 2 } };
  const { ruleId, config, missingMetric } = await w.expectOk('create_alert_rule', rule);
  expect(config).toEqual(rule.config);
  expect(missingMetric).toBeNull();
  await requests.minute({});
  await requests.minute({ '200': 96, '500': 4 });
  expect(await incidents(w)).toEqual([]);
  await requests.minute({ '200': 90, '500': 10 });
  expect(await incidents(w)).toMatchObject([
    {
      status: 'triggered',
      ruleId,
      title: `Errors: 7% > 5% (sum of ${RATIO})`,
      details: { metricName: RATIO, value: expect.closeTo(7) },
    },
  ]);
  for (let minute = 0; minute < 2; minute += 1) await requests.minute({ '200': 200 });
  expect(await incidents(w)).toMatchObject([{ status: 'triggered' }]);
  for (let minute = 0; minute < 2; minute += 1) await requests.minute({ '200': 200 });
  expect(await incidents(w)).toMatchObject([{ status: 'resolved' }]);
});

test('query, chart, history and replay give the ratio that the rule measures', async () => {
  const w = await staffedWorld();
  const { serviceId, shop: requests } = await shop(w);
  await requests.minute({ '200': 0, '500': 0 });
  for (let minute = 0; minute < 5; minute += 1) await requests.minute({ '200': 95, '500': 5 });
  const asked = { serviceId, metricName: RATIO, aggregation: 'sum' };
  const { points, summary } = await w.expectOk('query_metric', { ...asked, windowMinutes: 60 });
  // The first sample of a counter is no traffic.
  expect(points.map(({ value }: { value: number }) => value)).toEqual([5, 5, 5, 5, 5]);
  expect(summary).toMatchObject({ min: 5, max: 5 });

  const charts = await run(w, queryMetrics, {
    windowMinutes: 60,
    queries: [
      asked,
      { ...asked, splitBy: 'status' },
      { ...asked, metricName: 'http_requets_total / http_requests_total' },
    ],
  });
  expect(charts.results[0].series[0].values.every((value: number) => value === 5)).toBe(true);
  expect(charts.results[1].series.map(({ value }: { value: string }) => value)).toEqual(['500']);
  expect(charts.results[1].series[0].values).toEqual([100, 100, 100, 100, 100]);
  expect(charts.results[2]).toMatchObject({ series: [], nearest: ['http_requests_total / http_requests_total'] });

  const wanted = { ...asked, windowMinutes: 5, days: 1 };
  // The last minute has not ended.
  const { values } = await run(w, readRuleHistory, wanted);
  expect(values.filter((value: number | null) => value !== null)).toEqual([5, 5, 5, 5]);
  const replayed = await run(w, replayRule, { ...wanted, comparator: '>=', threshold: 5, escalationPolicyId: null });
  expect(replayed.incidentCount).toBe(1);
});

test('errors that are counted only when they happen are none where requests come, in rule, query, chart and history', async () => {
  const w = await staffedWorld();
  const { serviceId } = await w.given.service();
  const minute = async (counted: Readonly<Record<string, number>>) => {
    w.clock.advance({ minutes: 1 });
    const at = w.clock.now();
    const points = Object.entries(counted).map(([name, value]) => ({
      name,
      at,
      value,
      kind: 'delta' as const,
      labels: { route: '/' },
    }));
    await runStorePoints(w.runtime, serviceId, points);
    await w.evaluate();
  };
  const create = async (metricName: string, settings: object = {}, condition: object = {}) => {
    const config = { ...CONFIG, ...condition, metricName, windowMinutes: 1 };
    const rule = { serviceId, name: 'Errors', kind: 'metric_threshold', config, enabled: true };
    return (await run(w, addAlertRule, { ...rule, settings })).ruleId;
  };
  const rules = [
    await create('errors / requests * 100'),
    await create('errors / requests * 100', { byLabel: 'route' }),
  ];
  // By themselves they are not none: nobody knows whether any could have come.
  await create('errors', {}, { comparator: '<', threshold: 1 });
  await minute({ requests: 100, errors: 10 });
  expect(await incidents(w)).toHaveLength(2);
  for (let count = 0; count < 4; count += 1) await minute({ requests: 100 });
  expect(await incidents(w)).toMatchObject(rules.map(() => ({ status: 'resolved' })));

  const asked = { serviceId, metricName: 'errors / requests * 100', aggregation: 'sum' };
  const valuesOf = ({ points }: { points: { value: number }[] }) => points.map(({ value }) => value);
  expect(valuesOf(await w.expectOk('query_metric', { ...asked, windowMinutes: 60 }))).toEqual([10, 0, 0, 0, 0]);
  for (const split of [{}, { splitBy: 'route' }]) {
    const { results } = await run(w, queryMetrics, { windowMinutes: 60, queries: [{ ...asked, ...split }] });
    expect(results[0].series[0].values).toEqual([10, 0, 0, 0, 0]);
  }
  const { values } = await run(w, readRuleHistory, { ...asked, windowMinutes: 1, days: 1 });
  expect(values.filter((value: number | null) => value !== null)).toEqual([10, 0, 0, 0]);
  const misspelt = { ...asked, metricName: 'errors{rout="/"} / requests * 100', windowMinutes: 60 };
  expect(valuesOf(await w.expectOk('query_metric', misspelt))).toEqual([]);
});

test('a ratio of which a side has not arrived says which, and a faulty one says where', async () => {
  const w = await staffedWorld();
  const { serviceId, shop: requests } = await shop(w);
  await requests.minute({ '200': 1 });
  const create = (metricName: string) =>
    w.call('create_alert_rule', { serviceId, name: 'R', kind: 'metric_threshold', config: { ...CONFIG, metricName } });
  const missing = await create('http_requests_total / http_request_total');
  expect(missing.body.result.missingMetric).toMatchObject({
    metricName: 'http_request_total',
    nearestNames: ['http_requests_total'],
  });
  const unmet = await create('http_requests_total{status="5O0"} / http_requests_total');
  expect(unmet.body.result.missingMetric).toMatchObject({ metricName: 'http_requests_total{status="5O0"}' });
  for (const [metricName, message] of [
    ['a / b / c', 'a ratio has two sides, and a third one begins, at character 9'],
    ['a / b * Infinity', 'the factor behind the * is a finite number other than 0, at character 9'],
  ] as const) {
    const refused = await create(metricName);
    expect(refused.status).toBe(400);
    expect(JSON.stringify(refused.body)).toContain(`config.metricName: ${message}`);
  }
});

test('a ratio by a label of which its sides have no value in common says so, until they have', async () => {
  const w = await staffedWorld();
  const { serviceId } = await w.given.service();
  const send = (name: string, labels: Record<string, string>) =>
    runStorePoints(w.runtime, serviceId, [{ name, at: w.clock.now(), value: 1, labels }]);
  await send('errors', { host: 'a' });
  await send('requests', { node: 'a' });
  const rule = {
    serviceId,
    name: 'Errors',
    kind: 'metric_threshold',
    config: { ...CONFIG, metricName: 'errors / requests' },
    settings: { byLabel: 'host' },
  };
  const { ruleId, missingMetric } = await run(w, addAlertRule, rule);
  expect(missingMetric).toEqual({
    metricName: 'errors / requests',
    nearestNames: [],
    noQuantiles: null,
    withoutCommon: 'host',
  });
  await send('requests', { host: 'a' });
  const { alertRules } = await w.expectOk('get_service', { serviceId });
  expect(alertRules).toMatchObject([{ ruleId, missingMetric: null }]);
});
