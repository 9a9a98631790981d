import { beforeAll, expect, test } from 'vitest';

import type { AnyOperation } from '#actions/action_context.ts';
import { listConnections } from '#modules/apps/operations/apps.ts';
import { getPagingProblems } from '#modules/notifications/operations/get_paging_problems.ts';
import { getHome } from '#modules/home/operations/get_home.ts';
import { declareIncident } from '#modules/incidents/operations/declare_incident.ts';
import { listAssignees } from '#modules/incidents/operations/reassignment.ts';
import { listApiKeys } from '#modules/api_keys/operations/api_keys.ts';
import { getMe } from '#modules/accounts/operations/me.ts';
import { listInvitations } from '#modules/organizations/operations/invitations.ts';
import { listMembers } from '#modules/organizations/operations/members.ts';
import { getAgents, setResponder } from '#modules/agents/operations/agents.ts';
import { getOnCallTimeline } from '#modules/schedules/operations/get_on_call_timeline.ts';
import { searchTeamNames } from '#modules/teams/operations/list_teams.ts';
import { givenPerson, givePassword, signedIn } from '#test/kit/programs/browser.ts';
import { memberCaller, runOperation } from '#test/kit/run_operation.ts';
import { fileWorld } from '#test/kit/world.ts';

const MANY = 1_050;

const w = await fileWorld();
// More of everything than one answer has, all made in the same millisecond.
beforeAll(async () => {
  const { sql } = w.context.db;
  const values = [w.orgId, w.clock.now().toString(), MANY];
  const numbered = `generate_series(1, $3) as n, lpad(n::text, 26, '0') as id`;
  await sql.run(
    `insert into users (id, email, name, created_at, updated_at)
     select 'user_' || id, 'p' || n || '@example.com', 'Person ' || n, $2::timestamptz, $2::timestamptz
     from ${numbered} where $1::text is not null`,
    values,
  );
  await sql.run(
    `insert into memberships (org_id, user_id, role, created_at)
     select $1, 'user_' || id, case when n > 1040 then 'editor' else 'viewer' end, $2::timestamptz from ${numbered}`,
    values,
  );
  await sql.run(
    `insert into api_keys (id, org_id, name, hash, hint, created_by, created_at)
     select 'apikey_' || id, $1, 'Key ' || n, sha256(n::text::bytea), 'key_' || n, 'user_' || lpad('7', 26, '0'),
       $2::timestamptz from ${numbered}`,
    values,
  );
  await sql.run(
    `insert into connections (id, org_id, user_id, client_id, client_name, access, created_at)
     select 'connection_' || id, $1, 'user_' || id, 'client', 'App ' || n, 'read_only', $2::timestamptz from ${numbered}`,
    values,
  );
  await sql.run(
    `insert into invitations (id, org_id, email, role, token_hash, created_at, expires_at, accepted_at)
     select 'invitation_' || id, $1, 'i' || n || '@example.com', 'viewer', sha256(n::text::bytea), $2::timestamptz,
       $2::timestamptz + interval '7 days', case when n > 1 then $2::timestamptz end from ${numbered}`,
    values,
  );
  await sql.run(
    `insert into teams (id, org_id, name, created_at, updated_at)
     select 'team_' || id, $1, 'Team ' || n, $2::timestamptz, $2::timestamptz from ${numbered}`,
    values,
  );
  // Nobody takes turns but in the last one, where the owner does.
  await sql.run(
    `insert into schedules (id, org_id, team_id, name, timezone, rotation_type, rotation_config, start_at, created_at, updated_at)
     select 'schedule_' || id, $1, 'team_' || id, 'Primary', 'UTC', 'weekly',
       json_build_object('userIds', case when n = $3 then array[$4] else array[]::text[] end),
       $2::timestamptz, $2::timestamptz, $2::timestamptz from ${numbered}`,
    [...values, w.owner.userId],
  );
});

const run = (operation: AnyOperation, input: object) =>
  runOperation(w, operation, memberCaller(w.orgId, w.owner.userId, 'owner'), input);

