import { expect, test } from 'vitest';

import { listAlertSources, setAlertSource } from '#modules/alerts/operations/alert_sources.ts';
import { setAlertRoutes } from '#modules/alerts/operations/set_alert_routes.ts';
import { type AlertedService, alertedService } from '#test/kit/alert_senders.ts';
import { memberCaller, runOperation } from '#test/kit/run_operation.ts';
import type { World } from '#test/kit/world.ts';

const owner = (w: World) => memberCaller(w.orgId, w.owner.userId, 'owner');

const firing = (dedupKey: string, more: object = {}) => ({ dedupKey, title: dedupKey, group: 'disks', ...more });
const critical = { severity: 'critical' };
const warning = { severity: 'warning' };
const resolved = (dedupKey: string) => ({ dedupKey, group: 'disks', action: 'resolve' });

async function dropWarnings({ w, serviceId, policyId }: AlertedService): Promise<void> {
  const severe = {
    conditions: [{ kind: 'severity', atLeast: 'error' }],
    outcome: 'page',
    policyId,
    pagesOnRise: false,
  };
  const rest = { conditions: [], outcome: 'drop', policyId: null, pagesOnRise: false };
  await runOperation(w, setAlertRoutes, owner(w), { serviceId, routes: [severe, rest] });
}

async function openIncidentsPer({ w, serviceId }: AlertedService, incidentsPer: 'alert' | 'group'): Promise<void> {
  const { sources } = await runOperation(w, listAlertSources, owner(w), { serviceId });
  const [{ sourceId, settings }] = sources;
  await runOperation(w, setAlertSource, owner(w), { sourceId, ...settings, incidentsPer });
}

async function statuses({ incidents }: AlertedService): Promise<string[]> {
  return (await incidents()).map(({ title, status }) => `${title} ${status}`).toSorted();
}

test('the incident of a group ends with the last of its alerts while others of the group fire that a route drops', async () => {
  const alerted = await alertedService();
  const { w, send } = alerted;
  await dropWarnings(alerted);
  await send('/events', [firing('A', critical), firing('B', warning)]);
  await send('/events', [resolved('A'), firing('B', warning)]);
  expect(await statuses(alerted)).toEqual(['A resolved']);
  await send('/events', [firing('A', critical), firing('C', critical)]);
  await send('/events', [resolved('A'), firing('D', warning)]);
  expect(await statuses(alerted)).toEqual(['A resolved', 'A triggered']);
  // A was of the incident and comes again as something that is dropped, when the incident ends.
  await send('/events', [resolved('C'), firing('A', warning)]);
  expect(await statuses(alerted)).toEqual(['A resolved', 'A resolved']);
  const sent = w.phone.messages.length;
  await w.advance({ minutes: 20 });
  expect(w.phone.messages.slice(sent).filter(({ body }) => !body.includes('resolved'))).toEqual([]);
});

test('the incident of a group goes on with an alert that begins as the last one ends', async () => {
  const alerted = await alertedService();
  const { w, send } = alerted;
  await send('/events', [firing('A')]);
  await send('/events', [resolved('A'), firing('B')]);
  expect(await statuses(alerted)).toEqual(['A triggered']);
  await send('/events', [firing('A'), firing('C'), resolved('A'), resolved('B')]);
  expect(await statuses(alerted)).toEqual(['A triggered']);
  await w.runUntilIdle();
  expect(w.phone.messages).toHaveLength(1);
  await send('/events', [resolved('C')]);
  expect(await statuses(alerted)).toEqual(['A resolved']);
  await send('/events', [firing('A'), firing('B'), resolved('A')]);
  expect(await statuses(alerted)).toEqual(['A resolved', 'A triggered']);
});

test('incidents that were opened for each alert end with theirs after the source is set to one for each group', async () => {
  const alerted = await alertedService();
  const { send } = alerted;
  await send('/events', [firing('X'), resolved('X')]);
  await openIncidentsPer(alerted, 'alert');
  await send(
    '/events',
    ['A', 'B', 'C', 'D'].map((name) => firing(name)),
  );
  await openIncidentsPer(alerted, 'group');
  await send('/events', [{ dedupKey: 'A', action: 'acknowledge' }]);
  expect(await statuses(alerted)).toContain('A acknowledged');
  await send('/events', [resolved('A'), resolved('B')]);
  expect(await statuses(alerted)).toEqual(['A resolved', 'B resolved', 'C triggered', 'D triggered', 'X resolved']);
  await send('/events', [resolved('C')]);
  await send('/events', [resolved('D')]);
  expect(await statuses(alerted)).toEqual(['A resolved', 'B resolved', 'C resolved', 'D resolved', 'X resolved']);
});

test('an alert whose group is called otherwise from now on ends the incident that it opened', async () => {
  const alerted = await alertedService();
  const { send } = alerted;
  const renamed = { group: 'disks by host' };
  await send('/events', [firing('A')]);
  await send('/events', [firing('A', renamed)]);
  await send('/events', [firing('C', renamed)]);
  await send('/events', [{ ...resolved('A'), ...renamed }]);
  expect(await statuses(alerted)).toEqual(['A resolved', 'C triggered']);
});

test('a storm ends with the last of its alerts, whatever they are called by now', async () => {
  const alerted = await alertedService();
  const { w, send, incidents } = alerted;
  const names = Array.from({ length: 25 }, (_, number) => `host ${number}`);
  await send('/events', [firing('X'), resolved('X')]);
  await openIncidentsPer(alerted, 'alert');
  await send(
    '/events',
    names.map((name) => firing(name)),
  );
  const storms = async () => (await incidents()).filter(({ details }) => details.standsFor !== undefined);
  expect(await storms()).toMatchObject([{ status: 'triggered' }]);
  await openIncidentsPer(alerted, 'group');
  await send('/events', names.slice(0, -1).map(resolved));
  expect(await storms()).toMatchObject([{ status: 'triggered' }]);
  await send('/events', names.slice(-1).map(resolved));
  expect(await storms()).toMatchObject([{ status: 'resolved' }]);
  await w.runUntilIdle();
});
