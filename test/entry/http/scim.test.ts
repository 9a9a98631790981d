import { expect, test } from 'vitest';

import { GROUP_SCHEMA, identityProvider, USER_SCHEMA } from '#test/kit/identity_provider.ts';
import { givenPerson, givePassword, signedIn } from '#test/kit/programs/browser.ts';
import { storesOf } from '#modules/stores.ts';
import { startMailServer } from '#test/kit/programs/mail_server.ts';
import { staffedWorld } from '#test/kit/staffed_world.ts';
import { type World, world } from '#test/kit/world.ts';

async function provisioned() {
  const w = await world();
  return { w, idp: await identityProvider(w) };
}

const roleOf = async (w: World, userId: string) =>
  (
    await w.context.db.sql.row<{ role: string }>('select role from memberships where org_id = $1 and user_id = $2', [
      w.orgId,
      userId,
    ])
  )?.role;

async function mailedWorld() {
  const post = await startMailServer();
  const w = await staffedWorld({ settings: { smtpUrl: post.url, mailFrom: 'Tocsin <tocsin@example.com>' } });
  return { post, w };
}

test('only the token of an organization opens it, and only until it is revoked', async () => {
  const { w, idp } = await provisioned();
  const ask = (authorization?: string) =>
    w.app.inject({ url: '/scim/v2/Users', headers: authorization === undefined ? {} : { authorization } });
  const refusals = [await ask(), await ask(`Bearer ${w.orgKey}`), await ask(`Bearer ${idp.token}x`)];
  expect(refusals.map(({ statusCode }) => statusCode)).toEqual([401, 401, 401]);
  expect(refusals[0]!.headers['content-type']).toContain('application/scim+json');
  expect(refusals[0]!.json()).toMatchObject({
    schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'],
    status: '401',
  });
  expect((await w.call('list_services', {}, { key: idp.token })).status).toBe(401);
  const other = await w.forOrganization();
  const otherIdp = await identityProvider(other);
  const userId = await idp.user('anna@example.com');
  expect((await otherIdp.ask('GET', `/Users/${userId}`)).status).toBe(404);
  const next = await identityProvider(w);
  expect((await idp.ask('GET', '/Users')).status).toBe(401);
  expect((await next.ask('GET', '/Users')).status).toBe(200);
});

test('what is supported is said', async () => {
  const { idp } = await provisioned();
  const { body } = await idp.ask('GET', '/ServiceProviderConfig');
  expect(body).toMatchObject({ patch: { supported: true }, filter: { supported: true }, bulk: { supported: false } });
  expect((await idp.ask('GET', '/ResourceTypes')).body.Resources.map(({ id }: { id: string }) => id)).toEqual([
    'User',
    'Group',
  ]);
  expect((await idp.ask('GET', `/Schemas/${USER_SCHEMA}`)).body.id).toBe(USER_SCHEMA);
  expect((await idp.ask('GET', '/Bulk')).body).toMatchObject({ status: '404' });
  const { headers } = await idp.ask('GET', '/Users');
  expect(headers['content-type']).toContain('application/scim+json');
});

