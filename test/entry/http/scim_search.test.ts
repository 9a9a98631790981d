import { expect, test } from 'vitest';

import { getProvisioning } from '#modules/provisioning/operations/provisioning.ts';
import { identityProvider, PATCH_SCHEMA } from '#test/kit/identity_provider.ts';
import { memberCaller, runOperation } from '#test/kit/run_operation.ts';
import { world } from '#test/kit/world.ts';

const SEARCH = 'urn:ietf:params:scim:api:messages:2.0:SearchRequest';

test('a search by POST answers as the same query by GET', async () => {
  const w = await world();
  const idp = await identityProvider(w);
  for (const name of ['a', 'b', 'c']) await idp.user(`${name}@example.com`);
  await idp.group('SRE');
  const filter = 'userName sw "b" or userName sw "c"';
  const asked = { schemas: [SEARCH], filter, startIndex: 2, count: 1, attributes: ['userName', 'active'] };
  const answer = await idp.ask('POST', '/Users/.search', asked);
  const query = new URLSearchParams({ filter, startIndex: '2', count: '1', attributes: 'userName,active' });
  expect(answer.status).toBe(200);
  expect(answer.body).toEqual((await idp.ask('GET', `/Users?${query.toString()}`)).body);
  expect(answer.body).toMatchObject({ totalResults: 2, Resources: [{ userName: 'c@example.com' }] });
  const groups = await idp.ask('POST', '/Groups/.search', { schemas: [SEARCH], filter: 'displayName eq "SRE"' });
  expect(groups.body).toMatchObject({ totalResults: 1, Resources: [{ displayName: 'SRE' }] });
  expect((await idp.ask('POST', '/Users/.search', [])).status).toBe(400);
});

test('lists are sorted as asked, and what cannot be sorted by is refused with what can', async () => {
  const w = await world();
  const idp = await identityProvider(w);
  for (const name of ['b', 'C', 'a']) await idp.user(`${name}@example.com`, { displayName: `${name}-name` });
  for (const name of ['Ops', 'dev']) {
    w.clock.advance({ minutes: 1 });
    await idp.group(name);
  }
  const names = async (path: string, attribute: string) => {
    const { body } = await idp.ask('GET', path);
    return body.Resources.map((resource: Record<string, unknown>) => resource[attribute]);
  };
  const byName = 'filter=displayName+ew+"-name"&sortBy=userName';
  expect(await names(`/Users?${byName}`, 'userName')).toEqual(['a@example.com', 'b@example.com', 'C@example.com']);
  expect(await names(`/Users?${byName}&sortOrder=descending&startIndex=2&count=1`, 'userName')).toEqual([
    'b@example.com',
  ]);
  expect(await names('/Groups?sortBy=displayName', 'displayName')).toEqual(['dev', 'Ops']);
  expect(await names('/Groups?sortBy=meta.created&sortOrder=descending', 'displayName')).toEqual(['dev', 'Ops']);
  const refused = await idp.ask('GET', '/Users?sortBy=shoeSize');
  expect(refused).toMatchObject({ status: 400, body: { scimType: 'invalidValue' } });
  expect(refused.body.detail).toContain('displayname');
});

test('a search over both kinds pages through users and then groups', async () => {
  const w = await world();
  const idp = await identityProvider(w);
  for (const name of ['a', 'b']) await idp.user(`${name}@example.com`, { displayName: `x-${name}` });
  for (const name of ['x-dev', 'x-ops']) await idp.group(name);
  const search = async (asked: object) => {
    const { status, body } = await idp.ask('POST', '/.search', { schemas: [SEARCH], ...asked });
    const resources = (body.Resources ?? []) as { displayName: string }[];
    return { status, total: body.totalResults as number, names: resources.map(({ displayName }) => displayName) };
  };
  const filter = 'displayName sw "x-"';
  const both = { status: 200, total: 4 };
  expect(await search({ filter })).toEqual({ ...both, names: ['x-a', 'x-b', 'x-dev', 'x-ops'] });
  expect(await search({ filter, startIndex: 2, count: 2 })).toEqual({ ...both, names: ['x-b', 'x-dev'] });
  expect(await search({ filter, startIndex: 4 })).toEqual({ ...both, names: ['x-ops'] });
  expect(await search({ filter: 'userName eq "a@example.com"' })).toEqual({ status: 200, total: 1, names: ['x-a'] });
  expect(await search({ filter: 'meta.resourceType eq "Group"' })).toMatchObject({ total: 2 });
  expect(await search({ filter: 'shoeSize eq "9"' })).toMatchObject({ status: 400 });
});

