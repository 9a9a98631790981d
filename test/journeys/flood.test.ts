import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { reassignIncident } from '#modules/incidents/operations/reassignment.ts';
import type { Id } from '#kernel/ids.ts';
import { storesOf } from '#modules/stores.ts';
import { runGroupExceptions, runStorePoints } from '#test/kit/ingest_jobs.ts';
import { memberCaller, runOperation } from '#test/kit/run_operation.ts';
import { type Alert, type StaffedWorld, staffedWorld } from '#test/kit/staffed_world.ts';
import { exceptionEvent } from '#test/kit/exception_event.ts';

const LIMITS = { incidentsPerService: 3, incidentsPerServiceMinutes: 5, newGroupsPerMinute: 12 };

let w: StaffedWorld;
beforeAll(async () => {
  w = await staffedWorld({ settings: LIMITS, keepOpen: true });
});
afterAll(() => w.close());

/** Anna is paged by SMS for new exceptions of the service, and for its metric `latency`. */
async function annaInAFlood() {
  const [teamId, anna] = await w.staff.teamOf('Anna');
  const alert = await w.staff.alert(teamId, [{ afterMinutes: 0, channels: ['sms'], targetUserIds: [anna.userId] }]);
  await alertOnExceptions(alert.serviceId, alert.policyId);
  // Whether an SMS arrived is no question here.
  w.phone.addFault({ kind: 'callback_lost', number: anna.phone });
  let sent = 0;
  const flood = async (count: number, type = 'Flood') => {
    const events = Array.from({ length: count }, () => {
      sent += 1;
      return exceptionEvent(w.clock.now(), { fingerprint: [`${type} ${sent}`] });
    });
    await runGroupExceptions(w.runtime, { orgId: w.orgId, serviceId: alert.serviceId }, events);
    await w.runUntilIdle();
  };
  const texts = () => w.phone.messages.filter(({ to }) => to === anna.phone).map(({ body }) => body);
  const list = (status?: string) =>
    w.expectOk('list_incidents', { serviceId: alert.serviceId, ...(status && { status }) });
  const storms = async () =>
    (await list()).incidents.filter(
      ({ details }: { details: { standsFor?: number } }) => details.standsFor !== undefined,
    );
  return { anna, alert, teamId, flood, texts, list, storms };
}

async function alertOnExceptions(serviceId: string, escalationPolicyId: string): Promise<void> {
  const rule = { serviceId, name: 'New', kind: 'exception', config: {}, escalationPolicyId };
  await w.expectOk('create_alert_rule', rule);
}

async function limitsMet(serviceId: Id<'service'>) {
  return await storesOf(w.context.db.session()).ingestRefusals.listSince(
    serviceId,
    w.clock.now().subtract({ hours: 1 }),
  );
}

async function breach({ serviceId }: Alert, value: number): Promise<void> {
  await runStorePoints(w.runtime, serviceId, [{ name: 'latency', at: w.clock.now(), value }]);
}

