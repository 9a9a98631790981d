import { expect, test } from 'vitest';

import { runStorePoints } from '#test/kit/ingest_jobs.ts';
import { fileWorld, type World } from '#test/kit/world.ts';
import { workerRuntime } from '#workers/worker_role.ts';

const shared = await fileWorld();

const METRIC = { metricName: 'cpu', comparator: '>', threshold: 90 };

async function given(w: World) {
  const { serviceId } = await w.given.service();
  const { teamId } = await w.expectOk('create_team', { name: 'Payments' });
  const { policyId } = await w.expectOk('create_escalation_policy', {
    teamId,
    name: 'Page',
    steps: [{ afterMinutes: 0, channels: ['sms'], useSchedule: true }],
  });
  return { serviceId, policyId: policyId as string };
}

function pathsOf(answer: { body: { errors: { path: string }[] } }): string[] {
  return answer.body.errors.map(({ path }) => path).sort();
}

test('a metric rule comes back with its defaults filled in, and with its service', async () => {
  const w = await shared.forOrganization();
  const { serviceId, policyId } = await given(w);
  const rule = await w.expectOk('create_alert_rule', {
    serviceId,
    name: 'Busy',
    kind: 'metric_threshold',
    config: METRIC,
    escalationPolicyId: policyId,
  });
  expect(rule).toEqual({
    ruleId: expect.stringMatching(/^rule_/),
    serviceId,
    name: 'Busy',
    kind: 'metric_threshold',
    config: { ...METRIC, windowMinutes: 5, aggregation: 'avg' },
    escalationPolicyId: policyId,
    enabled: true,
    status: 'active',
    missingMetric: { metricName: 'cpu', nearestNames: [], noQuantiles: null },
    createdAt: expect.any(String),
    updatedAt: rule.createdAt,
  });
  expect((await w.expectOk('get_service', { serviceId })).alertRules).toEqual([{ ...rule, waitingForData: null }]);
});

test('an exception rule asks for errors unless it says otherwise', async () => {
  const w = await shared.forOrganization();
  const { serviceId } = await given(w);
  const create = (config: object) =>
    w.expectOk('create_alert_rule', { serviceId, name: 'New errors', kind: 'exception', config, enabled: false });
  expect(await create({})).toMatchObject({
    config: { minSeverity: 'error' },
    escalationPolicyId: null,
    enabled: false,
    status: 'disabled',
  });
  for (const minSeverity of ['debug', 'info', 'warning', 'error', 'fatal']) {
    expect((await create({ minSeverity })).config).toEqual({ minSeverity });
  }
});

test('a metric rule may select series by label, and any finite threshold', async () => {
  const w = await shared.forOrganization();
  const { serviceId } = await given(w);
  const metricName = 'http_requests_total{status=~"5..",route!="/health"}';
  for (const threshold of [-1e308, 0, 0.1, Number.MAX_SAFE_INTEGER]) {
    const config = { metricName, comparator: '<=', threshold, windowMinutes: 10_080, aggregation: 'count' };
    const rule = await w.expectOk('create_alert_rule', { serviceId, name: 'x', kind: 'metric_threshold', config });
    expect(rule.config).toEqual(config);
  }
});

test('every fault of a rule is named at once, inside its config as well', async () => {
  const w = await shared.forOrganization();
  const answer = await w.call('create_alert_rule', {
    name: ' ',
    kind: 'log',
    config: {
      metricName: 1,
      comparator: '=>',
      threshold: '90',
      windowMinutes: 0,
      aggregation: 'p99',
      minSeverity: 'low',
      window: 5,
    },
    escalationPolicyId: null,
    enabled: 'true',
    severity: 'high',
  });
  expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_input' } });
  expect(pathsOf(answer)).toEqual([
    'config.aggregation',
    'config.comparator',
    'config.metricName',
    'config.minSeverity',
    'config.threshold',
    'config.window',
    'config.windowMinutes',
    'enabled',
    'escalationPolicyId',
    'kind',
    'name',
    'serviceId',
    'severity',
  ]);
});

test('a config is judged by the kind of its rule, before the things that the rule names', async () => {
  const w = await shared.forOrganization();
  const faults = async (kind: string, config: unknown) =>
    pathsOf(
      await w.call('create_alert_rule', { serviceId: 'x', name: 'x', kind, config, escalationPolicyId: 'nothing' }),
    );
  expect(await faults('metric_threshold', {})).toEqual(['config.comparator', 'config.metricName', 'config.threshold']);
  expect(await faults('metric_threshold', { ...METRIC, minSeverity: 'error' })).toEqual(['config.minSeverity']);
  expect(await faults('metric_threshold', { ...METRIC, metricName: 'cpu{host=' })).toEqual(['config.metricName']);
  expect(await faults('metric_threshold', { ...METRIC, metricName: ' ' })).toEqual(['config.metricName']);
  expect(await faults('exception', { minSeverity: 'error', threshold: 1, windowMinutes: 5 })).toEqual([
    'config.threshold',
    'config.windowMinutes',
  ]);
  expect(await faults('exception', [])).toEqual(['config']);
  expect(await faults('exception', null)).toEqual(['config']);
});

