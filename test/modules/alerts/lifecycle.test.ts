import { expect, test } from 'vitest';

import type { Id } from '#kernel/ids.ts';
import { setAlertRoutes } from '#modules/alerts/operations/set_alert_routes.ts';
import { type AlertedService, alertedService, alertedServiceIn } from '#test/kit/alert_senders.ts';
import { memberCaller, runOperation } from '#test/kit/run_operation.ts';
import type { StaffedWorld } from '#test/kit/staffed_world.ts';
import { enforceRetention } from '#workers/enforce_retention.ts';
import { watchTransactions } from '#test/kit/when.ts';

const TABLES = ['alert_bodies', 'alert_keys', 'alert_routes', 'alert_sources', 'alerts'];

/** Tables of alerts that hold something of the service. */
async function traces({ context }: StaffedWorld, serviceId: Id<'service'>): Promise<string[]> {
  const counted = TABLES.map(async (name) => {
    const row = await context.db.sql.row<{ n: number }>(
      `select count(*)::int as n from ${name} as t where t::text like $1`,
      [`%${serviceId}%`],
    );
    return [name, row?.n ?? 0] as const;
  });
  return (await Promise.all(counted)).flatMap(([name, n]) => (n > 0 ? [name] : []));
}

async function sendBoth({ w, send, serviceId }: AlertedService): Promise<void> {
  const whenKept = watchTransactions(w.context);
  await send('/events', { dedupKey: 'open', title: 'Open' });
  await send('/events', { dedupKey: 'over', title: 'Over' });
  await send('/events', { dedupKey: 'over', action: 'resolve', tool: 'Alertmanager' });
  await whenKept();
  expect(await traces(w, serviceId)).toEqual(TABLES);
}

test('a service that is deleted takes its alerts, key, routes, sources and bodies with it, and those of others stay', async () => {
  const gone = await alertedService();
  const { w } = gone;
  const kept = await alertedServiceIn(w);
  await sendBoth(gone);
  await sendBoth(kept);
  await w.expectOk('delete_service', { serviceId: gone.serviceId });
  // Keys are looked up again within a second.
  w.clock.advance({ seconds: 1 });
  expect((await gone.send('/events', { dedupKey: 'late', title: 'Late' })).status).toBe(401);
  await w.runUntilIdle();
  expect(await traces(w, gone.serviceId)).toEqual([]);
  expect(await traces(w, kept.serviceId)).toEqual(TABLES);
  expect((await kept.send('/events', { dedupKey: 'open', title: 'Open' })).status).toBe(202);
});

test('resolved alerts are kept as long as the incidents of their service, and open ones as long as they are open', async () => {
  const alerted = await alertedService();
  const { w, serviceId, send } = alerted;
  await sendBoth(alerted);
  await w.expectOk('set_retention', { serviceId, capability: 'oncall', retentionDays: 7 });
  const keys = async () => {
    const rows = await w.context.db.sql.rows<{ key: string }>(
      'select key from alerts where service_id = $1 order by key',
      [serviceId],
    );
    return rows.map(({ key }) => key);
  };
  w.clock.advance({ hours: 6 * 24 });
  await enforceRetention(w.runtime);
  expect(await keys()).toEqual(['open', 'over']);
  w.clock.advance({ hours: 2 * 24 });
  await enforceRetention(w.runtime);
  expect(await keys()).toEqual(['open']);
  // It is still the same alert, which pages nobody again and ends its incident.
  await send('/events', { dedupKey: 'open', title: 'Open' });
  await send('/events', { dedupKey: 'open', action: 'resolve' });
  expect(await alerted.incidents()).toMatchObject([{ title: 'Open', status: 'resolved' }]);
});

test('what is said of an alert that nobody has heard of leaves nothing', async () => {
  const { w, send, serviceId } = await alertedService();
  for (const action of ['acknowledge', 'resolve', 'unacknowledge']) {
    expect((await send('/events', { dedupKey: action, action })).status).toBe(202);
  }
  expect(await w.context.db.sql.rows('select key from alerts where service_id = $1', [serviceId])).toEqual([]);
});

test('an alert that a route drops is counted from its first event on, and opens an incident once a route says so', async () => {
  const { w, key, send, serviceId, policyId, incidents } = await alertedService();
  const by = { authorization: `GenieKey ${key}` };
  const severe = {
    conditions: [{ kind: 'severity', atLeast: 'error' }],
    outcome: 'page',
    policyId,
    pagesOnRise: false,
  };
  const rest = { conditions: [], outcome: 'drop', policyId: null, pagesOnRise: false };
  const owner = memberCaller(w.orgId, w.owner.userId, 'owner');
  await runOperation(w, setAlertRoutes, owner, { serviceId, routes: [severe, rest] });
  w.clock.set('2027-06-01T12:00:00Z');
  const create = (priority: string) => send('/opsgenie/v2/alerts', { message: 'Disk', alias: 'disk', priority }, by);
  for (let sent = 0; sent < 5; sent += 1) {
    await create('P4');
    w.clock.advance({ minutes: 1 });
  }
  const get = async () =>
    (await send('/opsgenie/v2/alerts/disk?identifierType=alias', undefined, { method: 'GET', ...by })).body.data;
  expect(await get()).toMatchObject({ count: 5, status: 'open', createdAt: '2027-06-01T12:00:00.000Z' });
  const event = { dedupKey: 'queue', title: 'Queue', severity: 'info' };
  for (const effect of ['count', 'count']) {
    expect((await send('/events', event)).body).toMatchObject({ incidentId: null, effect });
  }
  expect((await send('/events', { dedupKey: 'queue', action: 'resolve' })).body.effect).toBe('nothing');
  expect(await incidents()).toEqual([]);
  await create('P1');
  expect(await incidents()).toMatchObject([{ title: 'Disk', severity: 'fatal', occurrences: 1 }]);
  await send('/opsgenie/v2/alerts/disk/close?identifierType=alias', {}, by);
  await create('P4');
  expect(await get()).toMatchObject({ count: 1 });
  expect(await incidents()).toMatchObject([{ status: 'resolved' }]);
});

test('incidents and their timeline say which tool resolved them', async () => {
  const alerted = await alertedService();
  await sendBoth(alerted);
  const over = (await alerted.incidents()).find(({ title }) => title === 'Over');
  expect(over).toMatchObject({ status: 'resolved', resolvedBy: { tool: 'Alertmanager' } });
  const { timeline } = await alerted.w.expectOk('get_incident', { incidentId: over.incidentId });
  expect(timeline.map(({ text }: { text: string }) => text).join('\n')).toMatch(/resolved by Alertmanager/i);
});