describe('a service that opens more incidents than its limit', () => {
  test('opens one storm for the rest, which pages once, counts its members and lists them', async () => {
    const { flood, texts, storms, list } = await annaInAFlood();
    await flood(2);
    await w.advance({ minutes: 2 });
    await flood(5);
    const [storm] = await storms();
    expect(storm).toMatchObject({
      title: '4 more new exceptions in checkout',
      occurrences: 4,
      kind: 'exception',
      details: { standsFor: 4 },
    });
    await flood(2);
    const [grown, ...others] = await storms();
    expect(others).toEqual([]);
    expect(grown).toMatchObject({ incidentId: storm.incidentId, title: '6 more new exceptions in checkout' });
    expect((await list()).total).toBe(4);
    await w.advance({ minutes: 2 });
    expect(texts()).toHaveLength(4);
    expect(texts()).toContainEqual(expect.stringMatching(/^checkout: \d+ more new exceptions in checkout\nReply ACK/));

    const { members } = await w.expectOk('get_incident', { incidentId: storm.incidentId });
    expect(members).toHaveLength(6);
    const { groups } = await w.expectOk('list_exception_groups', { serviceId: storm.serviceId });
    expect(groups).toHaveLength(9);
    expect(members[0]).toMatchObject({ exceptionGroupId: expect.any(String), endedAt: null });
    const group = await w.expectOk('get_exception_group', { groupId: members[0].exceptionGroupId });
    expect(group.triage).toMatchObject({ isNew: true, openIncidentId: storm.incidentId });

    expect(await limitsMet(storm.serviceId)).toMatchObject([{ reason: 'too_many_incidents', count: 6 }]);
  });

  test('goes on with the same storm after somebody has given it to others, and pages nobody of before again', async () => {
    const { anna, teamId, flood, texts, storms } = await annaInAFlood();
    const bram = await w.staff.responder(teamId, 'Bram');
    const other = await w.staff.alert(teamId, [{ afterMinutes: 0, channels: ['sms'], targetUserIds: [bram.userId] }]);
    await flood(5);
    await w.advance({ minutes: 2 });
    const [storm] = await storms();
    const { status, escalation } = await w.expectOk('get_incident', { incidentId: storm.incidentId });
    const caller = memberCaller(w.orgId, anna.userId, 'responder');
    const seen = { status, stepCount: escalation.stepCount };
    const input = { incidentId: storm.incidentId, to: { policyId: other.policyId }, seen };
    await runOperation(w, reassignIncident, caller, input);
    await w.runUntilIdle();
    const before = texts().length;
    await flood(2);
    await w.advance({ minutes: 2 });
    expect(await storms()).toMatchObject([{ incidentId: storm.incidentId, occurrences: 4 }]);
    expect(texts()).toHaveLength(before);
  });

  test('opens separate incidents again after the flood, and the next flood pages again', async () => {
    const { flood, texts, storms, list } = await annaInAFlood();
    await flood(5);
    await w.advance({ minutes: 6 });
    await flood(1);
    expect((await list()).total).toBe(5);
    await w.advance({ minutes: 6 });
    const before = texts().length;
    await flood(5);
    await w.advance({ minutes: 2 });
    expect(await storms()).toHaveLength(2);
    expect(texts().length).toBeGreaterThan(before + 3);
  });

  test('still pages for a breach of a metric, and for another policy', async () => {
    const { alert, teamId, flood, storms, list } = await annaInAFlood();
    const bram = await w.staff.responder(teamId, 'Bram');
    const other = await w.staff.alert(teamId, [{ afterMinutes: 0, channels: ['sms'], targetUserIds: [bram.userId] }]);
    await flood(5);
    await w.advance({ minutes: 2 });
    await alertOnExceptions(alert.serviceId, other.policyId);
    await flood(3);
    expect(await storms()).toHaveLength(2);
    expect(w.phone.messages.filter(({ to }) => to === bram.phone)).toHaveLength(1);
    await breach(alert, 250);
    await w.evaluate();
    const { incidents } = await list();
    expect(incidents[0]).toMatchObject({ kind: 'metric_threshold', ruleId: alert.ruleId, details: { value: 250 } });
  });

  test('resolves the storm with all its members, by a person or once its groups are resolved or ignored', async () => {
    const { flood, storms } = await annaInAFlood();
    await flood(5);
    const [storm] = await storms();
    const { members } = await w.expectOk('get_incident', { incidentId: storm.incidentId });
    for (const { exceptionGroupId: groupId } of members) {
      expect((await storms())[0]).toMatchObject({ status: 'triggered' });
      await w.expectOk('set_exception_status', { groupId, status: 'ignored' });
    }
    expect((await storms())[0]).toMatchObject({ status: 'resolved', resolvedBy: { apiKeyName: 'all', via: 'rest' } });
    await flood(2);
    const [next] = await storms();
    expect(next.incidentId).not.toBe(storm.incidentId);
    await w.expectOk('resolve_incident', { incidentId: next.incidentId });
    const resolved = await w.expectOk('get_incident', { incidentId: next.incidentId });
    expect(resolved.members.filter(({ endedAt }: { endedAt: unknown }) => endedAt === null)).toEqual([]);
  });

  test('adds breaches of metrics to a storm, each of which ends when its condition does', async () => {
    const { alert, storms, list } = await annaInAFlood();
    const config = { metricName: 'latency', comparator: '>', threshold: 100, windowMinutes: 1 };
    const rule = { serviceId: alert.serviceId, kind: 'metric_threshold', escalationPolicyId: alert.policyId, config };
    await w.expectOk('delete_alert_rule', { ruleId: alert.ruleId });
    for (const name of ['first', 'second', 'third', 'fourth', 'fifth'])
      await w.expectOk('create_alert_rule', { ...rule, name });
    await breach(alert, 250);
    await w.evaluate();
    await w.evaluate();
    const [storm] = await storms();
    expect(storm).toMatchObject({
      title: '2 more breaches in checkout',
      kind: 'metric_threshold',
      status: 'triggered',
    });
    expect((await list()).total).toBe(4);
    await w.advance({ seconds: 90 });
    await breach(alert, 1);
    await w.evaluate();
    await w.advance({ seconds: 40 });
    await breach(alert, 1);
    await w.evaluate();
    expect((await storms())[0]).toMatchObject({ status: 'triggered' });
    await w.advance({ seconds: 40 });
    await breach(alert, 1);
    await w.evaluate();
    expect((await storms())[0]).toMatchObject({ status: 'resolved' });
    expect((await list('triggered')).total).toBe(0);
  });
});

test('events of more new groups than a service may open are kept in one group, and its ingest status says so', async () => {
  const { alert, flood } = await annaInAFlood();
  await flood(20);
  const { groups } = await w.expectOk('list_exception_groups', { serviceId: alert.serviceId });
  expect(groups).toHaveLength(13);
  const overflow = groups.find(
    ({ title }: { title: string }) => title === 'More new exceptions than can be told apart',
  );
  expect(overflow).toMatchObject({ eventCount: 8 });
  expect(await limitsMet(alert.serviceId)).toContainEqual(
    expect.objectContaining({ reason: 'too_many_new_groups', count: 8 }),
  );
  expect(await w.metrics()).toContain('tocsin_ingest_refused_this_hour{reason="too_many_new_groups"} 8');
  await w.advance({ minutes: 2 });
  await flood(1);
  expect((await w.expectOk('list_exception_groups', { serviceId: alert.serviceId })).groups).toHaveLength(14);
});
