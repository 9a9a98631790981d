import { expect, test } from 'vitest';

import { assignExceptions } from '#modules/exceptions/operations/assignment.ts';
import { browseExceptionGroups } from '#modules/exceptions/operations/browse_exception_groups.ts';
import { acknowledgeIncident } from '#modules/incidents/operations/acknowledge_incident.ts';
import { declareIncident } from '#modules/incidents/operations/declare_incident.ts';
import { searchIncidents } from '#modules/incidents/operations/search_incidents.ts';
import { getOnCallTimeline } from '#modules/schedules/operations/get_on_call_timeline.ts';
import { getHome } from '#modules/home/operations/get_home.ts';
import { getLoadOnPeople } from '#modules/load/operations/load_on_people.ts';
import { listMembers } from '#modules/organizations/operations/members.ts';
import { previewRotation } from '#modules/schedules/operations/preview_rotation.ts';
import { getServiceOnCall } from '#modules/services/operations/service_overview.ts';
import { setServiceTeam } from '#modules/services/operations/update_service.ts';
import { getTeam } from '#modules/teams/operations/get_team.ts';
import { swapShifts, undoShiftSwap } from '#modules/schedules/operations/swaps.ts';
import type { AnyOperation } from '#actions/action_context.ts';
import { eventAt, groupAndStore } from '#test/modules/exceptions/given_events.ts';
import { givenTeam, NOW, UNKNOWN_USER } from '#test/modules/schedules/given_team.ts';
import { memberCaller, runOperation } from '#test/kit/run_operation.ts';
import { fileWorld } from '#test/kit/world.ts';

const shared = await fileWorld();

const MARCH = { from: '2026-03-01T00:00:00Z', to: '2026-04-01T00:00:00Z' };

/** A weekly rotation of two, which hands over on Mondays at 09:00 in Amsterdam: Anna is on call at `NOW`. */
async function givenSchedule() {
  const team = await givenTeam(shared);
  const { w, teamId, anna, bram, cleo } = team;
  const schedule = await w.expectOk('create_schedule', {
    teamId,
    name: 'Primary',
    timezone: 'Europe/Amsterdam',
    rotationConfig: { userIds: [anna.userId, bram.userId] },
    startAt: '2026-03-02T09:00',
  });
  const run = (operation: AnyOperation, input: object) =>
    runOperation(w, operation, memberCaller(w.orgId, cleo.userId, 'responder'), input);
  const rotation = {
    timezone: 'Europe/Amsterdam',
    rotationType: 'weekly',
    rotationConfig: { userIds: [anna.userId, bram.userId] },
  };
  const { scheduleId, updatedAt } = schedule;
  return { ...team, scheduleId: scheduleId as string, updatedAt: updatedAt as string, run, rotation };
}

const names = (people: { userId: string; name: string }[], userId: string | null) =>
  people.find((person) => person.userId === userId)?.name ?? null;