test('Okta makes, finds, changes and deactivates a person', async () => {
  const { w, idp } = await provisioned();
  const filter = encodeURIComponent('userName eq "Anna@Example.com"');
  expect((await idp.ask('GET', `/Users?filter=${filter}&startIndex=1&count=100`)).body).toMatchObject({
    totalResults: 0,
    Resources: [],
  });
  const made = await idp.ask('POST', '/Users', {
    schemas: [USER_SCHEMA],
    userName: 'anna@example.com',
    name: { givenName: 'Anna', familyName: 'Berg' },
    emails: [{ primary: true, value: 'anna@example.com', type: 'work' }],
    displayName: 'Anna Berg',
    locale: 'en-US',
    externalId: '00ujl29u0le5T6Aj10h7',
    groups: [],
    password: '1mz050nq',
    active: true,
  });
  expect(made.status).toBe(201);
  const { id } = made.body;
  expect(made.headers['location']).toBe(`http://tocsin.test/scim/v2/Users/${id}`);
  expect(made.body).toMatchObject({
    userName: 'anna@example.com',
    active: true,
    externalId: '00ujl29u0le5T6Aj10h7',
    name: { givenName: 'Anna', familyName: 'Berg' },
    meta: { resourceType: 'User', version: made.headers['etag'] },
  });
  expect(await roleOf(w, id)).toBe('viewer');
  expect((await idp.ask('GET', `/Users?filter=${filter}`)).body.Resources[0].id).toBe(id);
  const user = await storesOf(w.context.db.session()).people.findUser(id);
  expect([user?.passwordHash, user?.addressProvenAt, user?.name]).toEqual([null, null, 'Anna Berg']);

  const again = await idp.ask('POST', '/Users', { schemas: [USER_SCHEMA], userName: 'ANNA@example.com' });
  expect([again.status, again.body.scimType]).toEqual([409, 'uniqueness']);

  const put = await idp.ask('PUT', `/Users/${id}`, {
    schemas: [USER_SCHEMA],
    id,
    userName: 'anna@example.com',
    name: { givenName: 'Anna', familyName: 'Zorn' },
    displayName: 'Anna Zorn',
    emails: [{ primary: true, value: 'anna.zorn@example.com', type: 'work' }],
    active: true,
  });
  expect([put.status, put.body.displayName, put.body.emails[0].value]).toEqual([
    200,
    'Anna Zorn',
    'anna.zorn@example.com',
  ]);
  const off = await idp.patch(`/Users/${id}`, [{ op: 'replace', value: { active: false } }]);
  expect([off.status, off.body.active]).toEqual([200, false]);
  expect(await roleOf(w, id)).toBeUndefined();
  const actions = await w.context.db.sql.rows<{
    action: string;
    actor: { kind: string; apiKeyName: string };
    via: string;
  }>(`select action, actor, via from audit_log where org_id = $1 and via = 'scim' order by at, id`, [w.orgId]);
  expect(actions.map(({ action }) => action)).toEqual([
    'provision_user',
    'update_provisioned_user',
    'deactivate_member',
  ]);
  expect(actions[0]!.actor).toMatchObject({ kind: 'api_key', apiKeyName: 'SCIM provisioning' });
});

test('a person who is deactivated is out at once everywhere, and comes back as they were, without their keys', async () => {
  const { w, post } = await mailedWorld();
  const idp = await identityProvider(w);
  const anna = await givenPerson(w, { role: 'responder', name: 'Anna' });
  const browser = await signedIn(w, anna.email);
  const { teamId } = await w.expectOk('create_team', { name: 'Payments' });
  await w.expectOk('add_team_member', { teamId, userId: anna.userId, phone: '+31612345678', smsEnabled: false });
  const { scheduleId } = await w.expectOk('create_schedule', {
    teamId,
    name: 'Primary',
    timezone: 'UTC',
    rotationType: 'weekly',
    rotationConfig: { userIds: [anna.userId] },
    startAt: w.clock.now().toString(),
  });
  const made = await browser.invoke(w.orgId, 'create_api_key', {
    name: 'laptop',
    kind: 'user',
    permissions: null,
    expiresAt: null,
  });
  const key = made.body.result.secret as string;
  const list = () => browser.post(`/organizations/${w.orgId}/actions/list_services`, {});
  expect([(await list()).status, (await w.call('list_services', {}, { key })).status]).toEqual([200, 200]);

  const answer = await idp.ask('GET', `/Users?filter=${encodeURIComponent(`userName eq "${anna.email}"`)}`);
  expect(answer.body.Resources[0]).toMatchObject({ id: anna.userId, active: true });
  await idp.patch(`/Users/${anna.userId}`, [{ op: 'Replace', path: 'active', value: 'False' }]);
  expect([(await list()).status, (await w.call('list_services', {}, { key })).status]).toEqual([401, 401]);
  expect((await w.expectOk('who_is_on_call', { teamId })).onCall ?? []).toEqual([]);
  // The schedule still names the person, and its team is told that nobody is on call.
  const schedules = await w.context.db.sql.row<{ config: string }>(
    'select rotation_config::text as config from schedules',
  );
  expect(schedules?.config).toContain(anna.userId);
  const owner = await signedInOwner(w);
  const team = async () => (await owner.invoke(w.orgId, 'get_team', { teamId })).body.result;
  const { warnings } = await team();
  expect(warnings).toMatchObject([{ kind: 'schedule_gap', scheduleId }]);
  const provisioning = await owner.invoke(w.orgId, 'get_provisioning');
  expect(provisioning.body.result.stillNamed).toEqual([
    { userId: anna.userId, name: 'Anna', scheduleId, scheduleName: 'Primary' },
  ]);
  await w.runUntilIdle();
  expect(post.mails.map(({ recipients }) => recipients)).toEqual([[w.owner.email]]);
  const text = post.mails[0]!.text;
  expect(text).toContain('Anna was deactivated');
  expect(text).toMatch(/\/oncall\?org=org_\w+/);
  expect(text).toContain('Primary: the next shift would begin');
  expect(text).toContain('nobody is on call from');

  await idp.patch(`/Users/${anna.userId}`, [{ op: 'Replace', path: 'active', value: 'True' }]);
  expect(await roleOf(w, anna.userId)).toBe('responder');
  const back = await team();
  expect(back.members).toMatchObject([{ userId: anna.userId, phone: '+31612345678', smsEnabled: false }]);
  expect(back.warnings.map(({ kind }: { kind: string }) => kind)).not.toContain('schedule_gap');
  expect((await w.call('list_services', {}, { key })).status).toBe(401);

  // A role that may not answer is told, too, since the schedule goes on paging the person.
  const groupId = await idp.group('Guests', [anna.userId]);
  await owner.invoke(w.orgId, 'map_provisioned_group', { groupId, teamId: null, role: 'viewer' });
  await w.runUntilIdle();
  expect(await roleOf(w, anna.userId)).toBe('viewer');
  const lowered = post.mails.slice(1);
  expect(lowered.map(({ recipients }) => recipients)).toEqual([[w.owner.email], [anna.email]]);
  expect(lowered[0]!.text).toContain('Anna became viewer and may not answer pages');
  expect(lowered[0]!.text).toContain('Primary');

  // A person who comes back with such a role is noticed, too.
  await idp.patch(`/Users/${anna.userId}`, [{ op: 'Replace', path: 'active', value: 'False' }]);
  await w.runUntilIdle();
  const before = post.mails.length;
  await idp.patch(`/Users/${anna.userId}`, [{ op: 'Replace', path: 'active', value: 'True' }]);
  await w.runUntilIdle();
  expect(post.mails.slice(before)[0]?.text).toContain('Anna became viewer and may not answer pages');
});

