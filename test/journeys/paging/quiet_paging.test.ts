import { describe, expect, test } from 'vitest';

import { unacknowledgeIncident } from '#modules/incidents/operations/acknowledge_incident.ts';
import { createMaintenance, deleteMaintenance } from '#modules/maintenance/operations/maintenance.ts';
import { INCIDENT_STEPS_MAX } from '#modules/incidents/decide/reassignment.ts';
import { POLICY_STEPS_MAX } from '#modules/policies/decide/policy_details.ts';
import { expireAcknowledgements } from '#modules/incidents/paging/acknowledgement_timeout.ts';
import { runStorePoints } from '#test/kit/ingest_jobs.ts';
import { setOfRule } from '#test/kit/metrics/rule_settings.ts';
import { memberCaller, runOperation } from '#test/kit/run_operation.ts';
import { type Alert, type Responder, type StaffedWorld, staffedWorld } from '#test/kit/staffed_world.ts';

interface Setting {
  readonly w: StaffedWorld;
  readonly first: Alert;
  /** A second rule of the same service and policy. */
  readonly secondRuleId: string;
  quiet(input: object): Promise<{ maintenanceId: string }>;
  /** Opens the incident of the second rule. */
  triggerSecond(): Promise<void>;
  timelineOf(title: string): Promise<string[]>;
}

async function setting(): Promise<Setting> {
  const w = await staffedWorld();
  const [teamId, anna] = await w.staff.teamOf('Anna');
  const first = await w.staff.alert(teamId, [{ afterMinutes: 0, channels: ['sms'], targetUserIds: [anna.userId] }]);
  // Whether a page arrived is no question here.
  w.phone.addFault({ kind: 'callback_lost', number: anna.phone });
  const second = await w.expectOk('create_alert_rule', {
    serviceId: first.serviceId,
    name: 'Queue',
    kind: 'metric_threshold',
    config: { metricName: 'queue{host="web-3"}', comparator: '>', threshold: 1 },
    escalationPolicyId: first.policyId,
  });
  const as = memberCaller(w.orgId, w.owner.userId, 'editor');
  return {
    w,
    first,
    secondRuleId: second.ruleId,
    quiet: (input) =>
      runOperation(w, createMaintenance, as, { name: 'Database upgrade', timezone: 'Europe/Amsterdam', ...input }),
    async triggerSecond() {
      const point = { name: 'queue', at: w.clock.now(), value: 5, labels: { host: 'web-3' } };
      await runStorePoints(w.runtime, first.serviceId, [point]);
      await w.evaluate();
    },
    async timelineOf(title) {
      const { incidents } = await w.expectOk('list_incidents');
      const found = incidents.find((incident: { title: string }) => incident.title.startsWith(title));
      const { timeline } = await w.expectOk('get_incident', { incidentId: found.incidentId });
      return timeline.map(({ text }: { text: string }) => text);
    },
  };
}

const isStep = (text: string): boolean => /^Step \d+ fires/.test(text);

const inMinutes = ({ w }: Setting, minutes: number): string => w.clock.now().add({ minutes }).toString();