test('names that were removed are gone, and members carry the address of what they are', async () => {
  const w = await world();
  const idp = await identityProvider(w);
  const userId = await idp.user('anna@example.com', { displayName: 'Anna Berg', name: { givenName: 'Anna' } });
  const groupId = await idp.group('SRE', [userId]);
  await idp.patch(`/Users/${userId}`, [
    { op: 'remove', path: 'displayName' },
    { op: 'remove', path: 'name' },
  ]);
  const { body: user } = await idp.ask('GET', `/Users/${userId}`);
  expect([user.displayName, user.name]).toEqual([undefined, undefined]);
  expect(user.groups[0].$ref).toBe(`http://tocsin.test/scim/v2/Groups/${groupId}`);
  const { body: group } = await idp.ask('GET', `/Groups/${groupId}`);
  expect(group.members).toMatchObject([{ value: userId, $ref: user.meta.location }]);
});

test('a person who is deactivated is shown as named by an override that is to come, and not by one that is over', async () => {
  const w = await world();
  const idp = await identityProvider(w);
  const anna = await w.given.user({ role: 'responder', name: 'Anna' });
  const bram = await w.given.user({ role: 'responder', name: 'Bram' });
  await idp.patch(`/Users/${anna.userId}`, [{ op: 'replace', path: 'displayName', value: 'Anna' }]);
  const { teamId } = await w.expectOk('create_team', { name: 'Payments' });
  const rotationConfig = { userIds: [bram.userId] };
  const { scheduleId } = await w.expectOk('create_schedule', {
    teamId,
    name: 'Primary',
    timezone: 'UTC',
    rotationConfig,
  });
  const at = (hours: number) => w.clock.now().add({ hours }).toString().slice(0, 'YYYY-MM-DDTHH:MM'.length);
  const window = { startAt: at(1), endAt: at(3) };
  await w.expectOk('create_schedule_override', { scheduleId, userId: anna.userId, ...window });
  await idp.patch(`/Users/${anna.userId}`, [{ op: 'replace', path: 'active', value: false }]);
  const owner = memberCaller(w.orgId, w.owner.userId, 'owner');
  const stillNamed = async () => (await runOperation(w, getProvisioning, owner, {})).stillNamed;
  expect(await stillNamed()).toEqual([{ userId: anna.userId, name: 'Anna', scheduleId, scheduleName: 'Primary' }]);
  w.clock.advance({ hours: 4 });
  expect(await stillNamed()).toEqual([]);
});

test('the provider of another organization finds, names and changes nobody', async () => {
  const w = await world();
  const idp = await identityProvider(w);
  const userId = await idp.user('anna@example.com', { externalId: 'x1' });
  const groupId = await idp.group('Payments', [userId]);
  const stranger = await identityProvider(await w.forOrganization());
  const group = await stranger.group('Own');
  const before = [(await idp.ask('GET', `/Users/${userId}`)).body, (await idp.ask('GET', `/Groups/${groupId}`)).body];
  const change = { schemas: [PATCH_SCHEMA], Operations: [{ op: 'replace', path: 'active', value: false }] };
  const rename = { schemas: [PATCH_SCHEMA], Operations: [{ op: 'replace', path: 'displayName', value: 'Evil' }] };
  const asked = [
    await stranger.ask('GET', `/Users/${userId}`),
    await stranger.ask('PATCH', `/Users/${userId}`, change),
    await stranger.ask('PUT', `/Users/${userId}`, { userName: 'evil@example.com' }),
    await stranger.ask('DELETE', `/Users/${userId}`),
    await stranger.ask('GET', `/Groups/${groupId}`),
    await stranger.ask('PATCH', `/Groups/${groupId}`, rename),
    await stranger.ask('PUT', `/Groups/${groupId}`, { displayName: 'Evil' }),
    await stranger.ask('DELETE', `/Groups/${groupId}`),
  ];
  expect(asked.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 404));
  const members = await stranger.patch(`/Groups/${group}`, [
    { op: 'add', path: 'members', value: [{ value: userId }] },
  ]);
  expect(members).toMatchObject({ status: 400, body: { scimType: 'invalidValue' } });
  for (const filter of [`id eq "${userId}"`, 'externalId eq "x1"', 'userName eq "anna@example.com"']) {
    const answer = await stranger.ask('GET', `/Users?filter=${encodeURIComponent(filter)}`);
    expect(answer.body.totalResults, filter).toBe(0);
  }
  const after = [(await idp.ask('GET', `/Users/${userId}`)).body, (await idp.ask('GET', `/Groups/${groupId}`)).body];
  expect(after).toEqual(before);
});
