import { expect, test } from 'vitest';

import { toTimestamp } from '#kernel/time.ts';
import { storesOf } from '#storage/postgres/stores.ts';
import { givenPerson, signedIn } from '#test/kit/browser.ts';
import { world, type World } from '#test/kit/world.ts';

const NOBODY = 'user_00000000000000000000000000';

/** A Wednesday. */
const NOW = '2026-03-04T12:00:00Z';

async function team(w: World) {
  w.clock.set(NOW);
  const { teamId } = await w.expectOk('create_team', { name: 'Payments' });
  const [anna, bram, cleo] = await Promise.all(['Anna', 'Bram', 'Cleo'].map((name) => w.given.user({ name })));
  return { teamId: teamId as string, anna: anna!, bram: bram!, cleo: cleo! };
}

function person({ userId, name, email }: { userId: string; name: string; email: string }) {
  return { userId, name, email };
}

function pathsOf(answer: { body: { errors: { path: string }[] } }): string[] {
  return answer.body.errors.map(({ path }) => path).sort();
}

test('a schedule comes back as it was given', async () => {
  const w = await world();
  const { teamId, anna, bram } = await team(w);
  const rotationConfig = { userIds: [bram.userId, anna.userId, bram.userId], shiftHours: 12 };
  const schedule = await w.expectOk('create_schedule', {
    teamId,
    name: 'Primary',
    timezone: 'Europe/Amsterdam',
    rotationType: 'daily',
    rotationConfig,
    startAt: '2026-03-01T09:00',
  });
  expect(schedule).toEqual({
    scheduleId: expect.stringMatching(/^schedule_/),
    teamId,
    name: 'Primary',
    timezone: 'Europe/Amsterdam',
    rotationType: 'daily',
    rotationConfig,
    startAt: '2026-03-01T08:00:00.000Z',
    createdAt: '2026-03-04T12:00:00.000Z',
    updatedAt: '2026-03-04T12:00:00.000Z',
  });
  expect((await w.expectOk('list_teams')).teams[0].schedules).toEqual([schedule]);
});

test('what a new schedule leaves out is UTC, weekly, nobody and now', async () => {
  const w = await world();
  const { teamId, anna } = await team(w);
  expect(await w.expectOk('create_schedule', { teamId, name: 'Empty' })).toMatchObject({
    timezone: 'UTC',
    rotationType: 'weekly',
    rotationConfig: { userIds: [] },
    startAt: '2026-03-04T12:00:00.000Z',
  });
  const rotationConfig = { userIds: [anna.userId] };
  const schedule = await w.expectOk('create_schedule', { teamId, name: 'Anna', rotationConfig, startAt: null });
  expect(schedule.startAt).toBe('2026-03-04T12:00:00.000Z');
  expect(schedule.rotationConfig).toEqual(rotationConfig);
});

test('startAt is an instant, a local time in the timezone, or epoch milliseconds', async () => {
  const w = await world();
  const { teamId } = await team(w);
  const startOf = async (startAt: unknown) =>
    (await w.expectOk('create_schedule', { teamId, name: 'x', timezone: 'America/New_York', startAt })).startAt;
  expect(await startOf('2026-07-01T09:00:00+02:00')).toBe('2026-07-01T07:00:00.000Z');
  expect(await startOf('2026-07-01T09:00')).toBe('2026-07-01T13:00:00.000Z');
  expect(await startOf(1_772_352_000_123)).toBe('2026-03-01T08:00:00.123Z');
  // 02:30 does not exist that day.
  expect(await startOf('2026-03-08T02:30')).toBe('2026-03-08T07:30:00.000Z');
});

test('shiftHours takes every integer of the contract exactly, and nothing beyond', async () => {
  const w = await world();
  const { teamId, anna } = await team(w);
  const create = (shiftHours: unknown) =>
    w.call('create_schedule', { teamId, name: 'x', rotationConfig: { userIds: [anna.userId], shiftHours } });
  for (const shiftHours of [Number.MIN_SAFE_INTEGER, -1, 0, 1, Number.MAX_SAFE_INTEGER]) {
    const { body } = await create(shiftHours);
    expect(body.result.rotationConfig).toEqual({ userIds: [anna.userId], shiftHours });
  }
  for (const shiftHours of [Number.MAX_SAFE_INTEGER + 1, Number.MIN_SAFE_INTEGER - 1, 1.5, '8', null]) {
    expect(pathsOf(await create(shiftHours))).toEqual(['rotationConfig.shiftHours']);
  }
  expect(await w.expectOk('who_is_on_call', { teamId })).toMatchObject({ onCall: [person(anna)] });
});