describe('maintenance', () => {
  test('that ends while the breach lasts pages then, and not before; about what is over by then it pages nobody', async () => {
    const s = await setting();
    const [teamId, bram] = await s.w.staff.teamOf('Bram');
    const over = await s.w.staff.alert(teamId, [{ afterMinutes: 0, channels: ['sms'], targetUserIds: [bram.userId] }]);
    await s.quiet({ target: { serviceId: s.first.serviceId }, endsAt: inMinutes(s, 60) });
    await s.quiet({ target: { ruleId: over.ruleId }, endsAt: inMinutes(s, 60) });
    await s.first.trigger();
    const incidentId = await over.trigger('disk is full');
    await s.w.advance({ minutes: 30 });
    await s.w.expectOk('resolve_incident', { incidentId });
    await s.w.advance({ minutes: 29 });
    expect(s.w.phone.messages).toEqual([]);
    await s.w.advance({ minutes: 2 });
    await s.w.advance({ minutes: 29 });
    expect(s.w.phone.messages).toHaveLength(1);
    expect(s.w.phone.messages[0]?.to).not.toBe(bram.phone);
    expect(await s.timelineOf('latency')).toContainEqual(expect.stringMatching(/^In maintenance \(Database upgrade\)/));
  });

  test('that is called off pages at once, unless another one lasts', async () => {
    const s = await setting();
    const as = memberCaller(s.w.orgId, s.w.owner.userId, 'editor');
    const long = await s.quiet({ target: { serviceId: s.first.serviceId }, endsAt: inMinutes(s, 600) });
    const short = await s.quiet({ target: { ruleId: s.first.ruleId }, endsAt: inMinutes(s, 120) });
    await s.first.trigger();
    await runOperation(s.w, deleteMaintenance, as, { maintenanceId: long.maintenanceId });
    await s.w.advance({ minutes: 60 });
    expect(s.w.phone.messages).toEqual([]);
    await runOperation(s.w, deleteMaintenance, as, { maintenanceId: short.maintenanceId });
    await s.w.advance({ seconds: 1 });
    expect(s.w.phone.messages).toHaveLength(1);
  });

  test('of a label keeps only the rules quiet that select it', async () => {
    const s = await setting();
    // A wrong target, end or time zone is refused.
    for (const [path, input] of [
      ['target', { target: {}, endsAt: '2200-01-01T00:00:00Z' }],
      ['endsAt', { target: { label: { name: 'a', value: 'b' } } }],
      ['endsAt', { target: { label: { name: 'a', value: 'b' } }, endsAt: '2020-01-01T00:00:00Z' }],
      ['endsAt', { target: { label: { name: 'a', value: 'b' } }, endsAt: '2190-01-01T00:00:00Z' }],
      ['timezone', { target: { label: { name: 'a', value: 'b' } }, endsAt: '2020-01-01T00:00:00Z', timezone: 'Mars' }],
    ] satisfies [string, object][]) {
      await expect(s.quiet(input), path).rejects.toMatchObject({ code: 'invalid_input', faults: [{ path }] });
    }
    await s.quiet({ target: { label: { name: 'host', value: 'web-3' } }, endsAt: inMinutes(s, 60) });
    await s.triggerSecond();
    expect(s.w.phone.messages).toEqual([]);
    await s.first.trigger();
    await s.w.advance({ seconds: 1 });
    expect(s.w.phone.messages).toHaveLength(1);
    expect(await s.timelineOf('Queue')).toContainEqual(expect.stringMatching(/^In maintenance/));
  });
});