test('somebody has one colour wherever they are shown', async () => {
  const { w, teamId, anna, scheduleId, run } = await givenSchedule();
  await w.expectOk('add_team_member', { teamId, userId: anna.userId });
  const { serviceId } = await w.given.service();
  const owner = memberCaller(w.orgId, w.owner.userId, 'owner');
  await runOperation(w, setServiceTeam, owner, { serviceId, teamId });
  const { members } = await run(listMembers, { userIds: [anna.userId] });
  const ofAnna = (people: { userId: string; color: number }[]) =>
    people.filter(({ userId }) => userId === anna.userId).map(({ color }) => color);
  const [color] = ofAnna(members);
  const [home] = (await run(getHome, {})).schedules;
  const { people } = await run(getOnCallTimeline, { ...MARCH, scheduleIds: [scheduleId] });
  const team = await run(getTeam, { teamId });
  const [onCall] = (await run(getServiceOnCall, { serviceId })).teams;
  const load = await run(getLoadOnPeople, { teamId, month: '2026-03' });
  expect(home.onCall.userId).toBe(anna.userId);
  expect([home.color, home.shifts[0].color]).toEqual([color, color]);
  for (const shown of [people, team.members, team.onCall, onCall.onCall, load.people]) {
    expect(ofAnna(shown)).toEqual([color]);
  }
  const declared = { serviceId, title: 'Nobody can pay', severity: 'error', escalationPolicyId: null };
  const { incidentId } = await run(declareIncident, { ...declared, requestKey: crypto.randomUUID() });
  await runOperation(w, acknowledgeIncident, memberCaller(w.orgId, anna.userId, 'responder'), { incidentId });
  const [incident] = (await run(searchIncidents, {})).incidents;
  const groups = await groupAndStore(w, serviceId, [eventAt(w)]);
  const groupIds = groups.map(({ groupId }) => groupId);
  await runOperation(w, assignExceptions, owner, { groupIds, to: { userId: anna.userId } });
  const [group] = (await runOperation(w, browseExceptionGroups, owner, {})).groups;
  expect([incident.answeredByColor, group.assigneeColor]).toEqual([color, color]);
});

test('the timeline shows at any hour whom who_is_on_call names at that hour, across overrides and clock changes', async () => {
  const { w, teamId, cleo, bram, scheduleId, run } = await givenSchedule();
  const override = (userId: string, startAt: string, endAt: string) =>
    w.expectOk('create_schedule_override', { scheduleId, userId, startAt, endAt });
  await override(cleo.userId, '2026-03-10T22:00', '2026-03-11T06:00');
  await override(bram.userId, '2026-03-10T23:00', '2026-03-11T01:00');
  const { schedules, people, total } = await run(getOnCallTimeline, MARCH);
  expect(total).toBe(1);
  const acrossMonth = Array.from({ length: 24 }, (_, place) => 1 + 31 * place);
  const acrossOverrides = [236, 237, 238, 239, 240, 244, 245];
  for (const hour of [...acrossMonth, ...acrossOverrides]) {
    const at = new Date(Date.parse(MARCH.from) + hour * 3_600_000).toISOString();
    w.clock.set(at);
    const { schedules: answers } = await w.expectOk('who_is_on_call', { teamId });
    const shift = schedules[0].shifts.find(
      ({ since, until }: { since: string; until: string | null }) => since <= at && (until === null || at < until),
    );
    expect([at, names(people, shift?.userIds[0] ?? null), shift?.source ?? null]).toEqual([
      at,
      answers[0].onCall?.name ?? null,
      answers[0].source,
    ]);
    const until = shift ? shift.until : '2026-03-02T08:00:00.000Z';
    expect([shift?.since ?? null, until]).toEqual([answers[0].since, answers[0].until]);
  }
});

test('the timeline says who is on call now and next, when nobody is, and which overrides there are', async () => {
  const { w, anna, bram, cleo, scheduleId, teamId, run } = await givenSchedule();
  const window = { startAt: '2026-03-05T10:00:00.000Z', endAt: '2026-03-05T12:00:00.000Z' };
  const made = await w.expectOk('create_schedule_override', { scheduleId, userId: cleo.userId, ...window });
  const later = { teamId, name: 'Later', rotationConfig: { userIds: [bram.userId] }, startAt: '2026-03-06T12:00:00Z' };
  await w.expectOk('create_schedule', later);
  const { schedules, at } = await run(getOnCallTimeline, MARCH);
  expect(at).toBe('2026-03-04T12:00:00.000Z');
  expect(schedules).toMatchObject([
    {
      scheduleId,
      onCall: { userIds: [anna.userId], source: 'rotation', since: '2026-03-02T08:00:00.000Z', until: window.startAt },
      next: { userIds: [cleo.userId], at: window.startAt },
      handOver: { at: '2026-03-09T08:00:00.000Z', position: 1 },
      overrides: [{ overrideId: made.overrideId, userId: cleo.userId, layerId: null, ...window }],
      gaps: [],
      gapCount: 0,
    },
    {
      name: 'Later',
      onCall: null,
      next: { userIds: [bram.userId], at: '2026-03-06T12:00:00.000Z' },
      gaps: [{ since: '2026-03-04T12:00:00.000Z', until: '2026-03-06T12:00:00.000Z' }],
      gapCount: 1,
    },
  ]);
});

