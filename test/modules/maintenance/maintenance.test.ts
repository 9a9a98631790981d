import { beforeEach, describe, expect, test } from 'vitest';

import { getLinkedIncidents } from '#modules/incidents/operations/incident_context.ts';
import {
  createMaintenance,
  deleteMaintenance,
  listMaintenance,
  previewMaintenance,
  updateMaintenance,
} from '#modules/maintenance/operations/maintenance.ts';
import type { AnyOperation } from '#actions/action_context.ts';
import { runStorePoints } from '#test/kit/ingest_jobs.ts';
import { setOfRule } from '#test/kit/metrics/rule_settings.ts';
import { memberCaller, runOperation } from '#test/kit/run_operation.ts';
import { type Alert, type StaffedWorld, staffedWorld } from '#test/kit/staffed_world.ts';

let w: StaffedWorld;
let first: Alert;
let second: string;

beforeEach(async () => {
  w = await staffedWorld();
  const [teamId, anna] = await w.staff.teamOf('Anna');
  first = await w.staff.alert(teamId, [{ afterMinutes: 0, channels: ['sms'], targetUserIds: [anna.userId] }]);
  const { ruleId } = await w.expectOk('create_alert_rule', {
    serviceId: first.serviceId,
    name: 'Queue',
    kind: 'metric_threshold',
    config: { metricName: 'queue{host="web-3"}', comparator: '>', threshold: 1 },
    escalationPolicyId: first.policyId,
  });
  second = ruleId;
});

const run = (operation: AnyOperation, input: object) =>
  runOperation(w, operation, memberCaller(w.orgId, w.owner.userId, 'editor'), input);
const inMinutes = (minutes: number): string => w.clock.now().add({ minutes }).toString();
const base = { name: 'Database upgrade', timezone: 'Europe/Amsterdam' };

