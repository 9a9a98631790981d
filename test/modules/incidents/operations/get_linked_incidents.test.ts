import { expect, test } from 'vitest';

import { getLinkedIncidents } from '#modules/incidents/operations/incident_context.ts';
import { replaceAlertRule } from '#modules/rules/operations/update_alert_rule.ts';
import { memberCaller, runOperation } from '#test/kit/run_operation.ts';
import { staffedWorld } from '#test/kit/staffed_world.ts';

test('an incident leads to its rule, what that says, its runbook and the incident that its cause opened since', async () => {
  const w = await staffedWorld();
  const teamId = await w.staff.team();
  const anna = await w.staff.responder(teamId, 'Anna');
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
