import { expect, test } from 'vitest';

import { searchEverything } from '#modules/search/operations/search_everything.ts';
import { memberCaller, runOperation } from '#test/kit/run_operation.ts';
import { staffedWorld } from '#test/kit/staffed_world.ts';
import { eventAt, groupAndStore, withMessage } from '#test/modules/exceptions/given_events.ts';

test('the search finds things of every kind by their words, a few of each, and says how many there are', async () => {
  const w = await staffedWorld();
  const [teamId, dana] = await w.staff.teamOf('Dana Scully');
  const alert = await w.staff.alert(teamId, [{ afterMinutes: 0, channels: ['sms'], targetUserIds: [dana.userId] }]);
  const incidentId = await alert.trigger('Latency of the till');
  for (let number = 1; number <= 7; number += 1) await w.given.service({ name: `till ${number}` });
  const viewer = memberCaller(w.orgId, w.owner.userId, 'viewer');
  const search = (text: string, caller = viewer) => runOperation(w, searchEverything, caller, { text });
  const kindsOf = ({ found }: { found: { kind: string }[] }) => found.map(({ kind }) => kind);

  const people = await search('scully dana');
  expect(people).toMatchObject({
    found: [{ kind: 'person', items: [{ id: dana.userId, name: 'Dana Scully' }], total: 1 }],
  });
  const tills = await search('TILL');
  // A name that begins with the text comes before a title that holds it.
  expect(kindsOf(tills)).toEqual(['service', 'incident']);
  expect(tills.found[1]).toMatchObject({
    items: [{ id: incidentId, detail: expect.stringMatching(/^#\d+ triggered/) }],
  });
  expect(tills.found[0].items).toHaveLength(5);
  expect(tills.found[0].total).toBe(7);
  expect(tills.found[0].items[0].name).toBe('till 1');
  expect(kindsOf(await search('Latency'))).toEqual(['rule', 'incident']);
  expect(await search('no such thing at all')).toEqual({ found: [] });
  expect(await search('%')).toEqual({ found: [] });
  expect(await search('_')).toEqual({ found: [] });
  expect(await search('till\\')).toEqual({ found: [] });
  await w.given.service({ name: 'Überweisung' });
  expect(kindsOf(await search('überW'))).toEqual(['service']);

  // Each word is in the name of one thing, or in that of its service, team or mail address.
  const { serviceId } = await w.given.service({ name: 'Checkout' });
  await w.expectOk('create_dashboard', { name: 'Golden signals', serviceId, layout: [] });
  expect(await search('golden CHECK')).toMatchObject({
    found: [{ kind: 'dashboard', items: [{ name: 'Golden signals', detail: 'Checkout' }] }],
  });
  const { services } = await w.expectOk('list_services');
  const ofRule = services.find(({ serviceId: id }: { serviceId: string }) => id === alert.serviceId);
  expect(kindsOf(await search(`latency ${ofRule.name.slice(0, 4)}`))).toContain('rule');
  expect(kindsOf(await search(`till ${ofRule.name}`))).toEqual(['incident']);
  const [number] = tills.found[1].items[0].detail.split(' ');
  expect((await search(`till ${number} trigg`)).found[0].items[0].id).toBe(incidentId);

  const narrow = { ...viewer, permissions: new Set(['services:view', 'organization:view'] as const) };
  expect(kindsOf(await search('till', narrow))).toEqual(['service']);
  const other = await w.given.organization('Umbrella');
  expect(await search('till', memberCaller(other.orgId, other.owner.userId, 'owner'))).toEqual({ found: [] });
});

test('the search finds no exceptions that retention hides', async () => {
  const w = await staffedWorld();
  const { serviceId } = await w.given.service();
  await groupAndStore(w, serviceId, [eventAt(w, withMessage('till on fire'))]);
  const viewer = memberCaller(w.orgId, w.owner.userId, 'viewer');
  const search = () => runOperation(w, searchEverything, viewer, { text: 'till on fire' });
  expect((await search()).found).toMatchObject([{ kind: 'group' }]);
  w.clock.advance({ hours: 24 * 20 });
  await w.expectOk('set_retention', { serviceId, capability: 'exceptions', retentionDays: 7 });
  expect(await search()).toEqual({ found: [] });
});

test('of incidents, the search lists open ones first', async () => {
  const w = await staffedWorld();
  const [teamId, anna] = await w.staff.teamOf('Anna');
  const viewer = memberCaller(w.orgId, w.owner.userId, 'viewer');
  const alert = await w.staff.alert(teamId, [{ afterMinutes: 0, channels: ['sms'], targetUserIds: [anna.userId] }]);
  const resolved = await alert.trigger('Till is down');
  await w.expectOk('resolve_incident', { incidentId: resolved });
  const open = await alert.trigger('Till is slow');
  const { found } = await runOperation(w, searchEverything, viewer, { text: 'till' });
  const incidents = found.find(({ kind }: { kind: string }) => kind === 'incident');
  expect(incidents.items.map(({ id }: { id: string }) => id)).toEqual([open, resolved]);
});
