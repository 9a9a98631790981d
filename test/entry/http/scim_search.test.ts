import { expect, test } from 'vitest';

import { getProvisioning } from '#modules/provisioning/operations/get_provisioning.ts';
import { identityProvider } from '#test/kit/identity_provider.ts';
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
  const found = await idp.ask('POST', '/Users/.search', asked);
  const query = new URLSearchParams({ filter, startIndex: '2', count: '1', attributes: 'userName,active' });
  expect(found.status).toBe(200);
  expect(found.body).toEqual((await idp.ask('GET', `/Users?${query.toString()}`)).body);
  expect(found.body).toMatchObject({ totalResults: 2, Resources: [{ userName: 'c@example.com' }] });
  const groups = await idp.ask('POST', '/Groups/.search', { schemas: [SEARCH], filter: 'displayName eq "SRE"' });
  expect(groups.body).toMatchObject({ totalResults: 1, Resources: [{ displayName: 'SRE' }] });
  expect((await idp.ask('POST', '/Users/.search', [])).status).toBe(400);
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
