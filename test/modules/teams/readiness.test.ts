import { beforeEach, expect, test } from 'vitest';

import { asId, type Id } from '#kernel/ids.ts';
import { ZoneClock } from '#kernel/zone_clock.ts';
import { findWarnings } from '#modules/contacts/decide/reachability.ts';
import type { LayeredSchedule } from '#modules/schedules/decide/layered_shifts.ts';
import { Temporal } from '#kernel/time.ts';
import type { AnyOperation } from '#actions/action_context.ts';
import { listMembers } from '#modules/organizations/operations/members.ts';
import { getMe } from '#modules/accounts/operations/me.ts';
import { getMemberReach, getTeam } from '#modules/teams/operations/get_team.ts';
import { searchPeopleWithoutTeam, searchTeams } from '#modules/teams/operations/list_teams.ts';
import type { Role } from '#kernel/permissions.ts';
import { storesOf } from '#modules/stores.ts';
import { memberCaller, runOperation } from '#test/kit/run_operation.ts';
import { type World, world } from '#test/kit/world.ts';

const PHONE = '+31612345678';

let w: World;
let anna: { userId: Id<'user'> };
let teamId: string;

/** SMS, calls and push are set up. */
beforeEach(async () => {
  const twilio = { twilioAccountSid: `AC${'0'.repeat(32)}`, twilioAuthToken: 'token', twilioFrom: '+15005550006' };
  w = await world({ settings: twilio });
  anna = await w.given.user({ name: 'Anna' });
  ({ teamId } = await w.expectOk('create_team', { name: 'Payments' }));
  await w.expectOk('add_team_member', { teamId, userId: anna.userId, phone: PHONE });
});

const run = (operation: AnyOperation, input: object, role: Role = 'viewer', userId = w.owner.userId) =>
  runOperation(w, operation, memberCaller(w.orgId, userId, role), input);

const member = async (role?: Role, userId?: Id<'user'>) => (await run(getTeam, { teamId }, role, userId)).members[0];

/** A test that has arrived as its provider says, so many days ago. */
async function arrived(userId: Id<'user'>, days: number, changes: { address?: string; orgId?: Id<'org'> } = {}) {
  const at = w.clock.now().subtract({ hours: days * 24 });
  await w.context.db.transaction(async (session) => {
    const stores = storesOf(session);
    const [id] = await stores.notifications.insert(
      [
        {
          orgId: w.orgId,
          incidentId: null,
          stepIndex: null,
          kind: 'test',
          userId,
          channel: 'sms',
          address: PHONE,
          status: 'queued',
          reason: null,
          ...changes,
        },
      ],
      at,
    );
    await stores.deliveries.claim(id!, at.add({ minutes: 1 }), at);
  });
  await w.context.db.sql.run(`update notifications set status = 'delivered' where user_id = $1`, [userId]);
}

test('the reach of a person has the number and the steps of each team, or their own without one', async () => {
  const bram = await w.given.user({ name: 'Bram' });
  await w.expectOk('create_schedule', {
    teamId,
    name: 'Weekly',
    timezone: 'UTC',
    rotationType: 'weekly',
    rotationConfig: { userIds: [anna.userId] },
    startAt: w.clock.now().toString(),
  });
  await w.expectOk('create_escalation_policy', {
    teamId,
    name: 'Wake',
    steps: [
      { afterMinutes: 5, channels: ['call'], targetUserIds: [bram.userId] },
      { afterMinutes: 10, channels: ['sms', 'call'], useSchedule: true },
      { afterMinutes: 0, channels: ['push'], targetUserIds: [anna.userId] },
    ],
  });
  const reach = async (userId: string, role?: Role) => (await run(getMemberReach, { userId }, role)).places;
  const steps = [
    { afterMinutes: 0, channels: ['push'] },
    { afterMinutes: 10, channels: ['sms', 'call'] },
  ];
  expect(await reach(anna.userId, 'editor')).toMatchObject([{ teamId, phone: PHONE, steps }]);
  expect(await reach(anna.userId)).toMatchObject([{ phone: '+31••••••78', readiness: { answer: 'unproved' } }]);
  expect(await reach(bram.userId)).toMatchObject([
    { teamId: null, phone: null, readiness: { answer: 'no' }, steps: [] },
  ]);
});

test('a member is not proved until a test has arrived at the present number', async () => {
  expect((await member()).readiness).toMatchObject({
    answer: 'unproved',
    reasons: ['never_proved', 'number_not_confirmed'],
    deviceCount: 0,
  });
  await arrived(anna.userId, 200);
  expect((await member()).readiness.reasons).toContain('proof_too_old');
  await arrived(anna.userId, 3);
  const { readiness } = await member();
  expect(readiness).toMatchObject({ answer: 'yes', reasons: ['number_not_confirmed'] });
  expect(readiness.channels[0]).toEqual({
    channel: 'sms',
    state: 'ready',
    provedAt: w.clock.now().subtract({ hours: 72 }).toString({ smallestUnit: 'millisecond' }),
  });
  // Something that arrives at another number later takes nothing from it.
  await arrived(anna.userId, 1, { address: '+31600000009' });
  expect((await member()).readiness.answer).toBe('yes');
  await w.expectOk('update_team_member', { memberId: (await member()).memberId, phone: '+31600000001' });
  expect((await member()).readiness.answer).toBe('unproved');
});

test('a test of another organization proves nothing here', async () => {
  const other = await w.given.organization('Other');
  await arrived(anna.userId, 3, { orgId: other.orgId });
  expect((await member()).readiness.answer).toBe('unproved');
});

