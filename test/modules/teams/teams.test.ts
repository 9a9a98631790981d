import { expect, test } from 'vitest';

import type { ActionContext } from '#actions/action_context.ts';
import { listTeams } from '#modules/teams/operations/list_teams.ts';
import { storesOf } from '#modules/stores.ts';
import { givenPerson, signedIn } from '#test/kit/programs/browser.ts';
import { fileWorld, type World } from '#test/kit/world.ts';
import { watchedSession } from '#test/kit/watched_session.ts';

const shared = await fileWorld();

const NOWHERE = 'team_00000000000000000000000000';

async function teamWithMember(w: World, member: object = {}) {
  const team = await w.expectOk('create_team', { name: 'Payments' });
  const anna = await w.given.user({ name: 'Anna' });
  const given = { teamId: team.teamId, userId: anna.userId, ...member };
  const { warnings, ...added } = await w.expectOk('add_team_member', given);
  return { team, anna, member: added, warnings };
}

async function auditOf(w: World, target: string) {
  return await w.context.db.sql.rows<{ action: string; before: object | null; after: object | null }>(
    'select action, before, after from audit_log where target = $1 order by id',
    [target],
  );
}

test('a new team is empty and listed', async () => {
  const w = await shared.forOrganization();
  const team = await w.expectOk('create_team', { name: 'Payments' });
  expect(team).toEqual({
    teamId: expect.stringMatching(/^team_/),
    name: 'Payments',
    createdAt: expect.any(String),
    updatedAt: team.createdAt,
  });
  expect(await w.expectOk('list_teams')).toEqual({
    total: 1,
    teams: [{ ...team, members: [], schedules: [], escalationPolicies: [], warnings: [] }],
    people: [{ userId: w.owner.userId, name: w.owner.name, email: w.owner.email }],
  });
});

test('list_teams shows everybody of the organization with their ids, and nobody else', async () => {
  const w = await shared.forOrganization();
  const { anna } = await teamWithMember(w);
  const zoe = await w.given.user({ name: 'Zoe' });
  await w.given.organization('Other');
  const { people } = await w.expectOk('list_teams');
  expect(people).toEqual([anna, w.owner, zoe].map(({ userId, name, email }) => ({ userId, name, email })));
});

test('a rename changes name and updatedAt, and the same name again changes nothing', async () => {
  const w = await shared.forOrganization();
  const team = await w.expectOk('create_team', { name: 'Payments' });
  w.clock.advance({ minutes: 1 });
  const renamed = await w.expectOk('update_team', { teamId: team.teamId, name: 'Money' });
  expect(renamed).toMatchObject({ name: 'Money', createdAt: team.createdAt });
  expect(renamed.updatedAt > team.updatedAt).toBe(true);
  w.clock.advance({ minutes: 1 });
  expect(await w.expectOk('update_team', { teamId: team.teamId, name: 'Money' })).toEqual(renamed);
  expect(await auditOf(w, team.teamId)).toMatchObject([
    { action: 'create_team', before: null, after: { name: 'Payments' } },
    { action: 'update_team', before: { name: 'Payments' }, after: { name: 'Money' } },
  ]);
});

test('a blank name is refused', async () => {
  const w = await shared.forOrganization();
  const refused = { status: 400, body: { errors: [{ path: 'name' }] } };
  for (const name of ['', ' \t\n']) expect(await w.call('create_team', { name })).toMatchObject(refused);
});

test('a new member has every channel on, no phone, and the person of the account', async () => {
  const w = await shared.forOrganization();
  const { team, anna, member, warnings } = await teamWithMember(w);
  expect(warnings).toEqual([]);
  expect(member).toEqual({
    memberId: expect.stringMatching(/^member_/),
    teamId: team.teamId,
    userId: anna.userId,
    name: 'Anna',
    email: anna.email,
    phone: null,
    phoneConfirmed: false,
    smsEnabled: true,
    callEnabled: true,
    pushEnabled: true,
    emailEnabled: true,
    sortOrder: 0,
    createdAt: expect.any(String),
    updatedAt: expect.any(String),
  });
  expect((await w.expectOk('list_teams')).teams[0].members).toEqual([member]);
});

test('members keep the order in which they joined until it is changed', async () => {
  const w = await shared.forOrganization();
  const { teamId } = await w.expectOk('create_team', { name: 'Payments' });
  const memberIds: string[] = [];
  for (const name of ['Anna', 'Bram', 'Cleo']) {
    const { userId } = await w.given.user({ name });
    memberIds.push((await w.expectOk('add_team_member', { teamId, userId })).memberId);
  }
  const names = async () =>
    (await w.expectOk('list_teams')).teams[0].members.map((member: { name: string }) => member.name);
  expect(await names()).toEqual(['Anna', 'Bram', 'Cleo']);
  await w.expectOk('update_team_member', { memberId: memberIds[2], sortOrder: -1 });
  expect(await names()).toEqual(['Cleo', 'Anna', 'Bram']);
  await w.expectOk('update_team_member', { memberId: memberIds[0], sortOrder: 1 });
  expect(await names()).toEqual(['Cleo', 'Anna', 'Bram']);
});

