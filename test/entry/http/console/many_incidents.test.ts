import { expect, test } from 'vitest';

import { givenPerson, signedIn } from '#test/kit/programs/browser.ts';
import { givenIncidents } from '#test/kit/many_incidents.ts';
import { fileWorld } from '#test/kit/world.ts';

const DAY = 24 * 60;

const w = await fileWorld();
const { email } = await givenPerson(w, { role: 'viewer' });
const browser = await signedIn(w, email);
const { serviceId } = await w.given.service({ name: 'checkout', capabilities: [] });
await w.expectOk('set_retention', { serviceId, capability: 'oncall', retentionDays: 30 });
const resolved = await givenIncidents(w, serviceId, { count: 1_100 });
const triggered = await givenIncidents(w, serviceId, { count: 3, status: 'triggered', minutesAgo: 10 * DAY });
const acknowledged = await givenIncidents(w, serviceId, { count: 9, status: 'acknowledged', minutesAgo: 20 * DAY });
const outdated = await givenIncidents(w, serviceId, { count: 2, minutesAgo: 40 * DAY });

const post = async (operation: string, body: object) => {
  const answer = await browser.post(`/organizations/${w.orgId}/actions/${operation}`, body);
  expect(answer, JSON.stringify(answer.body)).toMatchObject({ status: 200 });
  return answer.body.result;
};

/** The ids of all pages, one after another. */
async function pagesOf(filter: object, limit = 200): Promise<string[]> {
  const ids: string[] = [];
  for (let cursor: string | null = null; ;) {
    const page: { incidents: { incidentId: string }[]; nextCursor: string | null } = await post('search_incidents', {
      ...filter,
      limit,
      ...(cursor !== null && { cursor }),
    });
    ids.push(...page.incidents.map(({ incidentId }) => incidentId));
    if (page.nextCursor === null) return ids;
    cursor = page.nextCursor;
  }
}

test('every incident is on one page, those that wait first, however many newer ones are resolved', async () => {
  expect(await pagesOf({})).toEqual([...triggered, ...acknowledged, ...resolved]);
  expect(await pagesOf({ status: 'open' }, 5)).toEqual([...triggered, ...acknowledged]);
  expect(await pagesOf({ status: 'acknowledged' }, 4)).toEqual(acknowledged);
  expect(await pagesOf({ isMine: true, status: 'open' })).toEqual(triggered);
  expect(await pagesOf({ incidentIds: [acknowledged[0], resolved[5], outdated[0]] })).toEqual([
    acknowledged[0],
    resolved[5],
  ]);
});

test('incidents are counted by the server, and none that is too old to be kept', async () => {
  expect(await post('count_incidents', {})).toEqual({ triggered: 3, acknowledged: 9, resolved: 1_100 });
  expect(await post('count_incidents', { severity: 'fatal' })).toEqual({ triggered: 0, acknowledged: 0, resolved: 0 });
});

test('a search looks in the title, the number and the name of the service', async () => {
  const other = await w.given.service({ name: '100% of_search', capabilities: [] });
  const [found] = await givenIncidents(w, other.serviceId, { count: 1, title: 'Slow', severity: 'fatal' });
  for (const filter of [{ text: 'slow 1' }, { text: '% OF_' }, { severity: 'fatal' }, { serviceId: other.serviceId }]) {
    expect(await pagesOf(filter), JSON.stringify(filter)).toEqual([found]);
    expect(await post('count_incidents', filter)).toMatchObject({ triggered: 0, resolved: 1 });
  }
  const { incidents } = await post('search_incidents', { text: 'slow' });
  const answered = { answeredByName: 'Olga', answeredByColor: expect.any(Number) };
  expect(incidents).toMatchObject([{ serviceName: '100% of_search', ...answered, reached: null }]);
  expect((await pagesOf({ text: `#${incidents[0].number}` }))[0]).toBe(found);
  await w.expectOk('delete_service', { serviceId: other.serviceId });
  expect(await pagesOf({ text: 'slow' })).toEqual([]);
});

test('services are found by name, and those with open incidents say how many', async () => {
  const [a, b, c] = [
    await w.given.service({ name: 'zebra', capabilities: [] }),
    await w.given.service({ name: 'Antelope', capabilities: [] }),
    await w.given.service({ name: 'buffalo', capabilities: [] }),
  ];
  const names: string[] = [];
  for (let cursor: string | null = null; ;) {
    const page: { services: { name: string }[]; nextCursor: string | null } = await post('search_services', {
      limit: 1,
      ...(cursor !== null && { cursor }),
    });
    names.push(...page.services.map(({ name }) => name));
    cursor = page.nextCursor;
    if (cursor === null) break;
  }
  expect(names).toEqual(['Antelope', 'buffalo', 'checkout', 'zebra']);
  expect((await post('search_services', { text: 'ANT' })).services).toMatchObject([{ serviceId: b.serviceId }]);
  const { services } = await post('search_services', { serviceIds: [a.serviceId, c.serviceId, 'service_x'] });
  expect(services).toMatchObject([{ name: 'buffalo' }, { name: 'zebra' }]);
  expect(await post('count_incidents_by_service', {})).toEqual({
    services: [{ serviceId, triggered: 3, acknowledged: 9 }],
  });
  const faulty = await browser.post(`/organizations/${w.orgId}/actions/search_services`, { cursor: 'x' });
  expect(faulty).toMatchObject({ status: 400, body: { errors: [{ path: 'cursor' }] } });
});

test('a malformed cursor is refused', async () => {
  for (const cursor of ['', 'x', 'open.1.incident_01kdwm4a1b2c3d4e5f6g7h8j9k', `resolved.1e9.${resolved[0]}`]) {
    const answer = await browser.post(`/organizations/${w.orgId}/actions/search_incidents`, { cursor });
    expect(answer).toMatchObject({ status: 400, body: { errors: [{ path: 'cursor' }] } });
  }
});

test('the action that is cut says what it left out, and its status reaches it', async () => {
  const all = await w.expectOk('list_incidents');
  expect(all.incidents).toHaveLength(1_000);
  expect(all).toMatchObject({ total: 1_112, counts: { triggered: 3, acknowledged: 9, resolved: 1_100 } });
  const { incidents, total, counts } = await w.expectOk('list_incidents', { status: 'acknowledged' });
  expect(incidents.map(({ incidentId }: { incidentId: string }) => incidentId)).toEqual(acknowledged);
  expect({ total, counts }).toEqual({ total: 9, counts: all.counts });
});
