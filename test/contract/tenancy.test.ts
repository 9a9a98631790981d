import { afterAll, expect, test } from 'vitest';

import { asId } from '#kernel/ids.ts';
import { storesOf } from '#modules/stores.ts';
import { type Answer, ask, callsMade } from '#test/contract/ask.ts';
import { buildFixture, EACH_ACTION, type Fixture, exampleBody } from '#test/contract/fixture.ts';
import { sweep } from '#test/kit/properties.ts';
import { fileWorld } from '#test/kit/world.ts';

const w = await fileWorld();
const other = await w.given.organization('Other');
const theirKey = other.orgKey;
const home = await buildFixture(w);
const theirs = await buildFixture(w, other);
afterAll(() => console.log(`${callsMade()} calls named things of other organizations, or none`));

/** Everything that the other organization can see of itself. */
async function viewOfOtherOrganization(): Promise<unknown[]> {
  const reads: [string, object][] = [
    ['list_services', {}],
    ['get_service', { serviceId: theirs.serviceId }],
    ['list_dashboards', {}],
    ['get_dashboard', { dashboardId: theirs.dashboardId }],
    ['list_exception_groups', {}],
    ['list_teams', {}],
    ['get_incident', { incidentId: theirs.incidentId }],
  ];
  const views: unknown[] = [];
  for (const [action, body] of reads) views.push((await ask(w, action, { body, key: theirKey })).body.result);
  return views;
}

const unchanged = await viewOfOtherOrganization();

const ACTIONS_WITH_IDS = EACH_ACTION.filter(([, action]) => /"\w+Ids?":/.test(JSON.stringify(action.input)));

test.each(ACTIONS_WITH_IDS)('%s answers an id of another organization as one that is nowhere', async (name, action) => {
  const body = exampleBody(action, home);
  const turn = ACTIONS_WITH_IDS.findIndex(([other]) => other === name);
  if (name === 'update_alert_rule') body['escalationPolicyId'] = home.policyId;
  const places = idsIn(body);
  expect(places.length).toBeGreaterThan(0);
  for (const [index, { path, id }] of places.entries()) {
    const kind = id.slice(0, id.indexOf('_'));
    const nowhere = await ask(w, name, { body: withId(body, id, `${kind}_00000000000000000000000000`) });
    expect(nowhere).toMatchObject({ status: 404, body: { code: 'not_found', errors: [{ path }] } });
    const foreign = Object.values(theirs).find((theirId) => theirId.startsWith(`${kind}_`))!;
    const odd = [
      '',
      ' ',
      'x',
      id.toUpperCase(),
      `${id} `,
      home[kind === 'team' ? 'serviceId' : 'teamId'],
      'é'.repeat(300),
    ];
    for (const other of [foreign, ...sweep(odd, odd.length, (turn + index) % odd.length)]) {
      const answer = await ask(w, name, { body: withId(body, id, other) });
      expect(withoutRequest(answer), `${path} is ${other}`).toEqual(withoutRequest(nowhere));
    }
  }
});

test('none of these calls has changed what the other organization sees of itself', async () => {
  expect(await viewOfOtherOrganization()).toEqual(unchanged);
});

test('no answer names anything of another organization, and no store removes it', async () => {
  const named: string[] = [];
  for (const [name, action] of EACH_ACTION.filter(([, { effect }]) => effect === 'read')) {
    const { text } = await ask(w, name, { body: exampleBody(action, home) });
    named.push(
      ...Object.values(theirs)
        .filter((id) => text.includes(id))
        .map((id) => `${name}: ${id}`),
    );
  }
  expect(named).toEqual([]);
  await storesOf(w.context.db.session()).dashboards.remove(w.orgId, asId('dashboard', theirs.dashboardId));
  const kept = await ask(w, 'get_dashboard', { body: { dashboardId: theirs.dashboardId }, key: theirKey });
  expect(kept.status).toBe(200);
});

test('data of a deleted service is not found, and is in no list', async () => {
  const gone = await buildFixture(w);
  await ask(w, 'delete_service', { body: { serviceId: gone.serviceId } });
  for (const [name, action] of ACTIONS_WITH_IDS) {
    const body = exampleBody(action, {
      ...home,
      ...only(gone, 'serviceId', 'dashboardId', 'groupId', 'ruleId', 'incidentId'),
    });
    if (!Object.values(gone).some((id) => JSON.stringify(body).includes(`"${id}"`))) continue;
    const answer = await ask(w, name, { body });
    expect(answer, name).toMatchObject({ status: 404, body: { code: 'not_found' } });
  }
  for (const list of ['list_services', 'list_dashboards', 'list_exception_groups', 'list_incidents']) {
    expect((await ask(w, list)).text).not.toContain(gone.serviceId);
  }
});

/** Every text in the body that is an id of the organization, and where it stands. */
function idsIn(value: unknown, path = ''): { path: string; id: string }[] {
  if (typeof value === 'string') return Object.values(home).includes(value) ? [{ path, id: value }] : [];
  if (Array.isArray(value)) return value.flatMap((item, index) => idsIn(item, `${path}[${index}]`));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => idsIn(inner, path === '' ? name : `${path}.${name}`));
}

function withId(body: object, id: string, other: string): object {
  return JSON.parse(JSON.stringify(body).replaceAll(JSON.stringify(id), JSON.stringify(other)));
}

/** The answer without what differs between any two requests. */
function withoutRequest({ status, headers, text, body }: Answer): object {
  const { date: _date, 'x-request-id': requestId, ...rest } = headers;
  expect(body.requestId).toBe(requestId);
  return { status, rest, text: text.replace(body.requestId, '') };
}

function only(fixture: Fixture, ...names: (keyof Fixture)[]): Partial<Fixture> {
  return Object.fromEntries(names.map((name) => [name, fixture[name]]));
}
