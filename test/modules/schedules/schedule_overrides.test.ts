import { expect, test } from 'vitest';

import { toTimestamp } from '#kernel/time.ts';
import { givenTeam, NOW, pathsOf, person, UNKNOWN_USER } from '#test/modules/schedules/given_team.ts';
import { givenPerson, signedIn } from '#test/kit/programs/browser.ts';
import { fileWorld } from '#test/kit/world.ts';

const shared = await fileWorld();

test('an override needs an end after its start, a schedule and a user, in this order', async () => {
  const { w, teamId, anna } = await givenTeam(shared);
  const { scheduleId } = await w.expectOk('create_schedule', { teamId, name: 'x', timezone: 'Europe/Amsterdam' });
  const override = (body: object) =>
    w.call('create_schedule_override', { scheduleId, userId: anna.userId, startAt: NOW, endAt: NOW, ...body });

  expect(pathsOf(await w.call('create_schedule_override', {}))).toEqual(['endAt', 'scheduleId', 'startAt', 'userId']);
  expect(pathsOf(await override({ startAt: null, endAt: 'later', scheduleId: 'x' }))).toEqual(['endAt', 'startAt']);
  expect(pathsOf(await override({}))).toEqual(['endAt']);
  // 13:00 in Amsterdam is 12:00 in UTC.
  expect(pathsOf(await override({ endAt: '2026-03-04T13:00' }))).toEqual(['endAt']);
  const later = { endAt: '2026-03-04T13:01' };
  expect(await override({ ...later, scheduleId: 'x', userId: UNKNOWN_USER })).toMatchObject({
    status: 404,
    body: { errors: [{ path: 'scheduleId' }] },
  });
  expect(await override({ ...later, userId: UNKNOWN_USER })).toMatchObject({
    status: 404,
    body: { errors: [{ path: 'userId' }] },
  });
  expect((await override(later)).body.result).toEqual({
    overrideId: expect.stringMatching(/^override_/),
    scheduleId,
    userId: anna.userId,
    startAt: '2026-03-04T12:00:00.000Z',
    endAt: '2026-03-04T12:01:00.000Z',
    warnings: [expect.stringContaining('Nothing reaches Anna')],
  });
});

test('an override replaces the rotation for its window, and the one created last wins', async () => {
  const { w, teamId, anna, bram, cleo } = await givenTeam(shared);
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

test('an override that is removed in the console no longer counts, and the audit log keeps it', async () => {
  const { w, teamId, anna, bram } = await givenTeam(shared);
  const { scheduleId } = await w.expectOk('create_schedule', {
    teamId,
    name: 'Primary',
    rotationConfig: { userIds: [anna.userId] },
  });
  const now = w.clock.now();
  const { warnings, ...override } = await w.expectOk('create_schedule_override', {
    scheduleId,
    userId: bram.userId,
    startAt: toTimestamp(now),
    endAt: toTimestamp(now.add({ hours: 4 })),
  });
  expect(warnings).toEqual([expect.stringContaining('Nothing reaches Bram')]);
  const { email } = await givenPerson(w, { role: 'responder' });
  const browser = await signedIn(w, email);
  const { overrideId } = override;
  const remove = () => browser.post(`/organizations/${w.orgId}/actions/delete_schedule_override`, { overrideId });
  expect((await remove()).body.result).toEqual({ deleted: true, overrideId });
  expect((await w.expectOk('who_is_on_call', { teamId })).onCall).toEqual([person(anna)]);
  expect((await remove()).status).toBe(404);
  const audited = await w.context.db.sql.rows(
    `select action, before, after, result from audit_log where target = $1 order by at desc, id desc limit 1`,
    [overrideId],
  );
  expect(audited).toEqual([{ action: 'delete_schedule_override', before: override, after: null, result: 'done' }]);
});