test('sortOrder takes every integer of the contract exactly, and nothing beyond', async () => {
  const w = await shared.forOrganization();
  const { team, member } = await teamWithMember(w);
  for (const sortOrder of [Number.MIN_SAFE_INTEGER, -1, 0, Number.MAX_SAFE_INTEGER]) {
    expect(await w.expectOk('update_team_member', { memberId: member.memberId, sortOrder })).toMatchObject({
      sortOrder,
    });
  }
  for (const sortOrder of [Number.MAX_SAFE_INTEGER + 1, Number.MIN_SAFE_INTEGER - 1, 1.5, '1', null]) {
    const answer = await w.call('update_team_member', { memberId: member.memberId, sortOrder });
    expect({ sortOrder, ...answer }).toMatchObject({
      sortOrder,
      status: 400,
      body: { errors: [{ path: 'sortOrder' }] },
    });
  }
  const { userId } = await w.given.user();
  expect(await w.expectOk('add_team_member', { teamId: team.teamId, userId })).toMatchObject({
    sortOrder: Number.MAX_SAFE_INTEGER,
  });
});

test('a phone that is not in E.164 form is refused, together with every other fault', async () => {
  const w = await shared.forOrganization();
  const { team, anna, member } = await teamWithMember(w);
  for (const phone of ['0612345678', '+0612345678', '+31 612345678', '+1', '+1234567890123456', '', ' +31612345678']) {
    const answer = await w.call('update_team_member', { memberId: member.memberId, phone });
    expect({ phone, ...answer }).toMatchObject({ phone, status: 400, body: { errors: [{ path: 'phone' }] } });
  }
  const answer = await w.call('add_team_member', {
    teamId: team.teamId,
    userId: anna.userId,
    phone: '06',
    smsEnabled: 'yes',
    sortOrder: 1,
  });
  expect(answer.status).toBe(400);
  expect(answer.body.errors.map(({ path }: { path: string }) => path).sort()).toEqual([
    'phone',
    'smsEnabled',
    'sortOrder',
  ]);
});

test('null forgets a phone, and is refused where the contract does not allow it', async () => {
  const w = await shared.forOrganization();
  const { team, anna, member } = await teamWithMember(w, { phone: '+31612345678', smsEnabled: false });
  expect(member).toMatchObject({ phone: '+31612345678', smsEnabled: false, callEnabled: true });
  const { memberId } = member;
  expect(await w.expectOk('update_team_member', { memberId, phone: null })).toMatchObject({
    phone: null,
    smsEnabled: false,
  });
  expect((await w.call('update_team_member', { memberId, smsEnabled: null })).status).toBe(400);
  expect((await w.call('add_team_member', { teamId: team.teamId, userId: anna.userId, phone: null })).status).toBe(400);
});

test('a user joins a team once', async () => {
  const w = await shared.forOrganization();
  const { team, anna } = await teamWithMember(w);
  const again = await w.call('add_team_member', { teamId: team.teamId, userId: anna.userId });
  expect(again).toMatchObject({ status: 409, body: { code: 'conflict' } });
  const other = await w.expectOk('create_team', { name: 'Search' });
  await w.expectOk('add_team_member', { teamId: other.teamId, userId: anna.userId });
});

test('concurrent additions of one user leave one member, and those of several a place for each', async () => {
  const w = await shared.forOrganization();
  const { teamId } = await w.expectOk('create_team', { name: 'Payments' });
  const people = await Promise.all(['Anna', 'Bram', 'Cleo'].map((name) => w.given.user({ name })));
  const answers = await Promise.all(
    [...people, ...people].map(({ userId }) => w.call('add_team_member', { teamId, userId })),
  );
  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 200, 200, 409, 409, 409]);
  const { members } = (await w.expectOk('list_teams')).teams[0];
  expect(members.map((member: { sortOrder: number }) => member.sortOrder)).toEqual([0, 1, 2]);
});

test('concurrent updates of different fields of a member are all kept', async () => {
  const w = await shared.forOrganization();
  const { member } = await teamWithMember(w);
  const changes = [
    { phone: '+31612345678' },
    { smsEnabled: false },
    { callEnabled: false },
    { pushEnabled: false },
    { emailEnabled: false },
    { sortOrder: 7 },
  ];
  await Promise.all(
    changes.map((change) => w.expectOk('update_team_member', { memberId: member.memberId, ...change })),
  );
  expect((await w.expectOk('list_teams')).teams[0].members).toMatchObject([Object.assign({}, ...changes)]);
});