test('a timeline is not empty, at most 93 days long, and comes page by page', async () => {
  const { w, teamId, run } = await givenSchedule();
  for (const to of ['2026-03-01T00:00:00Z', '2026-06-03T00:00:00Z']) {
    await expect(run(getOnCallTimeline, { ...MARCH, to })).rejects.toMatchObject({ faults: [{ path: 'to' }] });
  }
  for (let made = 0; made < 50; made += 1) {
    await w.expectOk('create_schedule', { teamId, name: `Schedule ${made}` });
  }
  const first = await run(getOnCallTimeline, MARCH);
  expect([first.schedules.length, first.total, first.nextCursor]).toEqual([50, 51, '50']);
  const second = await run(getOnCallTimeline, { ...MARCH, cursor: first.nextCursor });
  expect(second).toMatchObject({ schedules: [{ name: 'Schedule 49' }], nextCursor: null });
  await expect(run(getOnCallTimeline, { ...MARCH, cursor: 'x' })).rejects.toMatchObject({
    faults: [{ path: 'cursor' }],
  });
});

test('an hourly rotation is cut where the shifts end, and says so', async () => {
  const { w, anna, bram, scheduleId, run } = await givenSchedule();
  const rotationConfig = { userIds: [anna.userId, bram.userId], shiftHours: 1 };
  await w.expectOk('update_schedule', { scheduleId, rotationConfig });
  const { schedules } = await run(getOnCallTimeline, { from: '2026-03-02T08:00:00Z', to: '2026-05-01T00:00:00Z' });
  expect(schedules[0].shifts).toHaveLength(1_000);
  expect(schedules[0].shownUntil).toBe(schedules[0].shifts.at(-1).until);
});

test('a new schedule is previewed from its first turn on', async () => {
  const { anna, bram, rotation, run } = await givenSchedule();
  const preview = await run(previewRotation, {
    weeks: 2,
    ...rotation,
    handOver: { at: '2026-06-01T09:00', position: 0 },
  });
  expect(preview).toMatchObject({
    from: '2026-06-01T07:00:00.000Z',
    shifts: [{ userIds: [anna.userId] }, { userIds: [bram.userId] }],
  });
});

test('a hand-over at a time that the clocks skip keeps its time, whoever takes over', async () => {
  const { rotation, run } = await givenSchedule();
  const config = { weeks: 1, ...rotation, rotationType: 'daily', timezone: 'Europe/Amsterdam' };
  for (const position of [0, 1]) {
    const handOver = { at: '2026-03-29T02:30', position };
    const { shifts } = await run(previewRotation, { ...config, handOver });
    const starts = shifts.map(({ since }: { since: string }) => since);
    expect(starts).toContain('2026-03-29T01:30:00.000Z');
    expect(starts).toContain('2026-03-30T00:30:00.000Z');
  }
});

test.each([
  [{ timezone: 'Mars/Olympus' }, 'timezone'],
  [{ handOver: { at: 'soon', position: 0 } }, 'handOver.at'],
  [{ handOver: { at: '2026-03-09T09:00', position: 2 } }, 'handOver.position'],
  [{ handOver: { at: '1970-01-02T09:00', position: 1 } }, 'handOver.position'],
])('a rotation with %j is refused', async (changes, path) => {
  const { rotation, run } = await givenSchedule();
  const preview = run(previewRotation, { weeks: 1, ...rotation, ...changes });
  await expect(preview).rejects.toMatchObject({ code: 'invalid_input', faults: [{ path }] });
});

