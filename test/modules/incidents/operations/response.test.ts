import { expect, test } from 'vitest';

import { exportIncidents } from '#modules/incidents/operations/export_incidents.ts';
import { setIncidentCommander, setIncidentSeverity } from '#modules/incidents/operations/incident_response.ts';
import { memberCaller, runOperation } from '#test/kit/run_operation.ts';
import { staffedWorld } from '#test/kit/staffed_world.ts';

async function anAlert() {
  const w = await staffedWorld();
  const [teamId, anna] = await w.staff.teamOf('Anna');
  const steps = [{ afterMinutes: 0, channels: ['sms' as const], targetUserIds: [anna.userId] }];
  const alert = await w.staff.alert(teamId, steps);
  const owner = memberCaller(w.orgId, w.owner.userId, 'editor');
  return { w, anna, alert, owner };
}

test('the lead is taken, handed over and given up, in the timeline and the audit log, and two do not take it at once', async () => {
  const { w, anna, alert, owner } = await anAlert();
  const incidentId = await alert.trigger();
  const lead = (userId: string | null, seen: string | null, caller = owner) =>
    runOperation(w, setIncidentCommander, caller, { incidentId, userId, seen });
  expect(await lead(w.owner.userId, null)).toMatchObject({ commanderId: w.owner.userId });
  await expect(lead(anna.userId, null)).rejects.toMatchObject({ code: 'conflict' });
  expect(await lead(anna.userId, w.owner.userId)).toMatchObject({ commanderId: anna.userId });
  const stranger = await w.given.organization('Umbrella');
  await expect(lead(stranger.owner.userId, anna.userId)).rejects.toMatchObject({ code: 'not_found' });
  await expect(
    lead(anna.userId, null, memberCaller(stranger.orgId, stranger.owner.userId, 'owner')),
  ).rejects.toMatchObject({ code: 'not_found' });
  expect(await lead(null, anna.userId)).toMatchObject({ commanderId: null });
  const { timeline } = await w.expectOk('get_incident', { incidentId });
  const texts = timeline
    .filter(({ event }: { event: string }) => event === 'commander_changed')
    .map(({ text }: { text: string }) => text);
  expect(texts).toEqual([
    expect.stringMatching(/leads the response\.$/),
    expect.stringMatching(/let Anna lead the response\.$/),
    expect.stringMatching(/nobody leads the response any more\.$/),
  ]);
});

test('a raised severity pages anew where the caller asks, and a lower one pages nobody', async () => {
  const { w, alert, owner } = await anAlert();
  const incidentId = await alert.trigger();
  const set = (severity: string, pagesAnew: boolean) =>
    runOperation(w, setIncidentSeverity, owner, { incidentId, severity, pagesAnew });
  const stepsOf = async () => (await w.expectOk('get_incident', { incidentId })).escalation.steps.length;
  expect(await set('warning', true)).toMatchObject({ severity: 'warning' });
  expect(await stepsOf()).toBe(1);
  expect(await set('error', false)).toMatchObject({ severity: 'error' });
  expect(await stepsOf()).toBe(1);
  expect(await set('fatal', true)).toMatchObject({ severity: 'fatal', escalation: { stepCount: 2 } });
  const { timeline } = await w.expectOk('get_incident', { incidentId });
  expect(timeline.at(-1).text).toMatch(/changed the severity from error to fatal; it pages anew/);
  await w.expectOk('resolve_incident', { incidentId });
  await expect(set('error', false)).rejects.toMatchObject({ code: 'conflict' });
});

test('incidents are exported as CSV in which no cell is a formula', async () => {
  const { w, alert, owner } = await anAlert();
  const incidentId = await alert.trigger('=HYPERLINK("https://evil.example";"x")');
  const file = await runOperation(w, exportIncidents, owner, { status: 'open' });
  let text = '';
  for await (const piece of file.content) text += piece;
  const [head, line, ...rest] = text.split('\r\n');
  expect(head).toMatch(/^number,status,severity,title,service,/);
  expect(line).toContain(`"'=HYPERLINK(""https://evil.example"";""x"")"`);
  expect(line).toContain(incidentId);
  expect(rest).toEqual(['']);
});
