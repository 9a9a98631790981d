import { expect, test } from 'vitest';

import { recordDeploy } from '#modules/releases/operations/releases.ts';
import { eventAt, groupAndStore, withMessage } from '#test/modules/exceptions/given_events.ts';
import { givenMetrics } from '#test/kit/metrics/given_metrics.ts';
import { memberCaller, runOperation } from '#test/kit/run_operation.ts';
import { staffedWorld } from '#test/kit/staffed_world.ts';

test('an incident comes with what fired, deploys, new exceptions, metrics that moved and how alike ones ended', async () => {
  const w = await staffedWorld();
  const [teamId, anna] = await w.staff.teamOf('Anna');
  const steps = [{ afterMinutes: 0, channels: ['sms' as const], targetUserIds: [anna.userId] }];
  const alert = await w.staff.alert(teamId, steps);
  const first = await alert.trigger();
  w.clock.advance({ minutes: 12 });
  await w.expectOk('resolve_incident', { incidentId: first }, { key: anna.key });
  w.clock.advance({ hours: 3 });
  await groupAndStore(w, alert.serviceId, [eventAt(w, { release: 'shop@2', ...withMessage('no pool left') })]);
  await givenMetrics(w, alert.serviceId, {
    name: 'pool_waiting',
    minutes: 120,
    everySeconds: 60,
    value: (step) => (step > 115 ? 900 : 1 + (step % 3)),
  });
  const incidentId = await alert.trigger();
  w.clock.advance({ minutes: 20 });
  const { evidence } = await w.expectOk('get_incident', { incidentId });
  expect(evidence).toMatchObject({
    rule: { ruleId: alert.ruleId, enabled: true },
    policyName: expect.any(String),
    deploys: [{ release: 'shop@2' }],
    newGroups: [{ title: 'no pool left' }],
    movedMetrics: { total: 1, metrics: [{ metricName: 'pool_waiting' }] },
    similar: { incidents: [{ incidentId: first, secondsToResolve: 720, resolvedBy: expect.stringContaining('Anna') }] },
  });
  expect(JSON.stringify(evidence)).not.toMatch(/tocsin_ing_|@tocsin\.test\/\d/);

  const blind = await w.given.apiKey({ permissions: ['oncall:view'] });
  const withheld = (await w.expectOk('get_incident', { incidentId }, { key: blind })).evidence;
  expect(withheld).toMatchObject({ deploys: null, movedMetrics: null, newGroups: [], similar: { count: 1 } });

  await w.expectOk('delete_alert_rule', { ruleId: alert.ruleId });
  expect((await w.expectOk('get_incident', { incidentId })).evidence.rule).toBeNull();
});

test('deploys are those that were recorded; the first exception tells only of releases that nobody recorded', async () => {
  const w = await staffedWorld();
  const steps = [{ afterMinutes: 0, channels: ['sms' as const], useSchedule: true }];
  const alert = await w.staff.alert(await w.staff.team(), steps);
  const { serviceId } = alert;
  const owner = memberCaller(w.orgId, w.owner.userId, 'owner');
  const deploy = (release: string, environment: string) =>
    runOperation(w, recordDeploy, owner, { serviceId, release, environment });
  await deploy('shop@2', 'production');
  w.clock.advance({ minutes: 8 });
  await deploy('shop@3', 'staging');
  w.clock.advance({ minutes: 2 });
  const [group] = await groupAndStore(w, serviceId, [
    eventAt(w, { release: 'shop@2', environment: 'production', ...withMessage('no pool left') }),
    eventAt(w, { release: 'hotfix', environment: 'staging', ...withMessage('no route') }),
  ]);
  const incidentId = await alert.trigger();
  const { evidence } = await w.expectOk('get_incident', { incidentId });
  expect(evidence.deploys).toMatchObject([
    { release: 'hotfix', environment: null },
    { release: 'shop@3', environment: 'staging' },
    { release: 'shop@2', environment: 'production' },
  ]);
  const { firstBadRelease, suspectDeploy } = await w.expectOk('get_exception_group', { groupId: group!.groupId });
  expect(firstBadRelease).toBe('shop@2');
  expect(suspectDeploy).toMatchObject({ release: 'shop@2', environment: 'production', secondsBefore: 600 });
});
