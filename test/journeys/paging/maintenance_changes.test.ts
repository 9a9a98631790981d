import { beforeEach, describe, expect, test } from 'vitest';

import { getLinkedIncidents } from '#modules/incidents/operations/incident_context.ts';
import { unacknowledgeIncident } from '#modules/incidents/operations/acknowledge_incident.ts';
import { escalateIncident } from '#modules/incidents/operations/escalate_incident.ts';
import { reassignIncident } from '#modules/incidents/operations/reassignment.ts';
import { reopenIncident } from '#modules/incidents/operations/resolve_incident.ts';
import { expireAcknowledgements } from '#modules/incidents/paging/acknowledgement_timeout.ts';
import { createMaintenance, deleteMaintenance } from '#modules/maintenance/operations/maintenance.ts';
import type { AnyOperation } from '#actions/action_context.ts';
import { runStorePoints } from '#test/kit/ingest_jobs.ts';
import { setOfRule } from '#test/kit/metrics/rule_settings.ts';
import { memberCaller, runOperation } from '#test/kit/run_operation.ts';
import { type Alert, type Responder, type StaffedWorld, staffedWorld } from '#test/kit/staffed_world.ts';
import { detailedWorld } from '#test/modules/policies/detailed_world.ts';
import { evaluateRules } from '#workers/evaluate_rules.ts';

let w: StaffedWorld;
let teamId: string;
let anna: Responder;
let alert: Alert;

beforeEach(async () => {
  w = await staffedWorld();
  [teamId, anna] = await w.staff.teamOf('Anna');
  alert = await w.staff.alert(teamId, [{ afterMinutes: 0, channels: ['sms'], targetUserIds: [anna.userId] }]);
});

const run = (operation: AnyOperation, input: object) =>
  runOperation(w, operation, memberCaller(w.orgId, w.owner.userId, 'editor'), input);
const inMinutes = (minutes: number): string => w.clock.now().add({ minutes }).toString();
const quiet = (target: object, endsAt = inMinutes(60)) =>
  run(createMaintenance, { name: 'Database upgrade', timezone: 'Europe/Amsterdam', target, endsAt });
const host = (value: string) => ({ label: { name: 'host', value } });

describe('an incident of one host that waits for a maintenance of it', () => {
  beforeEach(async () => {
    const config = { metricName: 'load', comparator: '>', threshold: 90, windowMinutes: 5, aggregation: 'max' };
    await w.expectOk('update_alert_rule', { ruleId: alert.ruleId, name: 'Busy', config });
    await setOfRule(w, alert.ruleId, { byLabel: 'host' });
  });

  async function breach(hosts: readonly string[], incidents = Infinity): Promise<void> {
    const at = w.clock.now();
    const points = hosts.map((value) => ({ name: 'load', at, value: 95, labels: { host: value } }));
    await runStorePoints(w.runtime, alert.serviceId, points);
    await evaluateRules({ ...w.runtime, incidentLimit: { incidents, minutes: 5 } });
    await w.runUntilIdle();
  }

  test.each([
    ['waits', Infinity],
    ['waits as a storm', 0],
  ])('%s when another maintenance is planned, and pages when its own ends', async (_, incidents) => {
    const { serviceId } = await w.given.service();
    const { maintenanceId } = await quiet(host('web-3'));
    await breach(['web-3'], incidents);
    const [{ incidentId }] = (await w.expectOk('list_incidents')).incidents;
    await quiet({ serviceId });
    await w.advance({ minutes: 59 });
    expect(w.phone.messages).toEqual([]);
    expect(await run(getLinkedIncidents, { incidentId })).toMatchObject({ maintenance: [{ maintenanceId }] });
    await w.advance({ minutes: 2 });
    expect(w.phone.messages).toHaveLength(1);
  });
});