/** Every id of the list, page by page, and how many there are by its own count. */
async function walk(operation: AnyOperation, field: string, id: string, input: object = {}) {
  const ids: string[] = [];
  let cursor: string | null = null;
  let total = 0;
  do {
    const page: Record<string, never> = await run(operation, {
      ...input,
      limit: 200,
      ...(cursor !== null && { cursor }),
    });
    ids.push(...(page[field] as unknown as Record<string, string>[]).map((row) => row[id]!));
    total = page['total'] as unknown as number;
    cursor = page['nextCursor'] as unknown as string | null;
  } while (cursor !== null);
  return { ids, total };
}

async function countIn(tables: readonly string[]): Promise<number> {
  const counts = tables.map((table) => `(select count(*) from ${table})`).join(' + ');
  return (await w.context.db.sql.row<{ n: number }>(`select (${counts})::int as n`))!.n;
}

test.each([
  ['members', listMembers, 'members', 'userId', ['memberships']],
  ['API keys', listApiKeys, 'apiKeys', 'apiKeyId', ['api_keys']],
  ['connected apps', listConnections, 'connections', 'connectionId', ['connections']],
  ['invitations', listInvitations, 'invitations', 'invitationId', ['invitations']],
  ['agents', getAgents, 'agents', 'agentId', ['api_keys', 'connections']],
  ['teams', searchTeamNames, 'teams', 'teamId', ['teams']],
] as const)('every one of over 1,000 %s is listed once, and counted', async (_what, operation, field, id, tables) => {
  const count = await countIn(tables);
  expect(count).toBeGreaterThan(1_000);
  const { ids, total } = await walk(operation, field, id);
  expect([ids.length, new Set(ids).size, total]).toEqual([count, count, count]);
});

test('the last of over 1,000 is found by what is typed', async () => {
  const found = async (operation: AnyOperation, text: string, field: string) => {
    const page = await run(operation, { text });
    return [page.total, page[field].map(({ name, clientName }: Record<string, string>) => name ?? clientName)];
  };
  expect(await found(listMembers, 'PERSON 1049', 'members')).toEqual([1, ['Person 1049']]);
  expect(await found(listMembers, 'p1049@example', 'members')).toEqual([1, ['Person 1049']]);
  // Nobody is meant by the domain that all of them share.
  expect(await found(listMembers, 'example', 'members')).toEqual([0, []]);
  expect(await found(listApiKeys, 'key 1049', 'apiKeys')).toEqual([1, ['Key 1049']]);
  expect(await found(listConnections, 'app 1049', 'connections')).toEqual([1, ['App 1049']]);
  expect(await found(getAgents, '1049', 'agents')).toEqual([2, ['App 1049', 'Key 1049']]);
  expect(await found(searchTeamNames, 'team 1049', 'teams')).toEqual([1, ['Team 1049']]);
  expect(await found(listMembers, 'nobody at all', 'members')).toEqual([0, []]);
});

test('members are narrowed by role and by their ids, one that is not there is left out', async () => {
  expect((await walk(listMembers, 'members', 'userId', { role: 'editor' })).total).toBe(10);
  const [one] = (await run(listMembers, { text: 'Person 1049' })).members;
  const { members } = await run(listMembers, { userIds: [one.userId, `user_${'9'.repeat(26)}`] });
  expect(members.map(({ name }: { name: string }) => name)).toEqual(['Person 1049']);
});

test('an invitation that nobody has accepted is found below a thousand that somebody has', async () => {
  const { invitations, total } = await run(listInvitations, { isAccepted: false });
  expect([total, invitations.map(({ email }: { email: string }) => email)]).toEqual([1, ['i1@example.com']]);
});

test('keys that a member created for the organization are counted, of however many', async () => {
  const creatorId = `user_${'7'.padStart(26, '0')}`;
  expect((await run(listApiKeys, { creatorId, limit: 1 })).total).toBe(MANY);
});

test('an agent that may respond comes first', async () => {
  const agentId = `apikey_${'1049'.padStart(26, '0')}`;
  await w.context.db.sql.run(`update api_keys set permissions = '{oncall:view}' where id = $1`, [agentId]);
  await run(setResponder, { agentId, enabled: true });
  const { agents } = await run(getAgents, { limit: 1 });
  expect(agents).toMatchObject([{ agentId, isResponder: true }]);
  const { ids } = await walk(getAgents, 'agents', 'agentId');
  expect(new Set(ids).size).toBe(await countIn(['api_keys', 'connections']));
});