test('a rule names a service and a policy of its own organization', async () => {
  const w = await shared.forOrganization();
  const { serviceId, policyId } = await given(w);
  const { orgKey: key } = await w.given.organization('Other');
  const ownService = await w.given.service({ key });
  const rule = { name: 'x', kind: 'exception', config: {} };
  expect(await w.call('create_alert_rule', { ...rule, serviceId, escalationPolicyId: 'x' }, { key })).toMatchObject({
    status: 404,
    body: { code: 'not_found', errors: [{ path: 'serviceId' }] },
  });
  const foreign = { ...rule, serviceId: ownService.serviceId, escalationPolicyId: policyId };
  expect(await w.call('create_alert_rule', foreign, { key })).toMatchObject({
    status: 404,
    body: { code: 'not_found', errors: [{ path: 'escalationPolicyId' }] },
  });
  const { ruleId } = await w.expectOk('create_alert_rule', { ...rule, serviceId: ownService.serviceId }, { key });
  expect(await w.call('update_alert_rule', { ruleId, escalationPolicyId: policyId }, { key })).toMatchObject({
    status: 404,
    body: { code: 'not_found', errors: [{ path: 'escalationPolicyId' }] },
  });
});

test('a rule is active only while its service has oncall and the capability that feeds it', async () => {
  const w = await shared.forOrganization();
  const { serviceId } = await w.given.service({ capabilities: ['metrics'] });
  await w.expectOk('create_alert_rule', { serviceId, name: 'm', kind: 'metric_threshold', config: METRIC });
  const { ruleId } = await w.expectOk('create_alert_rule', { serviceId, name: 'e', kind: 'exception', config: {} });
  const statuses = async () =>
    (await w.expectOk('get_service', { serviceId })).alertRules.map((rule: { status: string }) => rule.status);
  expect(await statuses()).toEqual(['capability_disabled', 'capability_disabled']);
  await w.expectOk('enable_capability', { serviceId, capability: 'oncall' });
  expect(await statuses()).toEqual(['active', 'capability_disabled']);
  await w.expectOk('enable_capability', { serviceId, capability: 'exceptions' });
  expect(await statuses()).toEqual(['active', 'active']);
  await w.expectOk('disable_capability', { serviceId, capability: 'metrics' });
  expect(await statuses()).toEqual(['capability_disabled', 'active']);
  expect(await w.expectOk('update_alert_rule', { ruleId, enabled: false })).toMatchObject({ status: 'disabled' });
  expect(await statuses()).toEqual(['capability_disabled', 'disabled']);
});

test('an update changes what it names; null takes the policy away; a config is replaced as a whole', async () => {
  const w = await shared.forOrganization();
  const { serviceId, policyId } = await given(w);
  const rule = await w.expectOk('create_alert_rule', {
    serviceId,
    name: 'Busy',
    kind: 'metric_threshold',
    config: { ...METRIC, windowMinutes: 10 },
    escalationPolicyId: policyId,
  });
  const { ruleId } = rule;
  w.clock.advance({ minutes: 1 });
  const update = (body: object) => w.expectOk('update_alert_rule', { ruleId, ...body });
  expect(await update({})).toEqual(rule);
  const sameAgain = { name: 'Busy', config: { windowMinutes: 10, ...METRIC }, escalationPolicyId: policyId };
  expect(await update({ ...sameAgain, enabled: true })).toEqual(rule);
  const moved = await update({ config: { ...METRIC, threshold: 95 } });
  expect(moved).toMatchObject({
    name: 'Busy',
    config: { threshold: 95, windowMinutes: 5 },
    escalationPolicyId: policyId,
  });
  expect(moved.updatedAt > rule.updatedAt).toBe(true);
  expect(await update({ escalationPolicyId: null })).toMatchObject({ escalationPolicyId: null, name: 'Busy' });
  const entries = await w.context.db.sql.rows('select action from audit_log where target = $1 order by id', [ruleId]);
  expect(entries).toEqual([
    { action: 'create_alert_rule' },
    { action: 'update_alert_rule' },
    { action: 'update_alert_rule' },
  ]);
});

test('an update is judged by the kind of the rule, and the kind never changes', async () => {
  const w = await shared.forOrganization();
  const { serviceId } = await given(w);
  const rule = { serviceId, name: 'x', kind: 'exception', config: { minSeverity: 'fatal' } };
  const { ruleId } = await w.expectOk('create_alert_rule', rule);
  const update = (body: object) => w.call('update_alert_rule', { ruleId, ...body });
  expect(pathsOf(await update({ config: METRIC, escalationPolicyId: 'nothing' }))).toEqual([
    'config.comparator',
    'config.metricName',
    'config.threshold',
  ]);
  expect(pathsOf(await update({ kind: 'exception' }))).toEqual(['kind']);
  expect(pathsOf(await update({ config: null }))).toEqual(['config']);
  expect(pathsOf(await update({ enabled: null, name: null }))).toEqual(['enabled', 'name']);
  expect((await update({ config: {} })).body.result.config).toEqual({ minSeverity: 'error' });
});