test('two shifts are swapped together, and the swap is undone together', async () => {
  const { w, anna, bram, scheduleId, run } = await givenSchedule();
  const first = { scheduleId, userId: anna.userId, startAt: NOW, endAt: '2026-03-09T08:00:00Z' };
  const second = { scheduleId, userId: bram.userId, startAt: '2026-03-09T08:00:00Z', endAt: '2026-03-16T08:00:00Z' };
  const before = await run(getOnCallTimeline, MARCH);
  const made = await run(swapShifts, { first, second });
  expect(made).toMatchObject({ first: { userId: bram.userId }, second: { userId: anna.userId } });
  const swapped = await run(getOnCallTimeline, MARCH);
  expect(swapped.schedules[0].onCall).toMatchObject({ userIds: [bram.userId], source: 'override' });
  await expect(run(swapShifts, { first, second })).rejects.toMatchObject({ code: 'conflict' });

  const undo = { firstOverrideId: made.first.overrideId, secondOverrideId: made.second.overrideId };
  const half = { ...undo, secondOverrideId: 'override_00000000000000000000000000' };
  await expect(run(undoShiftSwap, half)).rejects.toMatchObject({ code: 'not_found' });
  expect((await run(getOnCallTimeline, MARCH)).schedules).toEqual(swapped.schedules);
  await run(undoShiftSwap, undo);
  expect((await run(getOnCallTimeline, MARCH)).schedules).toEqual(before.schedules);
  const audited = await w.context.db.sql.rows<{ action: string }>(
    `select action from audit_log where action in ('swap_shifts', 'undo_shift_swap') and result = 'done' order by at, id`,
  );
  expect(audited.map(({ action }) => action)).toEqual([
    'swap_shifts',
    'swap_shifts',
    'undo_shift_swap',
    'undo_shift_swap',
  ]);
});

test('a swap changes nothing when one side is refused', async () => {
  const { anna, scheduleId, run } = await givenSchedule();
  const first = { scheduleId, userId: anna.userId, startAt: NOW, endAt: '2026-03-09T08:00:00Z' };
  const second = { ...first, startAt: '2026-03-09T08:00:00Z', endAt: '2026-03-16T08:00:00Z' };
  const isRefused = async (swap: object, error: object) => {
    await expect(run(swapShifts, swap)).rejects.toMatchObject(error);
    expect((await run(getOnCallTimeline, MARCH)).schedules[0].overrides).toEqual([]);
  };
  await isRefused({ first, second }, { faults: [{ path: 'second.userId' }] });
  await isRefused({ first, second: { ...second, userId: UNKNOWN_USER } }, { code: 'not_found' });
  await isRefused({ first, second: { ...second, endAt: second.startAt } }, { faults: [{ path: 'second.endAt' }] });
  await isRefused(
    { first, second: { ...second, endAt: '2027-06-01T00:00:00Z' } },
    { faults: [{ path: 'second.endAt' }] },
  );
});

test('the schedules of a person are those that name them, in an override of another team too', async () => {
  const { w, cleo, scheduleId, run } = await givenSchedule();
  const mine = async () => await run(getOnCallTimeline, { ...MARCH, userId: cleo.userId });
  expect(await mine()).toMatchObject({ schedules: [], total: 0, scheduleCount: 1 });
  await w.expectOk('create_schedule_override', {
    scheduleId,
    userId: cleo.userId,
    startAt: '2026-03-20T18:00:00Z',
    endAt: '2026-03-21T08:00:00Z',
  });
  expect(await mine()).toMatchObject({ schedules: [{ scheduleId }], total: 1 });
  expect(
    await run(getOnCallTimeline, { from: '2026-04-01T00:00:00Z', to: '2026-05-01T00:00:00Z', userId: cleo.userId }),
  ).toMatchObject({ total: 0 });
});
