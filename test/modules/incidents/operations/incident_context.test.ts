import { expect, onTestFinished, test, vi } from 'vitest';

import type { Id } from '#kernel/ids.ts';
import {
  getIncidentContext,
  getLinkedIncidents,
  listMovedMetrics,
} from '#modules/incidents/operations/incident_context.ts';
import { recordDeploy } from '#modules/releases/operations/releases.ts';
import { replaceAlertRule } from '#modules/rules/operations/update_alert_rule.ts';
import { exceptionEvent } from '#test/kit/exception_event.ts';
import { runGroupExceptions } from '#test/kit/ingest_jobs.ts';
import { givenMetrics } from '#test/kit/metrics/given_metrics.ts';
import { memberCaller, runOperation } from '#test/kit/run_operation.ts';
import { type StaffedWorld, staffedWorld } from '#test/kit/staffed_world.ts';

const contextOf = (w: StaffedWorld, incidentId: string) =>
  runOperation(w, getIncidentContext, memberCaller(w.orgId, w.owner.userId, 'viewer'), { incidentId });

async function anAlert() {
  const w = await staffedWorld();
  const [teamId, anna] = await w.staff.teamOf('Anna');
  const alert = await w.staff.alert(teamId, [{ afterMinutes: 0, channels: ['sms'], targetUserIds: [anna.userId] }]);
  return { w, anna, alert };
}

test('similar incidents say who resolved them and how long they took', async () => {
  const { w, anna, alert } = await anAlert();
  const first = await alert.trigger();
  w.clock.advance({ minutes: 12 });
  await w.expectOk('resolve_incident', { incidentId: first }, { key: anna.key });
  const second = await alert.trigger('another title of the same rule');
  w.clock.advance({ minutes: 30 });
  await w.expectOk('resolve_incident', { incidentId: second });
  const third = await alert.trigger();
  const { similar } = await contextOf(w, third);
  expect(similar).toMatchObject({
    count: 2,
    medianSecondsToResolve: 12 * 60,
    incidents: [{ incidentId: second }, { incidentId: first, resolvedBy: expect.stringContaining('Anna') }],
  });
  w.clock.advance({ hours: 24 * 91 });
  expect((await contextOf(w, third)).similar).toMatchObject({ count: 0, incidents: [] });
});

test('it says what was changed shortly before, and which exceptions and incidents came at the same time', async () => {
  const { w, alert } = await anAlert();
  w.clock.advance({ hours: 3 });
  await w.expectOk('update_alert_rule', { ruleId: alert.ruleId, name: 'Latency of the checkout' });
  await w.expectOk('get_service', { serviceId: alert.serviceId });
  w.clock.advance({ minutes: 1 });
  const { policyId } = alert;
  await w.expectOk('update_escalation_policy', { policyId, name: 'Page everybody' });
  w.clock.advance({ minutes: 10 });
  const other = await w.given.service({ name: 'search' });
  await w.expectOk('create_alert_rule', { serviceId: other.serviceId, name: 'New', kind: 'exception', config: {} });
  await runGroupExceptions(w.runtime, { orgId: w.orgId, serviceId: other.serviceId }, [
    exceptionEvent(w.clock.now(), { exceptions: [], message: 'no route to the index' }),
  ]);
  w.clock.advance({ minutes: 4 });
  const incidentId = await alert.trigger();
  const { changes, newGroups, neighbours } = await contextOf(w, incidentId);
  expect(changes).toMatchObject([
    { action: 'update_escalation_policy', target: policyId, targetName: 'Page everybody' },
    { action: 'update_alert_rule', target: alert.ruleId, targetName: 'Latency of the checkout' },
  ]);
  expect(newGroups).toMatchObject([{ title: 'no route to the index', serviceName: 'search' }]);
  expect(neighbours).toMatchObject([{ title: 'no route to the index', serviceName: 'search', status: 'triggered' }]);
});

test('it looks for new releases among exceptions only of a service that has some', async () => {
  const { w, alert } = await anAlert();
  const incidentId = await alert.trigger();
  const asked = vi.spyOn(w.context.actions.exceptions, 'listNewReleases');
  onTestFinished(() => asked.mockRestore());
  expect(await contextOf(w, incidentId)).toMatchObject({ releases: [], releaseTotal: 0 });
  expect(asked).not.toHaveBeenCalled();
  const event = exceptionEvent(w.clock.now(), { exceptions: [], message: 'declined', release: '1.0.0' });
  await runGroupExceptions(w.runtime, { orgId: w.orgId, serviceId: alert.serviceId }, [event]);
  expect((await contextOf(w, incidentId)).releases).toMatchObject([{ release: '1.0.0' }]);
  expect(asked).toHaveBeenCalled();
});