describe('an incident that was answered while it waited for a maintenance', () => {
  const answers = [
    ['acknowledged', 'acknowledge_incident', unacknowledgeIncident],
    ['resolved', 'resolve_incident', reopenIncident],
  ] as const;

  test.each(answers)(
    'pages at once when it is %s no more and the maintenance was called off',
    async (_, name, undo) => {
      const { maintenanceId } = await quiet({ ruleId: alert.ruleId });
      const incidentId = await alert.trigger();
      await w.expectOk(name, { incidentId });
      await w.advance({ minutes: 5 });
      await run(deleteMaintenance, { maintenanceId });
      await w.advance({ minutes: 10 });
      expect(w.phone.messages).toEqual([]);
      await run(undo, { incidentId });
      await w.advance({ seconds: 1 });
      expect(w.phone.messages).toHaveLength(1);
    },
  );

  test.each(answers)('pages when the maintenance ends if it is %s no more', async (_, name, undo) => {
    await quiet({ ruleId: alert.ruleId });
    const incidentId = await alert.trigger();
    await w.expectOk(name, { incidentId });
    await w.advance({ minutes: 20 });
    await run(undo, { incidentId });
    await w.advance({ minutes: 39 });
    expect(w.phone.messages).toEqual([]);
    await w.advance({ minutes: 2 });
    expect(w.phone.messages).toHaveLength(1);
  });

  test('pages when its acknowledgement is stale, but not before the maintenance ends or is called off', async () => {
    await setOfRule(w, alert.ruleId, { repageMinutes: 30 });
    const { maintenanceId } = await quiet({ ruleId: alert.ruleId });
    const incidentId = await alert.trigger();
    await w.expectOk('acknowledge_incident', { incidentId });
    const pass = async (minutes: number) => {
      await w.advance({ minutes });
      await expireAcknowledgements(w.runtime);
      await w.advance({ seconds: 1 });
      return w.phone.messages.length;
    };
    expect(await pass(40)).toBe(0);
    await run(deleteMaintenance, { maintenanceId });
    expect(await pass(1)).toBe(1);
  });

  const begun = [
    ['was given to others', reassignIncident, { to: { policyId: '' }, seen: { status: 'triggered', stepCount: 1 } }],
    ['was escalated', escalateIncident, { stepIndex: 0 }],
  ] as const;

  test.each(begun)(
    'pages during the maintenance once its acknowledgement is stale if it %s there',
    async (_, act, input) => {
      await setOfRule(w, alert.ruleId, { repageMinutes: 30 });
      await quiet({ ruleId: alert.ruleId });
      const incidentId = await alert.trigger();
      await w.advance({ minutes: 5 });
      const to = { policyId: alert.policyId };
      await run(act, { incidentId, ...input, ...('to' in input && { to }) });
      await w.advance({ seconds: 1 });
      expect(w.phone.messages).toHaveLength(1);
      await w.expectOk('acknowledge_incident', { incidentId });
      await w.advance({ minutes: 31 });
      await expireAcknowledgements(w.runtime);
      expect(await w.expectOk('get_incident', { incidentId })).toMatchObject({ status: 'triggered' });
    },
  );

  test('pages the rest behind a person who gets it, and not as late as the maintenance was to end', async () => {
    const bram = await w.staff.responder(teamId, 'Bram');
    for (const { phone } of [anna, bram]) w.phone.addFault({ kind: 'callback_lost', number: phone });
    const { maintenanceId } = await quiet({ ruleId: alert.ruleId });
    const incidentId = await alert.trigger();
    await w.expectOk('acknowledge_incident', { incidentId });
    await w.advance({ minutes: 5 });
    await run(deleteMaintenance, { maintenanceId });
    await w.advance({ minutes: 10 });
    const seen = { status: 'acknowledged', stepCount: 1 };
    await run(reassignIncident, { incidentId, to: { userId: bram.userId }, seen });
    await w.advance({ minutes: 6 });
    expect(w.phone.messages.map(({ to }) => to)).toContain(anna.phone);
  });

  test('pages no earlier than a maintenance ends that was extended meanwhile', async () => {
    const target = { ruleId: alert.ruleId };
    await quiet(target, inMinutes(20));
    const incidentId = await alert.trigger();
    await w.expectOk('acknowledge_incident', { incidentId });
    await quiet(target);
    await w.advance({ minutes: 30 });
    await run(unacknowledgeIncident, { incidentId });
    await w.advance({ minutes: 29 });
    expect(w.phone.messages).toEqual([]);
    await w.advance({ minutes: 2 });
    expect(w.phone.messages).toHaveLength(1);
  });
});