test('whom only a policy pages is told of, too, once a group lowers the role', async () => {
  const { w, post } = await mailedWorld();
  const idp = await identityProvider(w);
  const { teamId } = await w.expectOk('create_team', { name: 'Payments' });
  const anna = await w.given.user({ name: 'Anna', role: 'responder' });
  const steps = [{ afterMinutes: 0, channels: ['sms'], targetUserIds: [anna.userId], useSchedule: false }];
  await w.expectOk('create_escalation_policy', { teamId, name: 'Wake Anna', steps });
  const groupId = await idp.group('Guests', [anna.userId]);
  const owner = await signedInOwner(w);
  await owner.invoke(w.orgId, 'map_provisioned_group', { groupId, teamId: null, role: 'viewer' });
  await w.runUntilIdle();
  expect(post.mails.map(({ recipients }) => recipients)).toEqual([[w.owner.email]]);
  expect(post.mails[0]!.text).toContain('Wake Anna');
});

async function signedInOwner(w: World) {
  await givePassword(w, w.owner.userId);
  return await signedIn(w, w.owner.email);
}

test('the last owner can neither be deactivated nor deleted, and no group lowers an owner', async () => {
  const { w, idp } = await provisioned();
  const { userId } = w.owner;
  const off = await idp.patch(`/Users/${userId}`, [{ op: 'replace', path: 'active', value: false }]);
  expect([off.status, off.body.scimType]).toEqual([400, 'mutability']);
  expect(off.body.detail).toContain('last owner');
  expect((await idp.ask('DELETE', `/Users/${userId}`)).status).toBe(400);
  const groupId = await idp.group('Viewers', [userId]);
  const owner = await signedInOwner(w);
  await owner.invoke(w.orgId, 'map_provisioned_group', { groupId, teamId: null, role: 'viewer' });
  expect(await roleOf(w, userId)).toBe('owner');
});

