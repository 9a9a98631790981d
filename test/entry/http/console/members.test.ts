import { expect, test } from 'vitest';

import { PERMISSIONS } from '#kernel/permissions.ts';
import { PERSON_COLORS } from '#modules/schedules/decide/person_color.ts';
import { storesOf } from '#modules/stores.ts';
import { givenPerson, givePassword, signedIn } from '#test/kit/programs/browser.ts';
import { staffedWorld } from '#test/kit/staffed_world.ts';
import { world } from '#test/kit/world.ts';
import { sweepDue } from '#workers/pager_role.ts';

async function twoOwners() {
  const w = await world();
  await givePassword(w, w.owner.userId);
  const second = await givenPerson(w, { role: 'owner', name: 'Otto' });
  return {
    w,
    olga: { ...w.owner, browser: await signedIn(w, w.owner.email) },
    otto: { ...second, browser: await signedIn(w, second.email) },
    owners: async () =>
      (await w.context.db.sql.row<{ n: number }>(`select count(*)::int as n from memberships where role = 'owner'`))!.n,
  };
}

test('when two owners leave at the same time, one stays', async () => {
  const { w, olga, otto, owners } = await twoOwners();
  const answers = await Promise.all([
    olga.browser.post(`/organizations/${w.orgId}/actions/remove_member`, { userId: olga.userId }),
    otto.browser.post(`/organizations/${w.orgId}/actions/remove_member`, { userId: otto.userId }),
  ]);
  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409]);
  expect(await owners()).toBe(1);
});

test('when two owners lower each other at the same moment, one succeeds', async () => {
  const { w, olga, otto, owners } = await twoOwners();
  const answers = await Promise.all([
    olga.browser.invoke(w.orgId, 'change_role', { userId: otto.userId, role: 'viewer' }),
    otto.browser.invoke(w.orgId, 'change_role', { userId: olga.userId, role: 'viewer' }),
  ]);
  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 403]);
  expect(await owners()).toBe(1);
});

test('the last owner can neither leave nor change to a lower role', async () => {
  const w = await world();
  await givePassword(w, w.owner.userId);
  const browser = await signedIn(w, w.owner.email);
  const change = (role: string) => browser.invoke(w.orgId, 'change_role', { userId: w.owner.userId, role });
  expect(
    (await browser.post(`/organizations/${w.orgId}/actions/remove_member`, { userId: w.owner.userId })).status,
  ).toBe(409);
  expect((await change('admin')).status).toBe(409);
  expect((await change('owner')).status).toBe(200);
});

test('only an owner can make or remove owners', async () => {
  const { w, olga } = await twoOwners();
  const admin = await givenPerson(w, { role: 'admin', name: 'Ada' });
  const browser = await signedIn(w, admin.email);
  const viewer = await givenPerson(w, { role: 'viewer', name: 'Vera' });
  expect((await browser.invoke(w.orgId, 'change_role', { userId: viewer.userId, role: 'owner' })).status).toBe(403);
  expect((await browser.invoke(w.orgId, 'change_role', { userId: olga.userId, role: 'admin' })).status).toBe(403);
  expect((await browser.post(`/organizations/${w.orgId}/actions/remove_member`, { userId: olga.userId })).status).toBe(
    403,
  );
  expect((await browser.invoke(w.orgId, 'change_role', { userId: viewer.userId, role: 'editor' })).status).toBe(200);
  expect((await olga.browser.invoke(w.orgId, 'change_role', { userId: viewer.userId, role: 'owner' })).status).toBe(
    200,
  );
});

test('whoever gives a member a role learns who has given another one since they read it', async () => {
  const { w, olga, otto } = await twoOwners();
  const eva = await givenPerson(w, { role: 'editor', name: 'Eva' });
  const give = (owner: Pick<typeof olga, 'browser'>, role: string, basedOn: string) =>
    owner.browser.invoke(w.orgId, 'change_role', { userId: eva.userId, role, basedOn });
  expect((await give(otto, 'viewer', 'editor')).status).toBe(200);
  const refused = await give(olga, 'responder', 'editor');
  expect([refused.status, refused.body.detail]).toEqual([
    409,
    'Otto has made this member viewer since you opened this',
  ]);
  expect((await give(olga, 'viewer', 'editor')).status).toBe(200);
  expect((await give(olga, 'responder', 'viewer')).status).toBe(200);
  await w.context.db.sql.run(`update memberships set role = 'admin' where user_id = $1`, [eva.userId]);
  const detail = 'somebody has made this member admin since you opened this';
  expect((await give(olga, 'viewer', 'responder')).body.detail).toBe(detail);
});