describe('an incident that waits while its policy runs by day and another one by night', () => {
  const windows = [{ days: [1, 2, 3, 4, 5], from: '09:00', to: '17:00' }];

  /** Anna is paged by day, Bram by night; it is a Friday. */
  async function world(at: string) {
    const d = await detailedWorld({ at: `2027-03-26T${at}:00Z` });
    const byDay = await d.person('Anna');
    const byNight = await d.person('Bram');
    const step = { afterMinutes: 0, channels: ['sms'] } as const;
    const night = await d.policy('Night', [
      { ...step, targetUserIds: [byNight.userId] },
      { ...step, afterMinutes: 30, targetUserIds: [byNight.userId] },
    ]);
    const hours = { timezone: 'UTC', windows, outside: { policyId: night }, exemptFrom: null };
    const { policyId, serviceId, trigger } = await d.alertBy([{ ...step, targetUserIds: [byDay.userId] }], { hours });
    const other = await d.staff.alert(d.teamId, [{ ...step, targetUserIds: [byDay.userId] }], { serviceId });
    await d.expectOk('update_alert_rule', { ruleId: other.ruleId, escalationPolicyId: policyId });
    await setOfRule(d, other.ruleId, { groupMinutes: 2 });
    const call = (operation: AnyOperation, input: object) =>
      runOperation(d, operation, memberCaller(d.orgId, d.owner.userId, 'editor'), input);
    const quietUntil = (time: string) =>
      call(createMaintenance, {
        name: 'Upgrade',
        timezone: 'UTC',
        target: { serviceId },
        endsAt: `2027-03-26T${time}:00Z`,
      });
    return { d, call, policyId, trigger, triggerOther: other.trigger, quietUntil };
  }

  test('pages by day when the maintenance is called off by day', async () => {
    const { d, call, trigger, policyId, quietUntil } = await world('10:00');
    const { maintenanceId } = await quietUntil('20:00');
    const incidentId = await trigger();
    expect((await d.expectOk('get_incident', { incidentId })).escalation.stepCount).toBe(2);
    await d.advance({ minutes: 30 });
    await call(deleteMaintenance, { maintenanceId });
    await d.advance({ minutes: 31 });
    expect(d.paged()).toEqual(['Anna']);
    expect(await d.expectOk('get_incident', { incidentId })).toMatchObject({
      escalationPolicyId: policyId,
      escalation: { stepCount: 1, steps: [{ state: 'fired' }] },
    });
    expect(await d.texts(incidentId)).toContain(
      'Its pages begin at another time than was planned: the policy "Wake somebody" runs.',
    );
  });

  test('pages by night when the maintenance is extended into the night, also if it was acknowledged then', async () => {
    const { d, call, trigger, triggerOther, quietUntil } = await world('10:00');
    await quietUntil('16:00');
    const [first, second] = [await trigger(), await triggerOther()];
    await d.expectOk('acknowledge_incident', { incidentId: second });
    await quietUntil('20:00');
    await d.advance({ minutes: 1 });
    await call(unacknowledgeIncident, { incidentId: second });
    await d.advance({ hours: 9 });
    expect(d.paged()).toEqual([]);
    await d.advance({ hours: 1 });
    expect(d.paged()).toEqual(['Bram', 'Bram']);
    for (const incidentId of [first, second]) {
      expect(await d.expectOk('get_incident', { incidentId })).toMatchObject({ escalation: { stepCount: 2 } });
    }
  });

  test('pages by night when the incident that pages for it ends by night', async () => {
    const { d, trigger, triggerOther } = await world('16:58');
    const parentId = await trigger();
    await d.advance({ minutes: 1 });
    await triggerOther();
    await d.advance({ hours: 3 });
    expect(d.paged()).toEqual(['Anna']);
    await d.expectOk('resolve_incident', { incidentId: parentId });
    await d.advance({ seconds: 1 });
    expect(d.paged().at(-1)).toBe('Bram');
  });
});