test('every fault of a schedule is named at once: first of its shape, then of its meaning', async () => {
  const w = await world();
  const shape = await w.call('create_schedule', {
    teamId: 7,
    name: ' ',
    timezone: 1,
    rotationType: 'monthly',
    rotationConfig: { shiftHours: 1.5, userId: 'x' },
    endAt: 1,
  });
  expect(shape.status).toBe(400);
  expect(pathsOf(shape)).toEqual([
    'endAt',
    'name',
    'rotationConfig.shiftHours',
    'rotationConfig.userId',
    'rotationConfig.userIds',
    'rotationType',
    'teamId',
    'timezone',
  ]);
  const meaning = await w.call('create_schedule', {
    teamId: 'nowhere',
    name: 'x',
    timezone: 'Europe/Atlantis',
    startAt: 'tomorrow',
    rotationConfig: { userIds: [NOBODY] },
  });
  expect(meaning.status).toBe(400);
  expect(pathsOf(meaning)).toEqual(['startAt', 'timezone']);
});

test('users of a rotation who are not of the organization are named, each by its path', async () => {
  const w = await world();
  const { teamId, anna } = await team(w);
  const other = await w.given.organization('Other');
  const rotationConfig = { userIds: [NOBODY, anna.userId, other.owner.userId] };
  const paths = ['rotationConfig.userIds[0]', 'rotationConfig.userIds[2]'];
  const created = await w.call('create_schedule', { teamId, name: 'x', rotationConfig });
  expect(created).toMatchObject({ status: 404, body: { code: 'not_found' } });
  expect(pathsOf(created)).toEqual(paths);
  const { scheduleId } = await w.expectOk('create_schedule', { teamId, name: 'x' });
  const updated = await w.call('update_schedule', { scheduleId, name: 'y', rotationConfig });
  expect(updated.status).toBe(404);
  expect(pathsOf(updated)).toEqual(paths);
  expect((await w.expectOk('list_teams')).teams[0].schedules).toMatchObject([{ name: 'x' }]);
});

test('an update changes what it names, and without a change nothing', async () => {
  const w = await world();
  const { teamId, anna, bram } = await team(w);
  const rotationConfig = { userIds: [anna.userId], shiftHours: 12 };
  const schedule = await w.expectOk('create_schedule', { teamId, name: 'Primary', rotationConfig });
  const { scheduleId } = schedule;
  w.clock.advance({ minutes: 1 });
  const sameAgain = { scheduleId, name: 'Primary', timezone: 'utc', rotationType: 'weekly', rotationConfig };
  expect(await w.expectOk('update_schedule', sameAgain)).toEqual(schedule);
  expect(await w.expectOk('update_schedule', { scheduleId })).toEqual(schedule);
  expect(await w.expectOk('update_schedule', { scheduleId, rotationConfig: { userIds: [bram.userId] } })).toEqual({
    ...schedule,
    rotationConfig: { userIds: [bram.userId] },
    updatedAt: '2026-03-04T12:01:00.000Z',
  });
  const entries = await w.house.db.sql.rows('select action from audit_log where target = $1 order by id', [scheduleId]);
  expect(entries).toEqual([{ action: 'create_schedule' }, { action: 'update_schedule' }]);
});

test('concurrent updates of different fields of a schedule are all kept', async () => {
  const w = await world();
  const { teamId, anna } = await team(w);
  const { scheduleId } = await w.expectOk('create_schedule', { teamId, name: 'Primary' });
  const changes = [
    { name: 'Secondary' },
    { timezone: 'Europe/Amsterdam' },
    { rotationType: 'daily' },
    { rotationConfig: { userIds: [anna.userId] } },
  ];
  await Promise.all(changes.map((change) => w.expectOk('update_schedule', { scheduleId, ...change })));
  expect((await w.expectOk('list_teams')).teams[0].schedules).toMatchObject([Object.assign({}, ...changes)]);
});

test('a schedule of another organization is not there', async () => {
  const w = await world();
  const { teamId } = await team(w);
  const { scheduleId } = await w.expectOk('create_schedule', { teamId, name: 'Primary' });
  const other = await w.given.organization('Other');
  const window = { userId: other.owner.userId, startAt: NOW, endAt: '2026-03-05T12:00:00Z' };
  const attempts: [string, object][] = [
    ['update_schedule', {}],
    ['delete_schedule', {}],
    ['create_schedule_override', window],
  ];
  for (const [action, body] of attempts) {
    const foreign = await w.call(action, { scheduleId, ...body }, { key: other.orgKey });
    const missing = await w.call(action, { scheduleId: 'nothing', ...body }, { key: other.orgKey });
    expect({ action, ...foreign }).toMatchObject({ action, status: 404, body: { errors: [{ path: 'scheduleId' }] } });
    expect({ ...foreign.body, requestId: '' }).toEqual({ ...missing.body, requestId: '' });
  }
});