test('an incident is given to somebody beyond the first 1,000 by a part of their name', async () => {
  const { serviceId } = await w.given.service({ name: 'checkout' });
  const declared = { serviceId, title: 'Slow', severity: 'error', escalationPolicyId: null, requestKey: 'a-request' };
  const { incidentId } = await run(declareIncident, declared);
  const { people } = await run(listAssignees, { incidentId, text: 'son 1049' });
  expect(people.map(({ name }: { name: string }) => name)).toEqual(['Person 1049']);
  const all = await run(listAssignees, { incidentId });
  expect([all.people.length, all.furtherPeople], 'ten editors and the owner; viewers may not answer').toEqual([11, 0]);
});

test('more sessions than are listed are counted', async () => {
  await givePassword(w, w.owner.userId);
  const browser = await signedIn(w, w.owner.email);
  await w.context.db.sql.run(
    `insert into sessions (id, user_id, token_hash, created_at, last_used_at, expires_at)
     select 'session_' || lpad(n::text, 26, '0'), $1, sha256(n::text::bytea), $2::timestamptz - interval '1 minute',
       $2::timestamptz - interval '1 minute', $2::timestamptz + interval '1 day' from generate_series(1, 60) as n`,
    [w.owner.userId, w.clock.now().toString()],
  );
  const { sessions, total } = (await browser.get('/sessions')).body.result;
  expect([sessions.length, total, sessions[0].isCurrent]).toEqual([50, 61, true]);
  expect((await browser.delete('/sessions')).body.result.sessionIds).toHaveLength(60);
});

test('somebody who manages nothing sees only their own keys and apps', async () => {
  const { userId } = await givenPerson(w, { role: 'viewer', name: 'Vera' });
  const caller = memberCaller(w.orgId, userId, 'viewer');
  const mine = { total: 1, nextCursor: null };
  expect(await runOperation(w, listApiKeys, caller, {})).toMatchObject({ ...mine, apiKeys: [{ user: { userId } }] });
  expect(await runOperation(w, getAgents, caller, {})).toMatchObject({ ...mine, agents: [{ userName: 'Vera' }] });
});

test('a team is found by its id, one that is not there is left out', async () => {
  const teamIds = [`team_${'1049'.padStart(26, '0')}`, `team_${'9'.repeat(26)}`];
  expect(await run(searchTeamNames, { teamIds })).toMatchObject({ teams: [{ name: 'Team 1049' }], total: 1 });
});

test('whoever takes turns in the last of over 1,000 teams sees their shift, and every team is looked at', async () => {
  const own = { teamName: `Team ${MANY}`, since: expect.any(String) };
  const home = await run(getHome, {});
  expect(home).toMatchObject({ scheduleCount: MANY, ownShifts: [own] });
  expect(home.schedules[0]).toMatchObject({ teamName: `Team ${MANY}`, onCall: { userId: w.owner.userId } });
  expect(home.schedules).toHaveLength(20);
  expect((await run(getMe, {})).shifts).toMatchObject([own]);
  expect((await run(getPagingProblems, {})).warningCount).toBe(MANY);
  const pagesNobody = { kind: 'schedule_pages_nobody', teamName: `Team ${MANY}` };
  expect(await run(getPagingProblems, { withoutGaps: true })).toMatchObject({
    warnings: [pagesNobody],
    warningCount: 1,
  });
});

test('a timeline goes on after 1,000 teams, and a cut list says how many there are', async () => {
  const at = w.clock.now();
  const week = { from: at.toString(), to: at.add({ hours: 24 }).toString() };
  const last = await run(getOnCallTimeline, { ...week, cursor: '1000' });
  expect(last).toMatchObject({ total: MANY, teamCount: MANY, nextCursor: null });
  expect(last.schedules).toHaveLength(MANY - 1_000);
  const teamIds = [`team_${String(MANY).padStart(26, '0')}`];
  const result = await run(getOnCallTimeline, { ...week, teamIds });
  expect(result).toMatchObject({
    total: 1,
    schedules: [{ teamName: `Team ${MANY}`, onCall: { userIds: [w.owner.userId] } }],
  });
  const { teams, total } = await w.expectOk('list_teams');
  expect([teams.length, total]).toEqual([1_000, MANY]);
});