test('concurrent updates of different fields of a rule are all kept', async () => {
  const w = await shared.forOrganization();
  const { serviceId, policyId } = await given(w);
  const { ruleId } = await w.expectOk('create_alert_rule', { serviceId, name: 'x', kind: 'exception', config: {} });
  const changes = [
    { name: 'Fatal only' },
    { config: { minSeverity: 'fatal' } },
    { escalationPolicyId: policyId },
    { enabled: false },
  ];
  await Promise.all(changes.map((change) => w.expectOk('update_alert_rule', { ruleId, ...change })));
  expect((await w.expectOk('get_service', { serviceId })).alertRules).toMatchObject([Object.assign({}, ...changes)]);
});

test('a rule of another organization, or of a deleted service, is not there', async () => {
  const w = await shared.forOrganization();
  const { serviceId } = await given(w);
  const { ruleId } = await w.expectOk('create_alert_rule', { serviceId, name: 'x', kind: 'exception', config: {} });
  const { orgKey: key } = await w.given.organization('Other');
  const withoutRequest = ({ status, body }: { status: number; body: object }) => ({ status, ...body, requestId: '' });
  for (const action of ['update_alert_rule', 'delete_alert_rule']) {
    const foreign = await w.call(action, { ruleId }, { key });
    expect({ action, ...foreign }).toMatchObject({ action, status: 404, body: { errors: [{ path: 'ruleId' }] } });
    expect(withoutRequest(foreign)).toEqual(withoutRequest(await w.call(action, { ruleId: 'nothing' }, { key })));
  }
  await w.expectOk('delete_service', { serviceId });
  for (const action of ['update_alert_rule', 'delete_alert_rule']) {
    expect({ action, ...(await w.call(action, { ruleId })) }).toMatchObject({
      action,
      status: 404,
      body: { errors: [{ path: 'ruleId' }] },
    });
  }
});

test('a deleted rule is gone', async () => {
  const w = await shared.forOrganization();
  const { serviceId } = await given(w);
  const { ruleId } = await w.expectOk('create_alert_rule', { serviceId, name: 'x', kind: 'exception', config: {} });
  expect(await w.expectOk('delete_alert_rule', { ruleId })).toEqual({ deleted: true, ruleId });
  expect((await w.expectOk('get_service', { serviceId })).alertRules).toEqual([]);
  expect((await w.call('delete_alert_rule', { ruleId })).status).toBe(404);
});

test('a rule whose metric has never arrived says so, with the nearest names, and no longer once it has', async () => {
  const w = await shared.forOrganization();
  const { serviceId } = await given(w);
  const runtime = workerRuntime(w.context);
  const arrive = (...names: string[]) =>
    runStorePoints(
      runtime,
      serviceId,
      names.map((name) => ({ name, at: w.clock.now(), value: 1 })),
    );
  await arrive('http_latency', 'http_latency_max', 'disk_free_bytes');
  const wanted = { serviceId, name: 'Slow', kind: 'metric_threshold' };
  const config = { ...METRIC, metricName: 'http_latencey{route="/pay"}' };
  const rule = await w.expectOk('create_alert_rule', { ...wanted, config });
  const missingMetric = { metricName: 'http_latencey', nearestNames: ['http_latency', 'http_latency_max'] };
  expect(rule).toMatchObject({ status: 'active', missingMetric });
  const key = await w.given.apiKey({ permissions: ['oncall:edit'] });
  expect(await w.expectOk('update_alert_rule', { ruleId: rule.ruleId }, { key })).toMatchObject({
    missingMetric: { metricName: 'http_latencey', nearestNames: [], noQuantiles: null },
  });
  expect((await w.expectOk('get_service', { serviceId })).alertRules).toMatchObject([{ missingMetric }]);
  await arrive('http_latencey');
  const unmet = { metricName: 'http_latencey{route="/pay"}', nearestNames: [], noQuantiles: null };
  expect((await w.expectOk('get_service', { serviceId })).alertRules).toMatchObject([{ missingMetric: unmet }]);
  const routed = (route: string) => ({ name: 'http_latencey', labels: { route }, at: w.clock.now(), value: 1 });
  await runStorePoints(runtime, serviceId, [routed('/pai')]);
  const nearestNames = ['http_latencey{route="/pai"}'];
  expect((await w.expectOk('get_service', { serviceId })).alertRules).toMatchObject([
    { missingMetric: { nearestNames } },
  ]);
  expect(
    await w.expectOk('query_metric', { serviceId, metricName: 'http_latencey{route="/pay"}', windowMinutes: 60 }),
  ).toMatchObject({ points: [], nearestNames });
  await runStorePoints(runtime, serviceId, [routed('/pay')]);
  expect((await w.expectOk('get_service', { serviceId })).alertRules).toMatchObject([{ missingMetric: null }]);
  const right = { ...METRIC, metricName: 'disk_free_bytes' };
  expect(await w.expectOk('update_alert_rule', { ruleId: rule.ruleId, config: right })).toMatchObject({
    missingMetric: null,
  });
  const exceptions = await w.expectOk('create_alert_rule', { ...wanted, kind: 'exception', config: {} });
  expect(exceptions.missingMetric).toBeNull();
});