test('it names the releases that were deployed or first seen shortly before, and links new exceptions', async () => {
  const { w, alert } = await anAlert();
  const event = (release: string) => exceptionEvent(w.clock.now(), { exceptions: [], message: 'declined', release });
  const arrive = (release: string) =>
    runGroupExceptions(w.runtime, { orgId: w.orgId, serviceId: alert.serviceId }, [event(release)]);
  await arrive('1.0.0');
  w.clock.advance({ hours: 3 });
  await arrive('1.0.0');
  await arrive('1.1.0');
  w.clock.advance({ minutes: 20 });
  const incidentId = await alert.trigger();
  const { releases } = await contextOf(w, incidentId);
  expect(releases).toEqual([{ release: '1.1.0', at: expect.any(String), environment: null }]);
  const deploy = { serviceId: alert.serviceId, release: '1.2.0', environment: 'production' };
  await runOperation(w, recordDeploy, memberCaller(w.orgId, w.owner.userId, 'editor'), deploy);
  const [newest] = (await contextOf(w, incidentId)).releases;
  expect(newest).toMatchObject({ release: '1.2.0', environment: 'production' });
});

test('however much follows an incident, what led to it is listed first', async () => {
  const { w, alert } = await anAlert();
  w.clock.advance({ hours: 3 });
  const { serviceId } = alert;
  const deploy = (release: string) =>
    runOperation(w, recordDeploy, memberCaller(w.orgId, w.owner.userId, 'editor'), {
      serviceId,
      release,
      environment: 'production',
    });
  await deploy('1.0.0');
  await w.expectOk('update_alert_rule', { ruleId: alert.ruleId, name: 'Before' });
  w.clock.advance({ minutes: 1 });
  const incidentId = await alert.trigger();
  for (let after = 1; after <= 20; after += 1) {
    w.clock.advance({ seconds: 10 });
    if (after <= 10) await deploy(`2.0.${after}`);
    await w.expectOk('update_alert_rule', { ruleId: alert.ruleId, name: `After ${after}` });
  }
  const { changes, changeTotal, releases, releaseTotal } = await contextOf(w, incidentId);
  expect([releases[0]?.release, releases[1]?.release]).toEqual(['1.0.0', '2.0.1']);
  expect([releases.length, releaseTotal]).toEqual([10, 11]);
  expect(Date.parse(changes[0]!.at)).toBeLessThan(Date.parse(changes[1]!.at));
  expect([changes.length, changeTotal]).toEqual([20, 21]);
});

test('histograms that moved are listed by a quantile, counters by their rate, out of all names', async () => {
  const { w, alert } = await anAlert();
  const { serviceId } = alert;
  const series = { minutes: 80, everySeconds: 60 };
  const bucket = (le: string, value: (step: number) => number) =>
    ({ name: 'z.latency_bucket', labels: { le }, kind: 'delta', ...series, value }) as const;
  await givenMetrics(
    w,
    serviceId,
    // Every other name is compared.
    ...[...Array.from({ length: 41 }, (_, index) => `a.steady.${index}`), 'z.filler', 'z.queue'].map((name) => ({
      name,
      ...series,
      value: () => 7,
    })),
    bucket('0.1', (step) => (step < 76 ? 10 : 0)),
    bucket('5', () => 10),
    bucket('+Inf', () => 10),
    { name: 'z.latency_count', kind: 'delta', ...series, value: () => 10 },
    { name: 'z.errors_total', kind: 'delta', ...series, value: (step) => (step < 76 ? 6 + (step % 2) : 600) },
  );
  const incidentId = await alert.trigger();
  const caller = memberCaller(w.orgId, w.owner.userId, 'viewer');
  const { metrics, lookedAt, total } = await runOperation(w, listMovedMetrics, caller, { incidentId });
  const findMoved = (name: string) => metrics.find(({ metricName }: { metricName: string }) => metricName === name);
  expect(findMoved('z.errors_total')).toMatchObject({ aggregation: 'sum', isRate: true, after: 10 });
  expect(findMoved('z.latency{quantile="0.95"}').after).toBeGreaterThan(1);
  expect([lookedAt, total]).toEqual([40, 45]);
});

test('it lists the metrics that left their usual range when the incident opened, and no others', async () => {
  const { w, alert } = await anAlert();
  const { serviceId } = alert;
  const series = { minutes: 80, everySeconds: 60 };
  await givenMetrics(
    w,
    serviceId,
    { name: 'queue_depth', ...series, value: (step) => (step < 78 ? 10 + (step % 3) : 90) },
    { name: 'cpu_ratio', ...series, value: (step) => 0.4 + (step % 5) / 100 },
  );
  const incidentId = await alert.trigger();
  const caller = memberCaller(w.orgId, w.owner.userId, 'viewer');
  const { metrics, lookedAt, total } = await runOperation(w, listMovedMetrics, caller, { incidentId });
  expect(metrics).toMatchObject([{ metricName: 'queue_depth', aggregation: 'avg' }]);
  expect(Math.round(metrics[0].before)).toBe(11);
  expect(metrics[0].after).toBeGreaterThan(30);
  expect(lookedAt).toBe(total);
  const other = await w.given.organization('Umbrella');
  await expect(
    runOperation(w, listMovedMetrics, { ...caller, orgId: other.orgId }, { incidentId }),
  ).rejects.toMatchObject({ code: 'not_found' });
});