test('a deleted schedule is gone with its overrides', async () => {
  const w = await world();
  const { teamId, anna } = await team(w);
  const { scheduleId } = await w.expectOk('create_schedule', { teamId, name: 'Primary' });
  const window = { userId: anna.userId, startAt: NOW, endAt: '2026-03-05T12:00:00Z' };
  await w.expectOk('create_schedule_override', { scheduleId, ...window });
  expect(await w.expectOk('delete_schedule', { scheduleId })).toEqual({ deleted: true, scheduleId });
  expect((await w.call('delete_schedule', { scheduleId })).status).toBe(404);
  expect(await w.expectOk('who_is_on_call', { teamId })).toMatchObject({ onCall: [], schedules: [] });
});

test('an override needs an end after its start, a schedule and a user, in this order', async () => {
  const w = await world();
  const { teamId, anna } = await team(w);
  const { scheduleId } = await w.expectOk('create_schedule', { teamId, name: 'x', timezone: 'Europe/Amsterdam' });
  const override = (body: object) =>
    w.call('create_schedule_override', { scheduleId, userId: anna.userId, startAt: NOW, endAt: NOW, ...body });

  expect(pathsOf(await w.call('create_schedule_override', {}))).toEqual(['endAt', 'scheduleId', 'startAt', 'userId']);
  expect(pathsOf(await override({ startAt: null, endAt: 'later', scheduleId: 'x' }))).toEqual(['endAt', 'startAt']);
  expect(pathsOf(await override({}))).toEqual(['endAt']);
  // 13:00 in Amsterdam is 12:00 in UTC.
  expect(pathsOf(await override({ endAt: '2026-03-04T13:00' }))).toEqual(['endAt']);
  const later = { endAt: '2026-03-04T13:01' };
  expect(await override({ ...later, scheduleId: 'x', userId: NOBODY })).toMatchObject({
    status: 404,
    body: { errors: [{ path: 'scheduleId' }] },
  });
  expect(await override({ ...later, userId: NOBODY })).toMatchObject({
    status: 404,
    body: { errors: [{ path: 'userId' }] },
  });
  expect((await override(later)).body.result).toEqual({
    overrideId: expect.stringMatching(/^override_/),
    scheduleId,
    userId: anna.userId,
    startAt: '2026-03-04T12:00:00.000Z',
    endAt: '2026-03-04T12:01:00.000Z',
  });
});

test('who_is_on_call tells the turn, its limits and who follows', async () => {
  const w = await world();
  const { teamId, anna, bram } = await team(w);
  const { scheduleId } = await w.expectOk('create_schedule', {
    teamId,
    name: 'Primary',
    timezone: 'Europe/Amsterdam',
    rotationType: 'weekly',
    rotationConfig: { userIds: [anna.userId, bram.userId] },
    startAt: '2026-03-02T09:00',
  });
  expect(await w.expectOk('who_is_on_call', { teamId })).toEqual({
    teamId,
    at: '2026-03-04T12:00:00.000Z',
    onCall: [person(anna)],
    schedules: [
      {
        scheduleId,
        name: 'Primary',
        timezone: 'Europe/Amsterdam',
        onCall: person(anna),
        source: 'rotation',
        overrideId: null,
        since: '2026-03-02T08:00:00.000Z',
        until: '2026-03-09T08:00:00.000Z',
        next: { ...person(bram), at: '2026-03-09T08:00:00.000Z' },
      },
    ],
    warnings: expect.any(Array),
  });
  w.clock.set('2026-03-09T08:00:00Z');
  expect((await w.expectOk('who_is_on_call', { teamId })).onCall).toEqual([person(bram)]);
});

test('a 09:00 hand-over stays at 09:00 when the clocks change', async () => {
  const w = await world();
  const { teamId, anna, bram } = await team(w);
  await w.expectOk('create_schedule', {
    teamId,
    name: 'Primary',
    timezone: 'Europe/Amsterdam',
    rotationType: 'daily',
    rotationConfig: { userIds: [anna.userId, bram.userId] },
    startAt: '2026-03-28T09:00',
  });
  w.clock.set('2026-03-28T12:00:00Z');
  expect((await w.expectOk('who_is_on_call', { teamId })).schedules[0]).toMatchObject({
    since: '2026-03-28T08:00:00.000Z',
    until: '2026-03-29T07:00:00.000Z',
  });
});

test('nobody is on call before the start of a schedule', async () => {
  const w = await world();
  const { teamId, anna } = await team(w);
  await w.expectOk('create_schedule', {
    teamId,
    name: 'Later',
    rotationConfig: { userIds: [anna.userId] },
    startAt: '2026-03-10T09:00:00Z',
  });
  expect(await w.expectOk('who_is_on_call', { teamId })).toMatchObject({
    onCall: [],
    schedules: [
      {
        onCall: null,
        source: null,
        overrideId: null,
        since: null,
        until: null,
        next: { ...person(anna), at: '2026-03-10T09:00:00.000Z' },
      },
    ],
  });
});

