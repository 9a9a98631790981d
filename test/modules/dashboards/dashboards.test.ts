import fc from '#test/kit/properties.ts';
import { expect, test } from 'vitest';

import { givenPerson, signedIn } from '#test/kit/programs/browser.ts';
import { fileWorld } from '#test/kit/world.ts';

const w = await fileWorld();

const WIDGETS = [
  {
    type: 'line',
    title: 'Requests',
    query: { metricName: 'http_requests_total{status=~"5.."}', aggregation: 'sum' },
    options: { unit: 'req/s', legend: null },
    grid: { x: 0, y: 0, w: 6, h: 4.5 },
    // A field that the product does not know.
    colours: ['#fff', { from: 1e-7, to: 12_345_678_901_234 }],
  },
  {},
];

test('a dashboard keeps its layout exactly as it was given', async () => {
  const created = await w.expectOk('create_dashboard', { name: 'Checkout', layout: WIDGETS });
  expect(created).toEqual({
    dashboardId: expect.stringMatching(/^dashboard_[0-9a-z]{26}$/),
    name: 'Checkout',
    serviceId: null,
    layout: WIDGETS,
    createdAt: w.clock.now().toString({ fractionalSecondDigits: 3 }),
    updatedAt: created.createdAt,
  });
  const read = await w.expectOk('get_dashboard', { dashboardId: created.dashboardId });
  expect(JSON.stringify(read)).toBe(JSON.stringify(created));
});

test('any widgets survive being stored', async () => {
  const { dashboardId } = await w.expectOk('create_dashboard', { name: 'any' });
  const widget = fc.dictionary(
    fc.string().filter((key) => !['type', 'title', 'grid', '__proto__'].includes(key) && !key.includes('\0')),
    fc.jsonValue().filter((value) => !JSON.stringify(value).includes(String.raw`\u0000`)),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(widget, { maxLength: 4 }), async (layout) => {
      const sent = JSON.parse(JSON.stringify(layout)) as unknown;
      const updated = await w.expectOk('update_dashboard', { dashboardId, layout });
      expect(updated.layout).toEqual(sent);
      expect((await w.expectOk('get_dashboard', { dashboardId })).layout).toEqual(sent);
    }),
    { numRuns: 30 },
  );
});

test('the known fields of widgets are checked for their kind, and every fault is named', async () => {
  const layout = [{ type: 1, title: null, grid: { x: '0', y: 1, w: true, h: null } }, 'line', null, [], { grid: [] }];
  const { status, body } = await w.call('create_dashboard', { name: 'x', layout });
  expect(status).toBe(400);
  expect(body.errors.map(({ path }: { path: string }) => path)).toEqual([
    'layout[0].type',
    'layout[0].title',
    'layout[0].grid.x',
    'layout[0].grid.w',
    'layout[0].grid.h',
    'layout[1]',
    'layout[2]',
    'layout[3]',
    'layout[4].grid',
  ]);
});

test('unlisted properties, blank names and a null serviceId are refused', async () => {
  for (const body of [
    { name: 'x', colour: 'red' },
    { name: ' \t' },
    { name: '' },
    { name: 'x', serviceId: null },
    { name: 'x', layout: {} },
    {},
  ]) {
    expect((await w.call('create_dashboard', body)).status, JSON.stringify(body)).toBe(400);
  }
});

test('a dashboard may belong to a service, and goes with it', async () => {
  const { serviceId } = await w.given.service({ capabilities: [] });
  const { dashboardId } = await w.expectOk('create_dashboard', { name: 'scoped', serviceId });
  expect(await w.expectOk('get_dashboard', { dashboardId })).toMatchObject({ serviceId, layout: [] });
  await w.expectOk('delete_service', { serviceId });
  for (const action of ['get_dashboard', 'update_dashboard', 'delete_dashboard']) {
    expect((await w.call(action, { dashboardId })).status).toBe(404);
  }
  const { dashboards } = await w.expectOk('list_dashboards');
  expect(dashboards.map((dashboard: { dashboardId: string }) => dashboard.dashboardId)).not.toContain(dashboardId);
  const orphan = await w.call('create_dashboard', { name: 'scoped', serviceId });
  expect(orphan).toMatchObject({ status: 404, body: { code: 'not_found', errors: [{ path: 'serviceId' }] } });
});