test('an update of a member without a change leaves updatedAt and the audit log alone', async () => {
  const w = await shared.forOrganization();
  const { member } = await teamWithMember(w, { phone: '+31612345678' });
  w.clock.advance({ minutes: 1 });
  const { memberId } = member;
  expect(await w.expectOk('update_team_member', { memberId })).toEqual(member);
  expect(await w.expectOk('update_team_member', { memberId, phone: '+31612345678', sortOrder: 0 })).toEqual(member);
  expect(await auditOf(w, memberId)).toHaveLength(1);
});

test('the audit log never holds a phone number, yet shows that one was changed', async () => {
  const w = await shared.forOrganization();
  const { member } = await teamWithMember(w, { phone: '+31612345678' });
  const { memberId } = member;
  await w.expectOk('update_team_member', { memberId, phone: '+31699945678' });
  await w.expectOk('remove_team_member', { memberId });
  const entries = await auditOf(w, memberId);
  expect(entries).toMatchObject([
    { action: 'add_team_member', before: null, after: { phone: '+31••••••78' } },
    { action: 'update_team_member', after: { phone: '+31••••••78', phoneChanged: true } },
    { action: 'remove_team_member', before: { phone: '+31••••••78' }, after: null },
  ]);
  expect(JSON.stringify(entries)).not.toMatch(/\d{6,}5678/);
});

test('a removed member is gone', async () => {
  const w = await shared.forOrganization();
  const { team, anna, member } = await teamWithMember(w);
  const { memberId } = member;
  expect(await w.expectOk('remove_team_member', { memberId })).toEqual({ deleted: true, memberId });
  expect((await w.expectOk('list_teams')).teams[0].members).toEqual([]);
  expect(await w.call('remove_team_member', { memberId })).toMatchObject({
    status: 404,
    body: { code: 'not_found', errors: [{ path: 'memberId' }] },
  });
  await w.expectOk('add_team_member', { teamId: team.teamId, userId: anna.userId });
});

test('a person who leaves the organization leaves its teams', async () => {
  const w = await shared.forOrganization();
  const { anna, member } = await teamWithMember(w);
  await storesOf(w.context.db.session()).people.removeMembership(w.orgId, anna.userId);
  expect((await w.expectOk('list_teams')).teams[0].members).toEqual([]);
  expect((await w.call('update_team_member', { memberId: member.memberId, smsEnabled: false })).status).toBe(404);
});

test('only users of the organization can join, and the field that names another is told', async () => {
  const w = await shared.forOrganization();
  const { teamId } = await w.expectOk('create_team', { name: 'Payments' });
  const other = await w.given.organization('Other');
  for (const userId of [other.owner.userId, 'user_00000000000000000000000000', '']) {
    expect(await w.call('add_team_member', { teamId, userId })).toMatchObject({
      status: 404,
      body: { code: 'not_found', errors: [{ path: 'userId' }] },
    });
  }
});

test('a team of another organization is not there', async () => {
  const w = await shared.forOrganization();
  const { team, anna, member } = await teamWithMember(w);
  const other = await w.given.organization('Other');
  const { teamId } = team;
  const { memberId } = member;
  const attempts: [string, object, object][] = [
    ['update_team', { teamId, name: 'x' }, { teamId: NOWHERE, name: 'x' }],
    ['delete_team', { teamId }, { teamId: NOWHERE }],
    ['add_team_member', { teamId, userId: anna.userId }, { teamId: NOWHERE, userId: anna.userId }],
    ['update_team_member', { memberId }, { memberId: 'nobody' }],
    ['remove_team_member', { memberId }, { memberId: 'nobody' }],
    ['who_is_on_call', { teamId }, { teamId: NOWHERE }],
  ];
  for (const [action, foreign, missing] of attempts) {
    const answers = [
      await w.call(action, foreign, { key: other.orgKey }),
      await w.call(action, missing, { key: other.orgKey }),
    ];
    expect({ action, ...answers[0]! }).toMatchObject({ action, status: 404 });
    expect({ ...answers[0]!.body, requestId: '' }).toEqual({ ...answers[1]!.body, requestId: '' });
  }
  expect((await w.expectOk('list_teams', {}, { key: other.orgKey })).teams).toEqual([]);
  expect((await w.expectOk('list_teams')).teams[0]).toMatchObject({ name: 'Payments', members: [{ memberId }] });
});