test('an override replaces the rotation for its window, and the one created last wins', async () => {
  const w = await world();
  const { teamId, anna, bram, cleo } = await team(w);
  const { scheduleId } = await w.expectOk('create_schedule', {
    teamId,
    name: 'Primary',
    rotationConfig: { userIds: [anna.userId] },
    startAt: '2026-03-02T09:00:00Z',
  });
  const override = (userId: string, startAt: string, endAt: string) =>
    w.expectOk('create_schedule_override', { scheduleId, userId, startAt, endAt });
  await override(bram.userId, '2026-03-04T10:00', '2026-03-04T16:00');
  const { overrideId } = await override(cleo.userId, '2026-03-04T11:00', '2026-03-04T14:00');
  const [schedule] = (await w.expectOk('who_is_on_call', { teamId })).schedules;
  expect(schedule).toMatchObject({
    onCall: person(cleo),
    source: 'override',
    overrideId,
    since: '2026-03-04T11:00:00.000Z',
    until: '2026-03-04T14:00:00.000Z',
    next: { ...person(bram), at: '2026-03-04T14:00:00.000Z' },
  });
  w.clock.set('2026-03-04T16:00:00Z');
  expect((await w.expectOk('who_is_on_call', { teamId })).schedules[0]).toMatchObject({
    onCall: person(anna),
    source: 'rotation',
    overrideId: null,
    since: '2026-03-04T16:00:00.000Z',
    until: null,
    next: null,
  });
});

test('an override that is removed in the console gives the turn back at once, and the audit log keeps what it was', async () => {
  const w = await world();
  const { teamId, anna, bram } = await team(w);
  const { scheduleId } = await w.expectOk('create_schedule', {
    teamId,
    name: 'Primary',
    rotationConfig: { userIds: [anna.userId] },
  });
  const now = w.clock.now();
  const override = await w.expectOk('create_schedule_override', {
    scheduleId,
    userId: bram.userId,
    startAt: toTimestamp(now),
    endAt: toTimestamp(now.add({ hours: 4 })),
  });
  const { email } = await givenPerson(w, { role: 'responder' });
  const browser = await signedIn(w, email);
  const { overrideId } = override;
  const remove = () => browser.post(`/organizations/${w.orgId}/actions/delete_schedule_override`, { overrideId });
  expect((await remove()).body.result).toEqual({ deleted: true, overrideId });
  expect((await w.expectOk('who_is_on_call', { teamId })).onCall).toEqual([person(anna)]);
  expect((await remove()).status).toBe(404);
  const audited = await w.house.db.sql.rows(
    `select action, before, after, result from audit_log where target = $1 order by at desc, id desc limit 1`,
    [overrideId],
  );
  expect(audited).toEqual([{ action: 'delete_schedule_override', before: override, after: null, result: 'done' }]);
});

test('somebody who has left the organization is passed over, in rotation and override', async () => {
  const w = await world();
  const { teamId, anna, bram, cleo } = await team(w);
  const rotationConfig = { userIds: [anna.userId, bram.userId] };
  const { scheduleId } = await w.expectOk('create_schedule', { teamId, name: 'Primary', rotationConfig });
  await w.expectOk('create_schedule_override', {
    scheduleId,
    userId: cleo.userId,
    startAt: NOW,
    endAt: '2026-03-05T12:00:00Z',
  });
  const { people } = storesOf(w.house.db.session());
  await people.removeMembership(w.orgId, cleo.userId);
  expect((await w.expectOk('who_is_on_call', { teamId })).onCall).toEqual([person(anna)]);
  await people.removeMembership(w.orgId, anna.userId);
  expect((await w.expectOk('who_is_on_call', { teamId })).onCall).toEqual([person(bram)]);
  await people.removeMembership(w.orgId, bram.userId);
  expect((await w.expectOk('who_is_on_call', { teamId })).onCall).toEqual([]);
  expect((await w.expectOk('list_teams')).teams[0].schedules).toMatchObject([{ rotationConfig }]);
});

test('the people on call for a team are those of all its schedules, each once', async () => {
  const w = await world();
  const { teamId, anna, bram } = await team(w);
  for (const userIds of [[bram.userId], [anna.userId], [], [bram.userId, anna.userId]]) {
    await w.expectOk('create_schedule', { teamId, name: 'x', rotationConfig: { userIds } });
  }
  const found = await w.expectOk('who_is_on_call', { teamId });
  expect(found.onCall).toEqual([person(bram), person(anna)]);
  expect(found.schedules).toHaveLength(4);
});
