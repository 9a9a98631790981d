import { expect, test } from 'vitest';

import { givenPerson, signedIn } from '#test/kit/programs/browser.ts';
import { fileWorld } from '#test/kit/world.ts';
import { givenTeam, NOW, pathsOf, person, UNKNOWN_USER } from '#test/modules/schedules/given_team.ts';

const shared = await fileWorld();

test('a schedule comes back as it was given', async () => {
  const { w, teamId, anna, bram } = await givenTeam(shared);
  const rotationConfig = { userIds: [bram.userId, anna.userId, bram.userId], shiftHours: 12 };
  const schedule = await w.expectOk('create_schedule', {
    teamId,
    name: 'Primary',
    timezone: 'Europe/Amsterdam',
    rotationType: 'daily',
    rotationConfig,
    startAt: '2026-03-01T09:00',
  });
  const { warnings, ...kept } = schedule;
  expect(warnings).toEqual(['Bram', 'Anna'].map((name) => expect.stringContaining(`Nothing reaches ${name}`)));
  expect(kept).toEqual({
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
  expect((await w.expectOk('list_teams')).teams[0].schedules).toEqual([kept]);
});

test('warnings name people in the order of the rotation', async () => {
  const { w, teamId, anna, bram } = await givenTeam(shared);
  const warningsOf = async (people: readonly { readonly userId: string }[]): Promise<string[]> => {
    const rotationConfig = { userIds: people.map(({ userId }) => userId) };
    return (await w.expectOk('create_schedule', { teamId, name: 'Order', rotationConfig })).warnings;
  };
  const names = (sentences: string[]) => sentences.map((sentence) => /reaches (\w+)/.exec(sentence)?.[1]);
  expect(names(await warningsOf([anna, bram]))).toEqual(['Anna', 'Bram']);
  expect(names(await warningsOf([bram, anna]))).toEqual(['Bram', 'Anna']);
});

test('a new schedule defaults to UTC, weekly, an empty rotation and a start at once', async () => {
  const { w, teamId, anna } = await givenTeam(shared);
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
  const { w, teamId } = await givenTeam(shared);
  const startOf = async (startAt: unknown) =>
    (await w.expectOk('create_schedule', { teamId, name: 'x', timezone: 'America/New_York', startAt })).startAt;
  expect(await startOf('2026-07-01T09:00:00+02:00')).toBe('2026-07-01T07:00:00.000Z');
  expect(await startOf('2026-07-01T09:00')).toBe('2026-07-01T13:00:00.000Z');
  expect(await startOf(1_772_352_000_123)).toBe('2026-03-01T08:00:00.123Z');
  // 02:30 does not exist that day.
  expect(await startOf('2026-03-08T02:30')).toBe('2026-03-08T07:30:00.000Z');
});

test('shiftHours takes every integer of the contract exactly, and nothing beyond', async () => {
  const { w, teamId, anna } = await givenTeam(shared);
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

test('all faults of a schedule are reported together: first of its shape, then of its meaning', async () => {
  const w = await shared.forOrganization();
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
    rotationConfig: { userIds: [UNKNOWN_USER] },
  });
  expect(meaning.status).toBe(400);
  expect(pathsOf(meaning)).toEqual(['startAt', 'timezone']);
});

test('each user of a rotation who is not in the organization is reported with its path', async () => {
  const { w, teamId, anna } = await givenTeam(shared);
  const other = await w.given.organization('Other');
  const rotationConfig = { userIds: [UNKNOWN_USER, anna.userId, other.owner.userId] };
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

test('an update changes only the given fields, and nothing when they are the same', async () => {
  const { w, teamId, anna, bram } = await givenTeam(shared);
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
    warnings: [expect.stringContaining('Nothing reaches Bram')],
  });
  const entries = await w.context.db.sql.rows('select action from audit_log where target = $1 order by id', [
    scheduleId,
  ]);
  expect(entries).toEqual([{ action: 'create_schedule' }, { action: 'update_schedule' }]);
});

test('concurrent updates of different fields of a schedule are all kept', async () => {
  const { w, teamId, anna } = await givenTeam(shared);
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

test('a schedule of another organization is not found', async () => {
  const { w, teamId } = await givenTeam(shared);
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

test('deleting a schedule deletes its overrides', async () => {
  const { w, teamId, anna } = await givenTeam(shared);
  const { scheduleId } = await w.expectOk('create_schedule', { teamId, name: 'Primary' });
  const window = { userId: anna.userId, startAt: NOW, endAt: '2026-03-05T12:00:00Z' };
  await w.expectOk('create_schedule_override', { scheduleId, ...window });
  expect(await w.expectOk('delete_schedule', { scheduleId })).toEqual({ deleted: true, scheduleId });
  expect((await w.call('delete_schedule', { scheduleId })).status).toBe(404);
  expect(await w.expectOk('who_is_on_call', { teamId })).toMatchObject({ onCall: [], schedules: [] });
});

test('a team and its first schedule are created together, or neither is', async () => {
  const w = await shared.forOrganization();
  w.clock.set(NOW);
  const { email, userId } = await givenPerson(w, { role: 'editor', name: 'Anna' });
  const browser = await signedIn(w, email);
  const asked = {
    teamName: 'Payments',
    name: 'Primary',
    timezone: 'Europe/Amsterdam',
    rotationType: 'weekly',
    rotationConfig: { userIds: [userId] },
    startAt: '2026-03-02T09:00',
  };
  const wrong = [
    { ...asked, rotationConfig: { userIds: [UNKNOWN_USER] } },
    { ...asked, timezone: 'Mars/Olympus' },
    { ...asked, startAt: 'soon' },
  ];
  for (const faulty of wrong) {
    expect((await browser.invoke(w.orgId, 'create_team_schedule', faulty)).status).toBeGreaterThanOrEqual(400);
  }
  expect(await w.expectOk('list_teams')).toMatchObject({ teams: [] });

  const { result } = (await browser.invoke(w.orgId, 'create_team_schedule', asked)).body;
  const { teams } = await w.expectOk('list_teams');
  const { warnings, ...schedule } = result;
  expect(warnings).toEqual([expect.stringContaining('Nothing reaches Anna')]);
  expect(teams).toMatchObject([{ name: 'Payments', schedules: [schedule] }]);
  expect(result).toMatchObject({ startAt: '2026-03-02T08:00:00.000Z', rotationConfig: { userIds: [userId] } });
  const changes = await w.context.db.sql.rows('select target from audit_log where action = $1 order by target', [
    'create_team_schedule',
  ]);
  expect(changes).toEqual([{ target: result.scheduleId }, { target: result.teamId }]);
});