test('a lowered role and a removal count from the very next request on, for sessions and keys', async () => {
  const { w, olga } = await twoOwners();
  const editor = await givenPerson(w, { role: 'editor', name: 'Eva' });
  const browser = await signedIn(w, editor.email);
  const invoke = (action: string, body: object) => browser.post(`/organizations/${w.orgId}/actions/${action}`, body);
  const made = await browser.invoke(w.orgId, 'create_api_key', {
    name: 'laptop',
    kind: 'user',
    permissions: null,
    expiresAt: null,
  });
  const key = made.body.result.secret as string;
  expect((await invoke('create_service', { name: 'checkout' })).status).toBe(200);

  await olga.browser.invoke(w.orgId, 'change_role', { userId: editor.userId, role: 'viewer' });
  expect((await invoke('create_service', { name: 'checkout' })).status).toBe(403);
  expect((await w.call('create_service', { name: 'x' }, { key })).status).toBe(403);
  expect((await browser.get('/session')).body.result.organizations[0].permissions).toHaveLength(
    PERMISSIONS.filter((permission) => permission.endsWith(':view')).length,
  );

  await olga.browser.post(`/organizations/${w.orgId}/actions/remove_member`, { userId: editor.userId });
  expect((await invoke('list_services', {})).status).toBe(404);
  expect((await w.call('list_services', {}, { key })).status).toBe(401);
  expect((await browser.get('/session')).body.result.organizations).toEqual([]);
  // Who comes back does not come back with the keys of then.
  await givenBack(w, editor.userId);
  expect((await invoke('list_services', {})).status).toBe(200);
  expect((await w.call('list_services', {}, { key })).status).toBe(401);
});

async function givenBack(w: Awaited<ReturnType<typeof world>>, userId: string): Promise<void> {
  await w.context.db.sql.run(`insert into memberships values ($1, $2, 'viewer', $3)`, [
    w.orgId,
    userId,
    w.clock.now().toString(),
  ]);
}

test('members are listed with their teams and with what keeps pages from them', async () => {
  const { w, olga } = await twoOwners();
  const { userId } = await w.given.user({ name: 'Anna' });
  const { teamId } = await w.expectOk('create_team', { name: 'Platform' });
  await w.expectOk('add_team_member', { teamId, userId });
  const listed = (await olga.browser.invoke(w.orgId, 'list_members')).body.result.members;
  expect(listed.map(({ name }: { name: string }) => name)).toEqual(['Anna', 'Olga', 'Otto']);
  expect(listed[0]).toMatchObject({ userId, role: 'responder', teams: [{ teamId, name: 'Platform' }] });
  expect(listed[0].warnings).toEqual([expect.stringContaining('Nothing reaches Anna in Platform')]);
  expect(listed[1].warnings).toEqual([expect.stringContaining('Nothing reaches Olga')]);
});

test('the first twelve members have twelve colours, also when they join at once, and a newcomer has one that is free', async () => {
  const w = await world();
  await givePassword(w, w.owner.userId);
  const browser = await signedIn(w, w.owner.email);
  const colors = async () => {
    const { members } = (await browser.invoke(w.orgId, 'list_members')).body.result;
    return new Map<string, number>(
      members.map((member: { userId: string; color: number }) => [member.userId, member.color]),
    );
  };
  const joined = await Promise.all(Array.from({ length: 11 }, (_, index) => w.given.user({ name: `Person ${index}` })));
  const before = await colors();
  expect([...before.values()].toSorted((a, b) => a - b)).toEqual(PERSON_COLORS.map((_, index) => index));

  const gone = joined[4]!.userId;
  await browser.post(`/organizations/${w.orgId}/actions/remove_member`, { userId: gone });
  const [next, second] = [await w.given.user({ name: 'Next' }), await w.given.user({ name: 'Second' })];
  await browser.invoke(w.orgId, 'change_role', { userId: next.userId, role: 'viewer' });
  const after = await colors();
  expect(after.get(next.userId)).toBe(before.get(gone));
  expect(PERSON_COLORS[after.get(second.userId)!]).toBeDefined();
  for (const { userId } of joined.filter((person) => person.userId !== gone)) {
    expect(after.get(userId)).toBe(before.get(userId));
  }
});