test('metrics are compared again after some seconds, and at once after a fault', async () => {
  const { w, alert } = await anAlert();
  const given = (name: string) =>
    givenMetrics(w, alert.serviceId, { name, minutes: 5, everySeconds: 60, value: () => 1 });
  await given('first');
  const incidentId = await alert.trigger();
  const asked = vi.spyOn(w.context.actions.metrics.catalog, 'search');
  onTestFinished(() => asked.mockRestore());
  const caller = memberCaller(w.orgId, w.owner.userId, 'viewer');
  const total = async () => (await runOperation(w, listMovedMetrics, caller, { incidentId })).total;
  asked.mockRejectedValueOnce(new Error('the store does not answer'));
  await expect(total()).rejects.toThrow('does not answer');
  expect(await total()).toBe(1);
  await given('second');
  expect(await total()).toBe(1);
  expect(asked).toHaveBeenCalledTimes(2);
  w.clock.advance({ seconds: 15 });
  expect(await total()).toBe(2);
});

test('the context of an incident of another organization is not found', async () => {
  const { w, alert } = await anAlert();
  const incidentId = await alert.trigger();
  const other = await w.given.organization('Umbrella');
  const caller = { ...memberCaller(w.orgId, w.owner.userId, 'owner'), orgId: other.orgId };
  await expect(runOperation(w, getIncidentContext, caller, { incidentId })).rejects.toMatchObject({
    code: 'not_found',
  });
});

test('new exceptions and incidents of its own service come first, the nearest in time, with how many more there were', async () => {
  const { w, alert } = await anAlert();
  const arrive = (serviceId: string, ...messages: readonly string[]) =>
    runGroupExceptions(
      w.runtime,
      { orgId: w.orgId, serviceId: serviceId as Id<'service'> },
      messages.map((message) => exceptionEvent(w.clock.now(), { exceptions: [], message })),
    );
  const other = await w.given.service({ name: 'search' });
  const words = ['pear', 'plum', 'fig', 'lime', 'kiwi', 'date', 'nut', 'oat', 'rye', 'pea', 'leek', 'yam'];
  await arrive(other.serviceId, ...words);
  w.clock.advance({ minutes: 5 });
  for (const word of ['red', 'blue']) {
    await arrive(alert.serviceId, `${word} paint ran out`);
    w.clock.advance({ minutes: 2 });
  }
  const incidentId = await alert.trigger();
  const { newGroups, newGroupTotals, neighbours, neighbourTotals } = await contextOf(w, incidentId);
  expect(newGroups.map(({ title }: { title: string }) => title).slice(0, 2)).toEqual([
    'blue paint ran out',
    'red paint ran out',
  ]);
  expect(newGroups).toHaveLength(10);
  expect(newGroupTotals).toEqual({ ofService: 2, elsewhere: 12 });
  expect([neighbours, neighbourTotals]).toEqual([[], { ofService: 0, elsewhere: 0 }]);
  const { evidence } = await w.expectOk('get_incident', { incidentId });
  expect([evidence.newGroups, evidence.newGroupTotals]).toEqual([newGroups, newGroupTotals]);
});

test('an incident leads to its rule, what that says, its runbook and the incident that its cause opened since', async () => {
  const w = await staffedWorld();
  const [teamId, anna] = await w.staff.teamOf('Anna');
  const steps = [{ afterMinutes: 0, channels: ['sms' as const], targetUserIds: [anna.userId] }];
  const alert = await w.staff.alert(teamId, steps);
  const caller = memberCaller(w.orgId, w.owner.userId, 'editor');
  const linksOf = (incidentId: string) => runOperation(w, getLinkedIncidents, caller, { incidentId });

  const first = await alert.trigger();
  expect(await linksOf(first)).toMatchObject({
    rule: { ruleId: alert.ruleId, description: null, runbookUrl: null },
    later: null,
    laterCount: 0,
  });
  const ruleNow = async () =>
    (await w.expectOk('get_service', { serviceId: alert.serviceId })).alertRules.find(
      ({ ruleId }: { ruleId: string }) => ruleId === alert.ruleId,
    );
  const rule = await ruleNow();
  const guidance = { description: 'Customers wait.', runbookUrl: 'https://wiki.example.com/checkout' };
  await runOperation(w, replaceAlertRule, caller, {
    ruleId: alert.ruleId,
    basedOn: rule?.updatedAt,
    name: rule?.name,
    config: rule?.config,
    escalationPolicyId: alert.policyId,
    enabled: true,
    settings: { ...guidance, severity: 'warning' },
  });
  await w.expectOk('resolve_incident', { incidentId: first });
  w.clock.advance({ minutes: 5 });
  const second = await alert.trigger();
  expect(await linksOf(first)).toMatchObject({
    rule: { ruleId: alert.ruleId, ...guidance },
    later: { incidentId: second, status: 'triggered' },
    laterCount: 1,
  });
  expect(await linksOf(second)).toMatchObject({ later: null });

  await w.expectOk('update_alert_rule', { ruleId: alert.ruleId, name: 'Renamed' });
  const { evidence } = await w.expectOk('get_incident', { incidentId: second });
  expect(evidence.rule).toMatchObject({ name: 'Renamed', ...guidance });
  expect((await ruleNow())?.settings).toMatchObject({ ...guidance, severity: 'warning' });
});
