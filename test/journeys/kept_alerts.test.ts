import path from 'node:path';

import { expect, test } from 'vitest';

import { exportOrganization } from '#entry/transfer/export_organization.ts';
import { importOrganization } from '#entry/transfer/import_organization.ts';
import { asId } from '#kernel/ids.ts';
import { showAlertKey } from '#modules/alerts/operations/alert_keys.ts';
import { createMaintenance } from '#modules/maintenance/operations/maintenance.ts';
import { simulateEscalation } from '#modules/policies/operations/simulate_escalation.ts';
import { makeFolder } from '#test/faults/folder.ts';
import { alertedService, alertedServiceIn, sendAlert, sendThree } from '#test/kit/alert_senders.ts';
import { setOfRule } from '#test/kit/metrics/rule_settings.ts';
import { memberCaller, runOperation } from '#test/kit/run_operation.ts';
import { type World, world } from '#test/kit/world.ts';

const owner = (w: World) => memberCaller(w.orgId, w.owner.userId, 'owner');

test('an export has the alerts and no key; where it is imported a new key goes on with them', async () => {
  const from = await alertedService();
  const { clock } = from.w;
  const incidentId = await sendThree(from);
  const { w, serviceId, key } = from;
  const folder = path.join(makeFolder(), 'export');
  const { files } = await exportOrganization(w.context.config, w.orgId, folder);
  expect(files).toMatchObject({ 'alerts.jsonl': 3, 'alert_sources.jsonl': 1, 'alert_routes.jsonl': 2 });
  expect(Object.keys(files).filter((file) => /alert_(keys|bodies)/.test(file))).toEqual([]);
  const { twilioAccountSid, twilioAuthToken, twilioFrom, twilioApiBase } = w.context.config;
  const channel = { twilioAccountSid, twilioAuthToken, twilioFrom, twilioApiBase };
  const to = await world({ clock, settings: { appSecret: 'the secret of another installation', ...channel } });
  const made = await importOrganization(to.context.config, folder, { asCopy: false });
  const orgId = asId('org', made.organizationId);
  const apiKey = await to.given.apiKey({ orgId });
  const { kind, title, severity, details, status, occurrences } = await w.expectOk('get_incident', { incidentId });
  expect(await to.expectOk('get_incident', { incidentId }, { key: apiKey })).toMatchObject({
    kind,
    title,
    severity,
    details,
    status,
    occurrences,
    escalation: { state: 'finished' },
  });
  expect((await sendAlert(to, key, '/events', { dedupKey: 'disk', title: 'disk' })).status).toBe(401);
  const { alertKey } = await runOperation(to, showAlertKey, memberCaller(orgId, w.owner.userId, 'owner'), {
    serviceId,
  });
  const send = (body: object) => sendAlert(to, alertKey, '/events', body);
  expect((await send({ dedupKey: 'disk', title: 'disk' })).body).toMatchObject({ incidentId, effect: 'count' });
  expect((await send({ dedupKey: 'disk', action: 'resolve' })).body).toMatchObject({ incidentId, effect: 'resolve' });
  expect((await send({ dedupKey: 'over', title: 'over', severity: 'warning' })).body.effect).toBe('open');
});

test('the simulator says whom an alert would page by each route, as it does then', async () => {
  const alerted = await alertedService();
  const { w, anna, serviceId, send } = alerted;
  await sendThree(alerted);
  await send('/events', [
    { dedupKey: 'disk', action: 'resolve' },
    { dedupKey: 'queue', action: 'resolve' },
  ]);
  await w.advance({ minutes: 2 });
  const simulate = (input: object) => runOperation(w, simulateEscalation, owner(w), { serviceId, ...input });
  const { routes, simulated } = await simulate({ routeNumber: 1 });
  expect(routes).toMatchObject([
    { routeNumber: 1, condition: 'Takes alerts with severity error at least, if no route before does.', pages: true },
    { routeNumber: 2, condition: 'Takes every alert that no other route takes.', pages: false },
  ]);
  expect(simulated).toMatchObject({
    routeNumber: 1,
    ruleId: null,
    policy: { name: 'Wake' },
    quiet: null,
    joined: null,
  });
  expect((await simulate({ routeNumber: 2 })).simulated).toMatchObject({ pages: false, steps: [] });
  await expect(simulate({ routeNumber: 3 })).rejects.toMatchObject({ code: 'not_found' });
  const sent = w.phone.messages.length;
  await send('/events', { dedupKey: 'disk', title: 'disk', severity: 'critical' });
  const asPlanned = simulated!.steps.map(
    ({ firesAt, people }: { firesAt: string | null; people: { userId: string }[] }) => [
      Math.round((Date.parse(firesAt!) - w.clock.now().epochMilliseconds) / 60_000),
      people.map(({ userId }) => userId),
    ],
  );
  expect(asPlanned).toEqual([
    [0, [anna.userId]],
    [15, [anna.userId]],
  ]);
  await w.runUntilIdle();
  expect(w.phone.messages).toHaveLength(sent + 1);
  await w.advance({ minutes: 15 });
  expect(w.phone.messages).toHaveLength(sent + 2);
  // The last route is simulated by itself where no rule pages and it does.
  const plain = await alertedServiceIn(w);
  expect((await runOperation(w, simulateEscalation, owner(w), { serviceId: plain.serviceId })).simulated).toMatchObject(
    { routeNumber: 1, pages: true },
  );
});

test('the replay of who was paged takes the incident of an alert for one that pages for others, and knows maintenance', async () => {
  const { w, serviceId, policyId, send } = await alertedService();
  const config = { metricName: 'latency', comparator: '>', threshold: 1 };
  const rule = await w.expectOk('create_alert_rule', {
    serviceId,
    name: 'Slow',
    kind: 'metric_threshold',
    config,
    escalationPolicyId: policyId,
  });
  await setOfRule(w, rule.ruleId, { groupMinutes: 15 });
  const { incidentId } = (await send('/events', { dedupKey: 'disk', title: 'Disk full' })).body;
  await w.runUntilIdle();
  const simulate = async (input: object) =>
    (await runOperation(w, simulateEscalation, owner(w), { serviceId, ...input })).simulated;
  expect(await simulate({ ruleId: rule.ruleId })).toMatchObject({ joined: { incidentId } });
  expect(await simulate({ routeNumber: 1 })).toMatchObject({ joined: null, quiet: null });
  const now = w.clock.now();
  const window = {
    name: 'Move',
    target: { serviceId },
    startsAt: now.toString(),
    endsAt: now.add({ hours: 1 }).toString(),
  };
  await runOperation(w, createMaintenance, owner(w), { ...window, timezone: 'UTC' });
  expect(await simulate({ routeNumber: 1 })).toMatchObject({ quiet: { maintenance: 'Move' } });
});