test('an account that exists becomes a member as it is, and nothing of it is taken over', async () => {
  const { w, idp } = await provisioned();
  const other = await w.forOrganization('Other');
  const bram = await other.given.user({ name: 'Bram' });
  const made = await idp.ask('POST', '/Users', {
    schemas: [USER_SCHEMA],
    userName: bram.email,
    displayName: 'Mallory',
  });
  expect([made.status, made.body.id]).toEqual([201, bram.userId]);
  const change = await idp.patch(`/Users/${bram.userId}`, [
    { op: 'replace', path: 'emails[type eq "work"].value', value: 'mallory@example.com' },
  ]);
  expect([change.status, change.body.scimType]).toEqual([400, 'mutability']);
  await idp.patch(`/Users/${bram.userId}`, [{ op: 'replace', path: 'displayName', value: 'Mallory' }]);
  const user = await storesOf(w.context.db.session()).people.findUser(bram.userId);
  expect([user?.name, user?.email]).toEqual(['Bram', bram.email]);

  // An account that provisioning made is no longer the organization's once another one knows it.
  const carl = await idp.user('carl@example.com');
  const mail = (value: string) => idp.patch(`/Users/${carl}`, [{ op: 'replace', path: 'emails', value: [{ value }] }]);
  expect((await mail('carl2@example.com')).status).toBe(200);
  expect([(await mail(bram.email)).status, (await mail(bram.email)).body.scimType]).toEqual([409, 'uniqueness']);
  await (await identityProvider(other)).user('carl2@example.com');
  expect((await mail('carl3@example.com')).body.scimType).toBe('mutability');
  const name = await idp.patch(`/Users/${carl}`, [{ op: 'replace', path: 'userName', value: bram.email }]);
  expect(name.body.scimType).toBe('uniqueness');
});

test('a group changes nothing until an owner maps it, then teams and roles follow', async () => {
  const { w, idp } = await provisioned();
  const [anna, bram] = [await idp.user('anna@example.com'), await idp.user('bram@example.com')];
  const groupId = await idp.group('SRE', [anna]);
  expect(await roleOf(w, anna)).toBe('viewer');
  const { teamId } = await w.expectOk('create_team', { name: 'Payments' });
  const admin = await givenPerson(w, { role: 'admin', name: 'Ada' });
  const mapping = { groupId, teamId, role: 'responder' };
  const refused = await (await signedIn(w, admin.email)).invoke(w.orgId, 'map_provisioned_group', mapping);
  expect(refused.status).toBe(403);
  const owner = await signedInOwner(w);
  expect((await owner.invoke(w.orgId, 'map_provisioned_group', mapping)).status).toBe(200);
  const team = async () => (await owner.invoke(w.orgId, 'get_team', { teamId })).body.result;
  const members = async () => (await team()).members.map(({ userId }: { userId: string }) => userId);
  expect([await members(), await roleOf(w, anna)]).toEqual([[anna], 'responder']);

  // Members are added and removed in the form of Entra ID.
  const add = await idp.patch(`/Groups/${groupId}`, [{ op: 'Add', path: 'members', value: [{ value: bram }] }]);
  expect([add.status, add.body]).toEqual([204, null]);
  expect([await members(), await roleOf(w, bram)]).toEqual([[anna, bram], 'responder']);
  const { scheduleId } = await w.expectOk('create_schedule', {
    teamId,
    name: 'Primary',
    timezone: 'UTC',
    rotationType: 'weekly',
    rotationConfig: { userIds: [anna, bram] },
    startAt: w.clock.now().toString(),
  });
  const before = await team();
  await idp.patch(`/Groups/${groupId}`, [{ op: 'Remove', path: `members[value eq "${anna}"]` }]);
  expect([await members(), await roleOf(w, anna)]).toEqual([[bram], 'viewer']);
  const after = await team();
  expect(after.schedules).toEqual(before.schedules);
  expect(after.schedules.map((schedule: { scheduleId: string }) => schedule.scheduleId)).toEqual([scheduleId]);

  const group = await idp.ask('GET', `/Groups/${groupId}`);
  expect(group.body.members).toMatchObject([{ value: bram, display: 'bram@example.com' }]);
  expect((await idp.ask('GET', '/Groups?excludedAttributes=members')).body.Resources[0].members).toBeUndefined();
  const has = encodeURIComponent(`id eq "${groupId}" and members eq "${bram}"`);
  expect((await idp.ask('GET', `/Groups?filter=${has}`)).body.totalResults).toBe(1);
  expect((await idp.ask('GET', `/Users/${bram}`)).body.groups).toMatchObject([{ value: groupId, display: 'SRE' }]);
  const unknown = await idp.patch(`/Groups/${groupId}`, [
    { op: 'add', path: 'members', value: [{ value: w.owner.userId }, { value: 'user_unknown' }] },
  ]);
  expect([unknown.status, unknown.body.scimType, await members()]).toEqual([400, 'invalidValue', [bram]]);
  expect((await idp.ask('DELETE', `/Groups/${groupId}`)).status).toBe(204);
  expect([await members(), await roleOf(w, bram)]).toEqual([[], 'viewer']);
});

