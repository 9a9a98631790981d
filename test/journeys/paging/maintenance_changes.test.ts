import { beforeEach, describe, expect, test } from 'vitest';

import { getLinkedIncidents } from '#modules/incidents/operations/incident_context.ts';
import { createMaintenance } from '#modules/maintenance/operations/maintenance.ts';
import type { AnyOperation } from '#actions/action_context.ts';
import { runStorePoints } from '#test/kit/ingest_jobs.ts';
import { setOfRule } from '#test/kit/metrics/rule_settings.ts';
import { memberCaller, runOperation } from '#test/kit/run_operation.ts';
import { type Alert, type Responder, type StaffedWorld, staffedWorld } from '#test/kit/staffed_world.ts';
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
