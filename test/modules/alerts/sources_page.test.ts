import { afterAll, beforeAll, expect, test } from 'vitest';

import { listAlertSources, setAlertSource } from '#modules/alerts/operations/alert_sources.ts';
import { setAlertRoutes } from '#modules/alerts/operations/set_alert_routes.ts';
import { testAlert } from '#console/pages/alert_sources/test_alert.ts';
import { TOOLS } from '#console/pages/alert_sources/tool_snippets.ts';
import { installationOf } from '#entry/installation.ts';
import { newId } from '#kernel/ids.ts';
import { alertedServiceIn } from '#test/kit/alert_senders.ts';
import { memberCaller, runOperation } from '#test/kit/run_operation.ts';
import { type StaffedWorld, staffedWorld } from '#test/kit/staffed_world.ts';

let shared: StaffedWorld;
beforeAll(async () => {
  shared = await staffedWorld({ keepOpen: true });
});
afterAll(() => shared.close());

/** Each test has a service and a team of its own. */
async function begin() {
  shared.phone.clear();
  return await alertedServiceIn(shared);
}

test.each([...new Set(TOOLS.map(({ protocol }) => protocol))])(
  'the test alert of %s pages, and is resolved when it is taken back',
  async (protocol) => {
    const { w, key, send, incidents } = await begin();
    const now = new Date(w.clock.now().epochMilliseconds);
    const alert = testAlert({ protocol, name: 'am.example:9093', alertKey: key, id: 'k3x', now });
    for (const { path, headers, body } of [alert.trigger, alert.resolve]) {
      expect((await send(path, body, { authorization: null, headers })).status).toBeLessThan(300);
      await w.runUntilIdle();
      w.clock.advance({ seconds: 2 });
    }
    expect(await incidents()).toMatchObject([{ status: 'resolved', severity: 'fatal' }]);
    expect((await incidents())[0].title).toContain(alert.title);
    expect(w.phone.messages[0]?.body).toContain(alert.title);
  },
);

test('the sources page says how much each source sends', async () => {
  const { w, send, serviceId } = await begin();
  const owner = memberCaller(w.orgId, w.owner.userId, 'owner');
  const seen = async () => {
    const { sources } = await runOperation(w, listAlertSources, owner, { serviceId });
    return sources.map((source: Readonly<Record<string, unknown>>) => [
      source['accepted'],
      source['alertsLastHour'],
      source['alertsLastDay'],
    ]);
  };
  const trigger = (dedupKey: string) => send('/events', { dedupKey, title: dedupKey });
  await trigger('a');
  w.clock.advance({ hours: 2 });
  await trigger('b');
  await trigger('b');
  await trigger('c');
  expect(await seen()).toEqual([[4, 2, 3]]);
  w.clock.advance({ hours: 23 });
  expect(await seen()).toEqual([[4, 0, 2]]);
});

test('the sources page names the domain of mail addresses where mail is taken, and none elsewhere', async () => {
  const { w, serviceId } = await begin();
  const owner = memberCaller(w.orgId, w.owner.userId, 'owner');
  const { mailDomain } = await runOperation(w, listAlertSources, owner, { serviceId });
  expect(mailDomain).toBe(null);
  const domainOf = (settings: object) => installationOf({ ...w.context.config, ...settings }, w.clock).mailInDomain;
  expect(domainOf({ mailInDomain: 'alerts.example' })).toBe(null);
  expect(domainOf({ mailInPort: 2_525 })).toBe(new URL(w.context.config.baseUrl).hostname);
  expect(domainOf({ mailInPort: 2_525, mailInDomain: 'alerts.example' })).toBe('alerts.example');
});

test('a route and settings that cannot be read are set aside alone, shown, and told in the incident', async () => {
  const { w, key, send, serviceId, incidents } = await begin();
  const owner = memberCaller(w.orgId, w.owner.userId, 'owner');
  await send(`/webhook/${key}/ci`, { title: 'First' });
  await w.context.db.sql.run(
    `insert into alert_routes (id, org_id, service_id, position, conditions, outcome, policy_id, pages_on_rise, created_at, updated_at)
     select $2, org_id, service_id, -1, '[{"kind": "detail"}]', 'drop', null, false,
       created_at, updated_at from alert_routes where service_id = $1`,
    [serviceId, newId('alertroute')],
  );
  await w.context.db.sql.run(
    `update alert_sources set settings = '{"mapping": 5, "leaseMinutes": 1e12, "incidentsPer": "alert"}' where service_id = $1`,
    [serviceId],
  );
  expect((await send(`/webhook/${key}/ci`, { title: 'Second' })).status).toBe(202);
  await w.runUntilIdle();
  const second = (await incidents()).find(({ title }) => title === 'Second');
  expect(second).toMatchObject({ status: 'triggered' });
  const { timeline } = await w.expectOk('get_incident', { incidentId: second.incidentId });
  expect(JSON.stringify(timeline)).toContain('cannot be read and was passed over');
  expect(w.phone.messages.at(-1)?.body).toContain('Second');
  const shown = await runOperation(w, listAlertSources, owner, { serviceId });
  expect(shown.routes).toMatchObject([{ conditions: [], isUnreadable: true }, { conditions: [] }]);
  const source = shown.sources.find(({ protocol }: { readonly protocol: string }) => protocol === 'webhook');
  expect(source).toMatchObject({
    settings: { mapping: null, leaseMinutes: null, incidentsPer: 'alert' },
    unreadableSettings: ['mapping', 'leaseMinutes'],
  });
});

test('routes and settings of a source that somebody has changed meanwhile are not overwritten', async () => {
  const { w, key, send, serviceId } = await begin();
  const owner = memberCaller(w.orgId, w.owner.userId, 'owner');
  await send(`/webhook/${key}/ci`, { title: 'First' });
  const { routes, sources } = await runOperation(w, listAlertSources, owner, { serviceId });
  const route = (atLeast: string) => ({
    conditions: [{ kind: 'severity', atLeast }],
    outcome: 'drop',
    policyId: null,
    pagesOnRise: false,
  });
  const setRoutes = (atLeast: string) =>
    runOperation(w, setAlertRoutes, owner, { serviceId, routes: [route(atLeast), ...routes], basedOn: routes });
  await setRoutes('fatal');
  await expect(setRoutes('debug')).rejects.toMatchObject({ code: 'conflict' });
  expect(await setRoutes('fatal')).toMatchObject({ routes: [route('fatal'), ...routes] });

  const { sourceId, settings } = sources.find(({ protocol }: { protocol: string }) => protocol === 'webhook');
  const set = (changed: object) =>
    runOperation(w, setAlertSource, owner, { sourceId, ...settings, ...changed, basedOn: settings });
  await set({ groupMinutes: 5 });
  await expect(set({ groupMinutes: 9 })).rejects.toMatchObject({ code: 'conflict' });
  // What only one of both has changed is kept.
  expect((await set({ leaseMinutes: 7 })).settings).toMatchObject({ groupMinutes: 5, leaseMinutes: 7 });
});