test('a version that has passed is refused, and one that is known is not sent again', async () => {
  const { idp } = await provisioned();
  const id = await idp.user('anna@example.com');
  const first = await idp.ask('GET', `/Users/${id}`);
  const etag = String(first.headers['etag']);
  expect((await idp.ask('GET', `/Users/${id}`, undefined, { 'if-none-match': etag })).status).toBe(304);
  const body = { schemas: [USER_SCHEMA], userName: 'anna@example.com', displayName: 'Anna' };
  expect((await idp.ask('PUT', `/Users/${id}`, body, { 'if-match': etag })).status).toBe(200);
  const late = await idp.ask('PUT', `/Users/${id}`, { ...body, displayName: 'Ann' }, { 'if-match': etag });
  expect([late.status, late.body.status]).toEqual([412, '412']);
  const groupId = await idp.group('SRE');
  const version = String((await idp.ask('GET', `/Groups/${groupId}`)).headers['etag']);
  const group = { schemas: [GROUP_SCHEMA], displayName: 'SRE 2' };
  expect((await idp.ask('PUT', `/Groups/${groupId}`, group, { 'if-match': version })).status).toBe(200);
  expect((await idp.ask('PUT', `/Groups/${groupId}`, group, { 'if-match': version })).status).toBe(412);
});

test('filters, pages and projections select, and what cannot be read is refused by its keyword', async () => {
  const { w, idp } = await provisioned();
  for (const name of ['anna', 'anton', 'bram']) {
    await idp.user(`${name}@example.com`, { externalId: `x-${name}`, name: { givenName: name } });
  }
  const names = async (filter: string) =>
    (await idp.ask('GET', `/Users?filter=${encodeURIComponent(filter)}`)).body.Resources.map(
      ({ userName }: { userName: string }) => userName.split('@')[0],
    );
  expect(await names('userName sw "an"')).toEqual(['anna', 'anton']);
  expect(await names('externalId eq "x-bram"')).toEqual(['bram']);
  expect(await names('externalId eq "X-BRAM"')).toEqual([]);
  expect(await names('userName co "TON" or name.givenName eq "bram"')).toEqual(['anton', 'bram']);
  expect(await names('emails[type eq "work" and value eq "anna@example.com"]')).toEqual(['anna']);
  expect(await names('not (userName sw "an") and externalId pr')).toEqual(['bram']);
  expect(await names('active eq false')).toEqual([]);
  expect(await names('meta.lastModified ge "2020-01-01T00:00:00Z" and externalId pr')).toHaveLength(3);
  const page = (await idp.ask('GET', '/Users?startIndex=2&count=2&attributes=userName')).body;
  expect([page.totalResults, page.startIndex, page.itemsPerPage]).toEqual([4, 2, 2]);
  expect(Object.keys(page.Resources[0]).toSorted()).toEqual(['id', 'meta', 'schemas', 'userName']);
  expect((await idp.ask('GET', '/Users?count=0')).body).toMatchObject({ totalResults: 4, Resources: [] });
  for (const filter of ['title eq "x"', 'userName eq', "userName eq 'a'", 'active gt true']) {
    const refused = await idp.ask('GET', `/Users?filter=${encodeURIComponent(filter)}`);
    expect([refused.status, refused.body.scimType]).toEqual([400, 'invalidFilter']);
  }
  const send = (payload: string, type = 'application/scim+json') =>
    w.app.inject({
      method: 'POST',
      url: '/scim/v2/Users',
      headers: { authorization: `Bearer ${idp.token}`, 'content-type': type },
      payload,
    });
  expect((await send('{')).json()).toMatchObject({ status: '400', scimType: 'invalidSyntax' });
  expect((await send('{}', 'text/plain')).statusCode).toBe(415);
  expect((await send(JSON.stringify({ userName: 'a'.repeat(2_000_000) }))).statusCode).toBe(413);
  expect((await send(JSON.stringify({ userName: 'no address' }))).json()).toMatchObject({ scimType: 'invalidValue' });
});

test('an id that no store can hold is not there, and is no member', async () => {
  const { w, idp } = await provisioned();
  for (const path of ['/Users/a%00', '/Groups/%00']) expect((await idp.ask('GET', path)).status).toBe(404);
  const group = { schemas: [GROUP_SCHEMA], displayName: 'SRE', members: [{ value: 'user_\0' }] };
  expect((await idp.ask('POST', '/Groups', group)).body).toMatchObject({ status: '400', scimType: 'invalidValue' });
  expect((await w.app.inject({ method: 'POST', url: '/api/places/%00/slack', payload: 'x' })).statusCode).toBe(404);
});