describe('a maintenance window', () => {
  test('is changed, also while incidents wait for it: they wait as it says now', async () => {
    const target = { serviceId: first.serviceId };
    const made = await run(createMaintenance, { ...base, target, endsAt: inMinutes(60) });
    await first.trigger();
    const { maintenanceId, updatedAt: basedOn, startsAt } = made;
    await w.advance({ minutes: 1 });
    const changed = { ...base, maintenanceId, basedOn, target, startsAt, endsAt: inMinutes(120) };
    const longer = await run(updateMaintenance, changed);
    await w.advance({ minutes: 100 });
    expect(w.phone.messages).toEqual([]);
    await run(updateMaintenance, {
      ...changed,
      basedOn: longer.updatedAt,
      target: { ruleId: second },
      endsAt: inMinutes(60),
    });
    await w.advance({ seconds: 1 });
    expect(w.phone.messages).toHaveLength(1);
  });

  test('is not changed by somebody who has seen another one', async () => {
    const target = { serviceId: first.serviceId };
    const { maintenanceId, updatedAt: basedOn } = await run(createMaintenance, {
      ...base,
      target,
      endsAt: inMinutes(60),
    });
    w.clock.advance({ minutes: 1 });
    const change = { ...base, maintenanceId, basedOn, target, endsAt: inMinutes(90) };
    await run(updateMaintenance, change);
    await expect(run(updateMaintenance, change)).rejects.toMatchObject({ code: 'conflict' });
  });

  test('that has begun stays in the list as over once it is ended; others are removed', async () => {
    const target = { ruleId: first.ruleId };
    const begun = await run(createMaintenance, { ...base, target, endsAt: inMinutes(60) });
    const planned = await run(createMaintenance, { ...base, target, startsAt: inMinutes(30), endsAt: inMinutes(60) });
    w.clock.advance({ minutes: 1 });
    for (const { maintenanceId } of [begun, planned]) await run(deleteMaintenance, { maintenanceId });
    const { windows } = await run(listMaintenance, {});
    expect(windows).toMatchObject([
      { maintenanceId: begun.maintenanceId, next: null, isActive: false, targetName: 'Latency' },
    ]);
    await run(deleteMaintenance, { maintenanceId: begun.maintenanceId });
    expect(await run(listMaintenance, {})).toEqual({ windows: [] });
  });

  test('is previewed: when it is in effect, how many rules it keeps quiet, and what it overlaps with', async () => {
    w.clock.set('2027-03-22T12:00:00Z');
    const label = { label: { name: 'host', value: 'web-3' } };
    const recurrence = { weekdays: [7], startTime: '02:30', minutes: 120 };
    const weekly = await run(createMaintenance, { ...base, name: 'Weekly', target: label, recurrence });
    const other = await run(createMaintenance, { ...base, target: { ruleId: first.ruleId }, endsAt: inMinutes(60) });
    const wanted = {
      ...base,
      target: { serviceId: first.serviceId },
      startsAt: '2027-03-28T00:00',
      endsAt: '2027-03-29T00:00',
    };
    expect(await run(previewMaintenance, wanted)).toEqual({
      next: [{ startsAt: '2027-03-27T23:00:00.000Z', endsAt: '2027-03-28T22:00:00.000Z' }],
      ruleCount: 2,
      conflicts: [
        {
          maintenanceId: weekly.maintenanceId,
          name: 'Weekly',
          // 02:30 does not exist on that day.
          startsAt: '2027-03-28T01:30:00.000Z',
          endsAt: '2027-03-28T03:30:00.000Z',
        },
      ],
      conflictCount: 1,
    });
    const itself = {
      ...base,
      maintenanceId: other.maintenanceId,
      target: { ruleId: first.ruleId },
      endsAt: inMinutes(30),
    };
    expect(await run(previewMaintenance, itself)).toMatchObject({ ruleCount: 1, conflicts: [] });
  });

  test('is found by the service and the rule that it keeps quiet', async () => {
    const label = { label: { name: 'host', value: 'web-3' } };
    const made = await run(createMaintenance, { ...base, target: label, endsAt: inMinutes(60) });
    for (const subject of [{ serviceId: first.serviceId }, { ruleId: second }]) {
      expect(await run(listMaintenance, subject)).toMatchObject({
        windows: [{ maintenanceId: made.maintenanceId, isActive: true }],
      });
    }
    expect(await run(listMaintenance, { ruleId: first.ruleId })).toEqual({ windows: [] });
    const { serviceId } = await w.given.service();
    expect(await run(listMaintenance, { serviceId })).toEqual({ windows: [] });
  });
});

test('incidents that one cause opens name each other, and one that waits shows no time of its own', async () => {
  await setOfRule(w, second, { groupMinutes: 2 });
  const parentId = await first.trigger();
  const point = { name: 'queue', at: w.clock.now(), value: 5, labels: { host: 'web-3' } };
  await runStorePoints(w.runtime, first.serviceId, [point]);
  await w.evaluate();
  const childId = (await w.expectOk('list_incidents')).incidents.find(({ title }: { title: string }) =>
    title.startsWith('Queue'),
  ).incidentId;
  expect(await run(getLinkedIncidents, { incidentId: parentId })).toMatchObject({
    parent: null,
    children: [{ incidentId: childId, status: 'triggered' }],
    childCount: 1,
  });
  expect(await run(getLinkedIncidents, { incidentId: childId })).toMatchObject({
    parent: { incidentId: parentId },
    children: [],
    maintenance: [],
  });
  const { escalation } = await w.expectOk('get_incident', { incidentId: childId });
  expect(escalation).toMatchObject({ state: 'running', nextStep: 0, nextStepAt: null, waitsFor: 'incident' });
  await w.expectOk('resolve_incident', { incidentId: parentId });
  const { escalation: after } = await w.expectOk('get_incident', { incidentId: childId });
  expect(after.waitsFor).toBeNull();
  expect(after.nextStepAt).not.toBeNull();
});