test('a number is shown in full to its owner and to those who may change it', async () => {
  expect((await member('viewer')).phone).toBe('+31••••••78');
  expect((await member('viewer', anna.userId)).phone).toBe(PHONE);
  expect((await member('responder')).phone).toBe(PHONE);
});

test('teams are found page by page, with who is on call and how many a page would wake', async () => {
  await w.expectOk('create_team', { name: 'Search' });
  const rotationConfig = { userIds: [anna.userId] };
  await w.expectOk('create_schedule', { teamId, name: 'Primary', rotationConfig, startAt: '2020-01-01T00:00:00Z' });
  const first = await run(searchTeams, { limit: 1 });
  expect(first.teams).toMatchObject([
    {
      name: 'Payments',
      memberCount: 1,
      scheduleCount: 1,
      policyCount: 0,
      onCall: [{ name: 'Anna' }],
      readiness: { yes: 0, unproved: 1, no: 0 },
    },
  ]);
  const second = await run(searchTeams, { limit: 1, cursor: first.nextCursor });
  expect(second).toMatchObject({ teams: [{ name: 'Search', memberCount: 0 }], nextCursor: null });
  expect((await run(searchTeams, { text: 'ann' })).teams).toMatchObject([{ name: 'Payments' }]);
  await expect(run(searchTeams, { cursor: 'nonsense' })).rejects.toMatchObject({ code: 'invalid_input' });
});

test('people in no team are found page by page, with how they are reached all the same', async () => {
  await w.given.user({ name: 'bram' });
  const cleo = await w.given.user({ name: 'Cleo' });
  const browser = { endpoint: 'https://push.example.com/cleo', p256dh: 'p', auth: 'a', label: 'Phone' };
  await storesOf(w.context.db.session()).pushSubscriptions.put(cleo.userId, browser, w.clock.now());
  const names = ({ people }: { people: { name: string }[] }) => people.map(({ name }) => name);
  const first = await run(searchPeopleWithoutTeam, { limit: 2 });
  expect(names(first)).toEqual(['bram', 'Cleo']);
  expect(first.people.map(({ readiness }: { readiness: { answer: string } }) => readiness.answer)).toEqual([
    'no',
    'unproved',
  ]);
  const rest = await run(searchPeopleWithoutTeam, { limit: 2, cursor: first.nextCursor });
  expect(names(rest)).not.toContain('Anna');
  expect(names(await run(searchPeopleWithoutTeam, { text: 'CLE' }))).toEqual(['Cleo']);
});

test('who is in no team is judged by the number that they have given for other teams', async () => {
  const cleo = await w.given.user({ name: 'Cleo' });
  const found = async () => (await run(searchPeopleWithoutTeam, { text: 'Cleo' })).people[0].readiness;
  expect(await found()).toMatchObject({ answer: 'no', reasons: ['no_waking_channel'] });
  await w.context.db.sql.run('update memberships set phone = $2 where user_id = $1', [cleo.userId, PHONE]);
  expect(await found()).toMatchObject({ answer: 'unproved', reasons: ['never_proved', 'number_not_confirmed'] });
  await w.context.db.sql.run('insert into confirmed_numbers (user_id, phone, confirmed_at) values ($1, $2, $3)', [
    cleo.userId,
    PHONE,
    w.clock.now().toString(),
  ]);
  await arrived(cleo.userId, 3);
  expect(await found()).toMatchObject({ answer: 'yes', reasons: [] });
});

test('people see whether a page would wake them, in each team and in others', async () => {
  const { teams, ownReadiness } = await run(getMe, {}, 'viewer', anna.userId);
  expect(teams).toMatchObject([{ name: 'Payments', readiness: { answer: 'unproved' } }]);
  expect(ownReadiness).toMatchObject({ answer: 'no', reasons: ['no_waking_channel'] });
  await arrived(anna.userId, 3);
  expect((await run(getMe, {}, 'viewer', anna.userId)).teams[0].readiness.answer).toBe('yes');
});

test('the list of members warns of those in no team whom nothing reaches, unless they have given a number', async () => {
  const cleo = await w.given.user({ name: 'Cleo' });
  const warnings = async () => {
    const { members } = await run(listMembers, {});
    return members.find(({ userId }: { userId: string }) => userId === cleo.userId).warnings;
  };
  expect(await warnings()).toEqual([
    'Nothing reaches Cleo: each channel is off, lacks an address, or is not set up on this server.',
  ]);
  await w.context.db.sql.run('update memberships set phone = $2 where user_id = $1', [cleo.userId, PHONE]);
  expect(await warnings()).toEqual([]);
});

test('warnings are found in steps, a policy and a schedule in each, so that nobody waits for those of a large team', () => {
  const id = <Kind extends 'policy' | 'schedule'>(kind: Kind, index: number) => asId(kind, `${kind}_${index}`);
  const empty = { layers: [], overrides: [], clock: new ZoneClock('UTC') } as unknown as LayeredSchedule;
  const team = {
    members: [],
    policies: Array.from({ length: 30 }, (_, index) => ({ id: id('policy', index), steps: [] })),
    schedules: Array.from({ length: 50 }, (_, index) => ({
      id: id('schedule', index),
      layered: empty,
      isUnreadable: true as const,
    })),
    onCallNow: [],
    membersOf: () => [],
    contacts: new Map(),
    isPresent: () => true,
    mayAnswer: () => true,
  };
  const steps = findWarnings(team, new Set(), Temporal.Instant.from('2027-02-03T02:05:00Z'));
  let count = 0;
  while (steps.next().done !== true) count += 1;
  expect(count).toBe(80);
});