test('a list holds what is in the organization, without layouts', async () => {
  const other = await w.given.organization('Other');
  const key = other.orgKey;
  const first = await w.expectOk('create_dashboard', { name: 'b', layout: WIDGETS }, { key });
  const second = await w.expectOk('create_dashboard', { name: 'a' }, { key });
  const { layout: _, ...summary } = first;
  const { layout: __, ...next } = second;
  expect(await w.expectOk('list_dashboards', {}, { key })).toEqual({ dashboards: [summary, next], total: 2 });
  for (const action of ['get_dashboard', 'update_dashboard', 'delete_dashboard']) {
    const foreign = await w.call(action, { dashboardId: first.dashboardId });
    const missing = await w.call(action, { dashboardId: 'dashboard_00000000000000000000000000' });
    expect(foreign.status).toBe(404);
    expect({ ...foreign.body, requestId: '' }).toEqual({ ...missing.body, requestId: '' });
  }
});

test('an update replaces the layout as a whole, and leaves alone what it does not name', async () => {
  const { dashboardId } = await w.expectOk('create_dashboard', { name: 'before', layout: WIDGETS });
  w.clock.advance({ minutes: 1 });
  const renamed = await w.expectOk('update_dashboard', { dashboardId, name: 'after' });
  expect(renamed).toMatchObject({ name: 'after', layout: WIDGETS });
  w.clock.advance({ minutes: 1 });
  const emptied = await w.expectOk('update_dashboard', { dashboardId, layout: [] });
  expect(emptied).toMatchObject({ name: 'after', layout: [] });
  expect(emptied.updatedAt > renamed.updatedAt).toBe(true);
});

test('an update that alters nothing leaves updatedAt and the audit log alone', async () => {
  const created = await w.expectOk('create_dashboard', { name: 'same', layout: WIDGETS });
  const entries = () => w.context.db.sql.row<{ n: number }>('select count(*)::int as n from audit_log');
  const before = await entries();
  w.clock.advance({ minutes: 1 });
  const { dashboardId } = created;
  for (const body of [{ dashboardId }, { dashboardId, name: 'same' }, { dashboardId, layout: WIDGETS }]) {
    expect(await w.expectOk('update_dashboard', body)).toEqual(created);
  }
  expect(await entries()).toEqual(before);
});

test('a deleted dashboard is gone, and the audit log says what it was', async () => {
  const { dashboardId } = await w.expectOk('create_dashboard', { name: 'gone', layout: WIDGETS });
  expect(await w.expectOk('delete_dashboard', { dashboardId })).toEqual({ deleted: true, dashboardId });
  expect((await w.call('get_dashboard', { dashboardId })).status).toBe(404);
  expect((await w.call('delete_dashboard', { dashboardId })).status).toBe(404);
  const entry = await w.context.db.sql.row(
    `select before, after from audit_log where target = $1 and action = 'delete_dashboard'`,
    [dashboardId],
  );
  expect(entry).toMatchObject({ before: { name: 'gone', layout: WIDGETS }, after: null });
});

test('what the console saves never overwrites what its person has not seen', async () => {
  const { email } = await givenPerson(w, { role: 'owner' });
  const browser = await signedIn(w, email);
  const { dashboardId, updatedAt: readAt } = await w.expectOk('create_dashboard', { name: 'Shared', layout: WIDGETS });
  const save = async (input: object) => await browser.invoke(w.orgId, 'save_dashboard', { dashboardId, ...input });

  const first = await save({ readAt, name: 'Mine' });
  expect(first).toMatchObject({ status: 200, body: { result: { name: 'Mine', layout: WIDGETS } } });
  // At the same instant of the clock, yet a later version.
  const { updatedAt } = first.body.result;
  expect(updatedAt > readAt).toBe(true);
  const conflict = { code: 'conflict', detail: 'somebody else has changed this dashboard since you opened it' };
  expect(await save({ readAt, layout: [] })).toMatchObject({ status: 409, body: conflict });
  expect(await save({ readAt, name: 'Mine' }), 'the same change again').toMatchObject({
    status: 200,
    body: { result: first.body.result },
  });
  expect(await save({ readAt: updatedAt, layout: [] })).toMatchObject({
    status: 200,
    body: { result: { name: 'Mine', layout: [] } },
  });
});