test('a deleted team takes its schedules and policies along, and leaves its rules without a policy', async () => {
  const w = await shared.forOrganization();
  const { team, anna, member } = await teamWithMember(w, { phone: '+31612345678' });
  const { teamId } = team;
  const schedule = await w.expectOk('create_schedule', {
    teamId,
    name: 'Primary',
    rotationConfig: { userIds: [anna.userId] },
  });
  const policy = await w.expectOk('create_escalation_policy', {
    teamId,
    name: 'Page',
    steps: [{ afterMinutes: 0, channels: ['sms'], useSchedule: true }],
  });
  const { serviceId } = await w.given.service();
  const rule = await w.expectOk('create_alert_rule', {
    serviceId,
    name: 'New errors',
    kind: 'exception',
    config: {},
    escalationPolicyId: policy.policyId,
  });
  w.clock.advance({ minutes: 1 });
  expect(await w.expectOk('delete_team', { teamId })).toEqual({ deleted: true, teamId });
  expect((await w.expectOk('list_teams')).teams).toEqual([]);
  const left: [string, object][] = [
    ['update_team_member', { memberId: member.memberId }],
    ['update_schedule', { scheduleId: schedule.scheduleId }],
    ['update_escalation_policy', { policyId: policy.policyId }],
  ];
  for (const [action, body] of left) {
    expect({ action, ...(await w.call(action, body)) }).toMatchObject({ action, status: 404 });
  }
  const [detached] = (await w.expectOk('get_service', { serviceId })).alertRules;
  expect(detached).toMatchObject({ ruleId: rule.ruleId, escalationPolicyId: null });
  expect(detached.updatedAt > rule.updatedAt).toBe(true);
  expect((await auditOf(w, teamId)).at(-1)).toMatchObject({
    action: 'delete_team',
    before: {
      members: [{ phone: '+31••••••78' }],
      schedules: [{ scheduleId: schedule.scheduleId }],
      escalationPolicies: [{ policyId: policy.policyId }],
      detachedRuleIds: [rule.ruleId],
    },
    after: null,
  });
});

test('list_teams asks the database as often for ten teams as for one', async () => {
  const w = await shared.forOrganization();
  await teamWithMember(w);
  const once = await countQueries(w);
  for (let more = 0; more < 9; more += 1) await teamWithMember(w);
  expect(await countQueries(w)).toBe(once);
});

async function countQueries(w: World): Promise<number> {
  let queries = 0;
  const session = watchedSession(w.context.db.session(), async () => void (queries += 1));
  const context = {
    caller: { orgId: w.orgId, actor: { kind: 'system' }, permissions: new Set(['oncall:view']) },
    stores: storesOf(session),
    configuredChannels: new Set(),
    now: w.clock.now(),
  };
  await listTeams.handle({}, context as unknown as ActionContext, undefined);
  return queries;
}

test('a member moves one place up or down, however the places were numbered before', async () => {
  const w = await shared.forOrganization();
  const { teamId } = await w.expectOk('create_team', { name: 'Payments' });
  const ids: Record<string, string> = {};
  for (const [name, sortOrder] of Object.entries({ Anna: 7, Bram: 7, Cleo: 90 })) {
    const { userId } = await w.given.user({ name });
    const { memberId } = await w.expectOk('add_team_member', { teamId, userId });
    await w.expectOk('update_team_member', { memberId, sortOrder });
    ids[name] = memberId;
  }
  const { email } = await givenPerson(w, { role: 'editor', name: 'Emma' });
  const browser = await signedIn(w, email);
  const move = async (name: string, to: 'up' | 'down') =>
    (await browser.invoke(w.orgId, 'move_team_member', { teamId, memberId: ids[name], to })).status;
  const order = async () => (await w.expectOk('list_teams')).teams[0].members.map(({ name }: { name: string }) => name);
  expect(await order()).toEqual(['Anna', 'Bram', 'Cleo']);
  expect(await move('Cleo', 'up')).toBe(200);
  expect(await order()).toEqual(['Anna', 'Cleo', 'Bram']);
  expect(await move('Anna', 'up')).toBe(200);
  expect(await move('Bram', 'down')).toBe(200);
  expect(await order()).toEqual(['Anna', 'Cleo', 'Bram']);
  expect(await move('Anna', 'down')).toBe(200);
  expect(await order()).toEqual(['Cleo', 'Anna', 'Bram']);
  const { teamId: other } = await w.expectOk('create_team', { name: 'Search' });
  const elsewhere = await browser.invoke(w.orgId, 'move_team_member', {
    teamId: other,
    memberId: ids['Anna'],
    to: 'up',
  });
  expect(elsewhere.status).toBe(404);
  expect((await auditOf(w, ids['Bram']!)).map(({ action }) => action)).toEqual([
    'add_team_member',
    'update_team_member',
    'move_team_member',
  ]);
});