describe('an incident that opens with another one of its service', () => {
  test('does not page beside it, is linked, and pages by itself once that one is resolved', async () => {
    const s = await setting();
    await setOfRule(s.w, s.secondRuleId, { groupMinutes: 2 });
    const parentId = await s.first.trigger();
    await s.w.advance({ minutes: 1 });
    expect(s.w.phone.messages).toHaveLength(1);
    await s.triggerSecond();
    await s.w.advance({ minutes: 1 });
    expect(s.w.phone.messages).toHaveLength(1);
    expect(await s.timelineOf('latency')).toContainEqual(expect.stringMatching(/^It pages for "Queue/));
    expect(await s.timelineOf('Queue')).toContainEqual(expect.stringMatching(/^Opened together with "latency/));
    const { incidents } = await s.w.expectOk('list_incidents', { status: 'triggered' });
    const { incidentId } = incidents.find(({ title }: { title: string }) => title.startsWith('Queue'));
    const waits = { dueAt: null, countsFrom: null, waitsFor: 'incident', isBroughtForward: false };
    const stepsOf = async () => (await s.w.expectOk('get_incident', { incidentId })).escalation.steps;
    expect(await stepsOf()).toMatchObject([{ ...waits, state: 'pending' }]);

    await s.w.expectOk('resolve_incident', { incidentId: parentId });
    await s.w.advance({ seconds: 1 });
    expect(s.w.phone.messages.filter(({ body }) => body.includes('Queue'))).toHaveLength(1);
    expect(await s.timelineOf('Queue')).toContainEqual(expect.stringMatching(/has ended: it pages by itself now\.$/));
    expect(await stepsOf()).toMatchObject([{ dueAt: expect.any(String), waitsFor: null, state: 'fired' }]);
  });

  test('pages by itself when that one waits for a maintenance, or the rule does not group', async () => {
    const s = await setting();
    await s.quiet({ target: { ruleId: s.first.ruleId }, endsAt: inMinutes(s, 60) });
    await setOfRule(s.w, s.secondRuleId, { groupMinutes: 2 });
    await s.first.trigger();
    await s.triggerSecond();
    await s.w.advance({ seconds: 1 });
    expect(s.w.phone.messages).toHaveLength(1);
  });

  test('pages by itself once its acknowledgement is taken back after that one ended', async () => {
    const s = await setting();
    await setOfRule(s.w, s.secondRuleId, { groupMinutes: 2 });
    const parentId = await s.first.trigger();
    await s.triggerSecond();
    await s.w.advance({ seconds: 1 });
    const { incidents } = await s.w.expectOk('list_incidents', { status: 'triggered' });
    const follower = incidents.find(({ title }: { title: string }) => title.startsWith('Queue'));
    await s.w.expectOk('acknowledge_incident', { incidentId: follower.incidentId });
    await s.w.expectOk('resolve_incident', { incidentId: parentId });
    const as = memberCaller(s.w.orgId, s.w.owner.userId, 'editor');
    await runOperation(s.w, unacknowledgeIncident, as, { incidentId: follower.incidentId });
    await s.w.advance({ seconds: 1 });
    expect((await s.timelineOf('Queue')).filter(isStep)).toEqual(['Step 1 fires, paging Anna by SMS.']);
  });
});

test('an acknowledgement that goes stale pages again, and again, from the first step', async () => {
  const s = await setting();
  await setOfRule(s.w, s.first.ruleId, { repageMinutes: 30 });
  const incidentId = await s.first.trigger();
  await s.w.advance({ seconds: 1 });
  for (const pages of [2, 3]) {
    await s.w.expectOk('acknowledge_incident', { incidentId });
    await s.w.advance({ minutes: 29 });
    await expireAcknowledgements(s.w.runtime);
    const { status } = await s.w.expectOk('get_incident', { incidentId });
    expect(status).toBe('acknowledged');
    await s.w.advance({ minutes: 1 });
    await expireAcknowledgements(s.w.runtime);
    await expireAcknowledgements(s.w.runtime);
    await s.w.advance({ seconds: 1 });
    expect((await s.timelineOf('latency')).filter(isStep)).toHaveLength(pages);
  }
  // Whoever heard that it is acknowledged hears each time that it is not.
  expect(s.w.phone.messages.filter(({ body }) => body.includes('is open again'))).toHaveLength(2);
  expect(await s.timelineOf('latency')).toContainEqual(
    'Acknowledged 30 minutes ago and still open: it pages again, from the first step.',
  );
});

test('pages again as often as acknowledgements go stale, also when it has had more steps than are kept', async () => {
  const w = await staffedWorld();
  const teamId = await w.staff.team();
  const [anna, bram] = [await w.staff.responder(teamId, 'Anna'), await w.staff.responder(teamId, 'Bram')];
  for (const { phone } of [anna, bram]) w.phone.addFault({ kind: 'callback_lost', number: phone });
  const steps = Array.from({ length: POLICY_STEPS_MAX }, (_, index) => {
    const target = index === 0 ? anna : bram;
    return { afterMinutes: index * 10, channels: ['sms'] as const, targetUserIds: [target.userId] };
  });
  const alert = await w.staff.alert(teamId, steps);
  await setOfRule(w, alert.ruleId, { repageMinutes: 30 });
  const incidentId = await alert.trigger();
  const pagesOf = ({ phone }: Responder) =>
    w.phone.messages.filter(({ to, body }) => to === phone && /Reply ACK/.test(body));
  await w.advance({ seconds: 1 });
  const rounds = INCIDENT_STEPS_MAX / POLICY_STEPS_MAX + 2;
  for (let round = 1; round <= rounds; round += 1) {
    await w.expectOk('acknowledge_incident', { incidentId });
    await w.advance({ minutes: 30 });
    await expireAcknowledgements(w.runtime);
    await w.advance({ seconds: 1 });
    expect(pagesOf(anna)).toHaveLength(round + 1);
  }
  const last = rounds * POLICY_STEPS_MAX;
  const { escalation } = await w.expectOk('get_incident', { incidentId });
  expect(escalation).toMatchObject({ state: 'running', stepCount: last + POLICY_STEPS_MAX, nextStep: last + 1 });
  expect(escalation.steps).toHaveLength(INCIDENT_STEPS_MAX);
  expect(escalation.steps.at(-POLICY_STEPS_MAX)).toMatchObject({
    index: last,
    state: 'fired',
    people: [{ userId: anna.userId }],
  });
  await w.advance({ minutes: 10 });
  expect(pagesOf(bram)).toHaveLength(1);
});

test('an incident that cannot page again does not keep others from it', async () => {
  const s = await setting();
  for (const ruleId of [s.first.ruleId, s.secondRuleId]) await setOfRule(s.w, ruleId, { repageMinutes: 30 });
  const incidentId = await s.first.trigger();
  await s.triggerSecond();
  await s.w.advance({ seconds: 1 });
  const { incidents } = await s.w.expectOk('list_incidents', { status: 'triggered' });
  await s.w.expectOk('acknowledge_incident', { incidentId });
  await s.w.advance({ seconds: 1 });
  const other = incidents.find((incident: { incidentId: string }) => incident.incidentId !== incidentId);
  await s.w.expectOk('acknowledge_incident', { incidentId: other.incidentId });
  await s.w.context.db.sql.rows(
    `insert into incident_steps (incident_id, step_index, due_at, state)
     select id, 1, now(), 'cancelled' from incidents where title not like 'Queue%'`,
  );
  await s.w.advance({ minutes: 31 });
  await expireAcknowledgements(s.w.runtime);
  expect(await s.w.expectOk('get_incident', { incidentId: other.incidentId })).toMatchObject({ status: 'triggered' });
});
