import { expect, test } from 'vitest';

import { storesOf } from '#modules/stores.ts';
import { givenTeam, NOW, person } from '#test/modules/schedules/given_team.ts';
import { fileWorld } from '#test/kit/world.ts';

const shared = await fileWorld();

test('who_is_on_call returns the current shift, its start and end, and the next person', async () => {
  const { w, teamId, anna, bram } = await givenTeam(shared);
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
        others: [],
        layer: null,
        source: 'rotation',
        overrideId: null,
        since: '2026-03-02T08:00:00.000Z',
        until: '2026-03-09T08:00:00.000Z',
        next: { ...person(bram), others: [], at: '2026-03-09T08:00:00.000Z' },
        // Shifts of 28 days: the clocks change in the last week of March.
        shifts: ['03-02T08', '03-09T08', '03-16T08', '03-23T08', '03-30T07'].map((since, turn, all) => ({
          userId: (turn % 2 === 0 ? anna : bram).userId,
          name: turn % 2 === 0 ? 'Anna' : 'Bram',
          since: `2026-${since}:00:00.000Z`,
          until: `2026-${all[turn + 1] ?? '04-06T07'}:00:00.000Z`,
          source: 'rotation',
        })),
        overrides: [],
      },
    ],
    warnings: expect.any(Array),
  });
  w.clock.set('2026-03-09T08:00:00Z');
  expect((await w.expectOk('who_is_on_call', { teamId })).onCall).toEqual([person(bram)]);
});

test('a 09:00 hand-over stays at 09:00 when the clocks change', async () => {
  const { w, teamId, anna, bram } = await givenTeam(shared);
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

test('a schedule has nobody on call before its start', async () => {
  const { w, teamId, anna } = await givenTeam(shared);
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
        until: '2026-03-10T09:00:00.000Z',
        next: { ...person(anna), others: [], at: '2026-03-10T09:00:00.000Z' },
      },
    ],
  });
});

test('somebody who has left the organization is skipped in rotations and overrides', async () => {
  const { w, teamId, anna, bram, cleo } = await givenTeam(shared);
  const rotationConfig = { userIds: [anna.userId, bram.userId] };
  const { scheduleId } = await w.expectOk('create_schedule', { teamId, name: 'Primary', rotationConfig });
  await w.expectOk('create_schedule_override', {
    scheduleId,
    userId: cleo.userId,
    startAt: NOW,
    endAt: '2026-03-05T12:00:00Z',
  });
  const { people } = storesOf(w.context.db.session());
  await people.removeMembership(w.orgId, cleo.userId);
  expect((await w.expectOk('who_is_on_call', { teamId })).onCall).toEqual([person(anna)]);
  await people.removeMembership(w.orgId, anna.userId);
  expect((await w.expectOk('who_is_on_call', { teamId })).onCall).toEqual([person(bram)]);
  await people.removeMembership(w.orgId, bram.userId);
  expect((await w.expectOk('who_is_on_call', { teamId })).onCall).toEqual([]);
  expect((await w.expectOk('list_teams')).teams[0].schedules).toMatchObject([{ rotationConfig }]);
});

test('the people on call for a team are those of all its schedules, each once', async () => {
  const { w, teamId, anna, bram } = await givenTeam(shared);
  for (const userIds of [[bram.userId], [anna.userId], [], [bram.userId, anna.userId]]) {
    await w.expectOk('create_schedule', { teamId, name: 'x', rotationConfig: { userIds } });
  }
  const found = await w.expectOk('who_is_on_call', { teamId });
  expect(found.onCall).toEqual([person(bram), person(anna)]);
  expect(found.schedules).toHaveLength(4);
});