test('a removed member is no longer on call and no longer paged, not even by messages in the queue', async () => {
  const w = await staffedWorld();
  await givePassword(w, w.owner.userId);
  const browser = await signedIn(w, w.owner.email);
  const [teamId, anna, bram] = await w.staff.teamOf('Anna', 'Bram');
  await w.expectOk('create_schedule', {
    teamId,
    name: 'Nights',
    timezone: 'Europe/Amsterdam',
    rotationType: 'weekly',
    rotationConfig: { userIds: [anna.userId, bram.userId] },
  });
  const alert = await w.staff.alert(teamId, [
    { afterMinutes: 0, channels: ['sms'], targetUserIds: [anna.userId] },
    { afterMinutes: 5, channels: ['sms'], useSchedule: true, targetUserIds: [anna.userId] },
  ]);
  const onCall = async () =>
    (await w.expectOk('who_is_on_call', { teamId })).onCall.map(({ name }: { name: string }) => name);
  expect(await onCall()).toEqual(['Anna']);
  const incidentId = await alert.trigger();
  const queued = { kind: 'page', stepIndex: 0, channel: 'sms', status: 'queued', reason: null } as const;
  const page = { ...queued, orgId: w.orgId, incidentId, userId: anna.userId, address: anna.phone };
  await storesOf(w.context.db.session()).notifications.insert([page], w.clock.now());

  expect((await browser.post(`/organizations/${w.orgId}/actions/remove_member`, { userId: anna.userId })).status).toBe(
    200,
  );
  expect(await onCall()).toEqual(['Bram']);
  w.clock.advance({ minutes: 6 });
  for (let time = 0; time < 4; time += 1) await sweepDue(w.runtime, 0);
  await w.runUntilIdle();
  const log = (await w.expectOk('get_incident', { incidentId })).notifications;
  const outcomes = log.map(({ userId, status, reason }: Record<string, string>) => `${userId} ${status} ${reason}`);
  expect(new Set(outcomes)).toEqual(
    new Set([
      `${anna.userId} failed left_organization`,
      `${anna.userId} skipped left_organization`,
      `${bram.userId} delivered null`,
    ]),
  );
});

test('removing a member lists the keys of the organization that they made, and may revoke them in the same step', async () => {
  const { w, olga } = await twoOwners();
  const ada = await givenPerson(w, { role: 'admin', name: 'Ada' });
  const browser = await signedIn(w, ada.email);
  const org = `/organizations/${w.orgId}`;
  const wanted = { kind: 'organization', permissions: null, expiresAt: null };
  const [one, two] = [
    (await browser.invoke(w.orgId, 'create_api_key', { name: 'one', ...wanted })).body.result,
    (await browser.invoke(w.orgId, 'create_api_key', { name: 'two', ...wanted })).body.result,
  ];
  const { apiKeys } = (await olga.browser.invoke(w.orgId, 'list_api_keys')).body.result;
  const made = apiKeys.filter((key: { createdBy: { userId: string } | null }) => key.createdBy?.userId === ada.userId);
  expect(made.map(({ name, createdBy }: { name: string; createdBy: object }) => [name, createdBy])).toEqual([
    ['two', { userId: ada.userId, name: 'Ada' }],
    ['one', { userId: ada.userId, name: 'Ada' }],
  ]);
  const remove = (who: typeof browser, revokeApiKeyIds: string[]) =>
    who.post(`${org}/actions/remove_member`, { userId: ada.userId, revokeApiKeyIds });
  const vera = await givenPerson(w, { role: 'viewer', name: 'Vera' });
  expect((await remove(await signedIn(w, vera.email), [one.apiKeyId])).status).toBe(403);
  const unknown = await remove(olga.browser, [one.apiKeyId, 'apikey_x']);
  expect(unknown).toMatchObject({ status: 404, body: { errors: [{ path: 'revokeApiKeyIds[1]' }] } });
  expect((await w.call('list_services', {}, { key: one.secret })).status).toBe(200);
  expect((await remove(olga.browser, [one.apiKeyId])).status).toBe(200);
  expect((await w.call('list_services', {}, { key: one.secret })).status).toBe(401);
  expect((await w.call('list_services', {}, { key: two.secret })).status).toBe(200);
});
