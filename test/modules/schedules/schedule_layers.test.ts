import { expect, test } from 'vitest';

import type { AnyOperation } from '#actions/action_context.ts';
import { getOnCallTimeline } from '#modules/schedules/operations/get_on_call_timeline.ts';
import { createLayerOverride } from '#modules/schedules/operations/create_schedule_override.ts';
import { createHolidayCalendar, deleteHolidayCalendar } from '#modules/schedules/operations/holiday_calendars.ts';
import {
  duplicateSchedule,
  previewScheduleLayers,
  setScheduleLayers,
} from '#modules/schedules/operations/schedule_layers.ts';
import { givenTeam, UNKNOWN_USER } from '#test/modules/schedules/given_team.ts';
import { memberCaller, runOperation } from '#test/kit/run_operation.ts';
import { fileWorld } from '#test/kit/world.ts';

const shared = await fileWorld();

const WEEK = { every: 1, unit: 'weeks' };
const NIGHTS = [1, 2, 3, 4, 5, 6, 7].map((day) => {
  return { fromDay: day, from: '22:00', toDay: (day % 7) + 1, to: '06:00' };
});

/** A weekly rotation of two from Monday at 09:00 in Amsterdam. Now is Wednesday the 4th of March, 13:00 there. */
async function givenSchedule() {
  const team = await givenTeam(shared);
  const { w, teamId, anna, bram, cleo } = team;
  const { scheduleId, updatedAt } = await w.expectOk('create_schedule', {
    teamId,
    name: 'Primary',
    timezone: 'Europe/Amsterdam',
    rotationConfig: { userIds: [anna.userId, bram.userId] },
    startAt: '2026-03-02T09:00',
  });
  const run = (operation: AnyOperation, input: object) =>
    runOperation(w, operation, memberCaller(w.orgId, cleo.userId, 'responder'), input);
  const turnsOf = (...people: { userId: string }[][]) =>
    people.map((turn) => ({ userIds: turn.map(({ userId }) => userId) }));
  const rotation = { layerId: 'rotation', name: 'Days', rotation: WEEK, turns: turnsOf([anna], [bram]) };
  const nights = { name: 'Nights', rotation: WEEK, turns: turnsOf([bram, cleo]), hours: NIGHTS };
  const change = { scheduleId, name: 'Primary', timezone: 'Europe/Amsterdam' };
  return { ...team, scheduleId, change, readAt: updatedAt as string, run, rotation, nights, turnsOf };
}

const whoIsOnCall = async (w: Awaited<ReturnType<typeof givenSchedule>>['w'], teamId: string) =>
  (await w.expectOk('who_is_on_call', { teamId })).schedules[0];

test('a night layer of two goes over the rotation, and everything says so', async () => {
  const { w, teamId, anna, bram, cleo, scheduleId, change, readAt, run, rotation, nights } = await givenSchedule();
  const saved = await run(setScheduleLayers, { ...change, readAt, layers: [rotation, nights] });
  expect(saved.layers).toMatchObject([
    { layerId: 'rotation', name: 'Days' },
    { name: 'Nights', hours: NIGHTS },
  ]);
  expect(await whoIsOnCall(w, teamId)).toMatchObject({
    onCall: { userId: anna.userId },
    others: [],
    layer: 'Days',
    until: '2026-03-04T21:00:00.000Z',
    next: { userId: bram.userId, others: [{ userId: cleo.userId }], at: '2026-03-04T21:00:00.000Z' },
  });
  w.clock.set('2026-03-04T23:30:00Z');
  const team = await w.expectOk('who_is_on_call', { teamId });
  expect(team.onCall.map(({ userId }: { userId: string }) => userId)).toEqual([bram.userId, cleo.userId]);
  expect(team.schedules[0]).toMatchObject({ layer: 'Nights', others: [{ userId: cleo.userId }] });
  const { schedules } = await run(getOnCallTimeline, { from: '2026-03-04T12:00:00Z', to: '2026-03-05T12:00:00Z' });
  expect(schedules[0].shifts.map(({ userIds }: { userIds: string[] }) => userIds)).toEqual([
    [anna.userId],
    [bram.userId, cleo.userId],
    [anna.userId],
  ]);
  const simulated = await w.expectOk('list_teams');
  expect(simulated.teams[0].schedules[0].layers).toHaveLength(2);
  expect((await w.expectOk('update_schedule', { scheduleId, name: 'First' })).layers).toHaveLength(2);
});

test('an override for a layer replaces it within its hours only', async () => {
  const { w, teamId, anna, scheduleId, change, readAt, run, rotation, nights } = await givenSchedule();
  const { layers } = await run(setScheduleLayers, { ...change, readAt, layers: [rotation, nights] });
  const window = { startAt: '2026-03-04T12:00', endAt: '2026-03-06T12:00' };
  const made = { scheduleId, layerId: layers[1].layerId, userId: anna.userId, ...window };
  const { overrideId } = await run(createLayerOverride, made);
  expect(await whoIsOnCall(w, teamId)).toMatchObject({ source: 'rotation', layer: 'Days', overrideId: null });
  w.clock.set('2026-03-05T00:00:00Z');
  expect(await whoIsOnCall(w, teamId)).toMatchObject({
    onCall: { userId: anna.userId },
    source: 'override',
    layer: 'Nights',
    overrideId,
  });
  await expect(run(createLayerOverride, { ...made, layerId: 'layer_x' })).rejects.toMatchObject({ code: 'not_found' });
});

test('a gap is said until when, and by home and readiness', async () => {
  const { w, teamId, anna, change, readAt, run, rotation } = await givenSchedule();
  const hours = [{ fromDay: 1, from: '09:00', toDay: 1, to: '17:00' }];
  await run(setScheduleLayers, { ...change, readAt, layers: [{ ...rotation, hours }] });
  const { schedules, warnings } = await w.expectOk('who_is_on_call', { teamId });
  expect(schedules[0]).toMatchObject({
    onCall: null,
    since: null,
    until: '2026-03-09T08:00:00.000Z',
    next: { at: '2026-03-09T08:00:00.000Z' },
  });
  expect(schedules[0].next.userId).not.toBe(anna.userId);
  expect(warnings.map(({ kind }: { kind: string }) => kind)).toContain('schedule_gap');
});

test('a start that the clocks skip keeps its time of the day in its own zone, and as it is written', async () => {
  const { w, teamId, anna, bram, change, run, rotation } = await givenSchedule();
  const daily = { ...rotation, rotation: { every: 1, unit: 'days' } };
  const { scheduleId, updatedAt } = await w.expectOk('create_schedule', {
    teamId,
    name: 'Nights',
    timezone: change.timezone,
    rotationType: 'daily',
    rotationConfig: { userIds: [anna.userId, bram.userId] },
    startAt: '2026-03-29T02:30',
  });
  let readAt = updatedAt as string;
  const handOver = async (timezone: string, startsAt: string) => {
    const saved = await run(setScheduleLayers, {
      scheduleId,
      name: 'Nights',
      timezone,
      readAt,
      layers: [{ ...daily, startsAt }],
    });
    readAt = saved.updatedAt;
    const { schedules } = await run(getOnCallTimeline, { from: '2026-04-01T12:00:00Z', to: '2026-04-02T12:00:00Z' });
    return schedules.find((other: { scheduleId: string }) => other.scheduleId === scheduleId).shifts[1].since;
  };
  expect(await handOver('Europe/Amsterdam', '2026-03-29T01:30:00Z')).toBe('2026-04-02T00:30:00.000Z');
  expect(await handOver('Europe/Amsterdam', '2026-03-29T03:30')).toBe('2026-04-02T01:30:00.000Z');
  expect(await handOver('Europe/Amsterdam', '2026-03-29T02:30')).toBe('2026-04-02T00:30:00.000Z');
  expect(await handOver('America/New_York', '2026-03-29T01:30:00Z')).toBe('2026-04-02T01:30:00.000Z');
});

test('a new zone moves the local time of hand-overs of every layer, which stay where they are', async () => {
  const { w, bram, cleo, scheduleId, change, readAt, run, rotation, turnsOf } = await givenSchedule();
  const upper = { name: 'Above', rotation: { every: 1, unit: 'days' }, turns: turnsOf([bram], [cleo]) };
  const layers = [rotation, { ...upper, startsAt: '2026-03-29T02:30' }];
  await run(setScheduleLayers, { ...change, readAt, layers });
  await w.expectOk('update_schedule', { scheduleId, timezone: 'America/New_York' });
  const { schedules } = await run(getOnCallTimeline, { from: '2026-04-01T12:00:00Z', to: '2026-04-02T12:00:00Z' });
  expect(schedules[0].shifts[1].since).toBe('2026-04-02T01:30:00.000Z');
});

test('the present turn stays when people and the length of turns change, unless that is asked for', async () => {
  const { w, teamId, anna, bram, cleo, change, readAt, run, rotation, turnsOf } = await givenSchedule();
  const daily = { ...rotation, rotation: { every: 1, unit: 'days' }, turns: turnsOf([cleo], [bram], [anna]) };
  const preview = await run(previewScheduleLayers, {
    scheduleId: change.scheduleId,
    timezone: change.timezone,
    from: '2026-03-04T12:00:00Z',
    weeks: 2,
    layers: [daily],
  });
  expect(preview.layers[0].turnChanges).toBe(false);
  expect(preview.changes[0]).toMatchObject({ since: '2026-03-09T08:00:00.000Z', before: [bram.userId] });
  const asked = { ...change, readAt, layers: [daily], keepTurns: false };
  w.clock.advance({ minutes: 1 });
  const saved = await run(setScheduleLayers, { ...change, readAt, layers: [daily] });
  expect(saved.layers[0].keptUntil).toBe('2026-03-09T08:00:00.000Z');
  expect(await whoIsOnCall(w, teamId)).toMatchObject({
    onCall: { userId: anna.userId },
    since: '2026-03-02T08:00:00.000Z',
    until: '2026-03-09T08:00:00.000Z',
    next: { userId: cleo.userId },
  });
  const { schedules } = await run(getOnCallTimeline, { from: preview.from, to: preview.to });
  expect(schedules[0].shifts).toEqual(preview.shifts);
  const { scheduleId, rotationType, rotationConfig } = saved;
  const sameAgain = await w.expectOk('update_schedule', { scheduleId, rotationType, rotationConfig });
  expect([sameAgain.updatedAt, sameAgain.layers]).toEqual([saved.updatedAt, saved.layers]);
  await expect(run(setScheduleLayers, asked)).rejects.toMatchObject({ code: 'conflict' });
  await run(setScheduleLayers, { ...asked, readAt: saved.updatedAt });
});

test('a holiday switches a layer off', async () => {
  const { w, teamId, change, readAt, run, rotation } = await givenSchedule();
  const calendar = await run(createHolidayCalendar, { name: 'Holidays', dates: ['2026-03-05'] });
  const holidays = { calendarId: calendar.calendarId, on: 'silent' };
  await run(setScheduleLayers, { ...change, readAt, layers: [{ ...rotation, holidays }] });
  expect(await whoIsOnCall(w, teamId)).toMatchObject({ until: '2026-03-04T23:00:00.000Z' });
  w.clock.set('2026-03-05T10:00:00Z');
  expect(await whoIsOnCall(w, teamId)).toMatchObject({ onCall: null, until: '2026-03-05T23:00:00.000Z' });
  // It was set on purpose: shown as what it is, and nobody is warned.
  const holiday = { since: '2026-03-04T23:00:00.000Z', until: '2026-03-05T23:00:00.000Z' };
  const shown = { from: '2026-03-03T00:00:00Z', to: '2026-03-31T00:00:00Z' };
  const [schedule] = (await run(getOnCallTimeline, shown)).schedules;
  expect(schedule).toMatchObject({ holidays: [holiday], gaps: [], gapCount: 0 });
  const layers = [{ ...rotation, holidays }];
  const preview = { scheduleId: change.scheduleId, timezone: change.timezone, from: shown.from, weeks: 4, layers };
  expect(await run(previewScheduleLayers, preview)).toMatchObject({ holidays: [holiday], gaps: [] });
  const { warnings } = await w.expectOk('who_is_on_call', { teamId });
  expect(warnings.map(({ kind }: { kind: string }) => kind)).not.toContain('schedule_gap');
  await expect(run(deleteHolidayCalendar, calendar)).rejects.toMatchObject({ code: 'invalid_input' });
  const remove = run(deleteHolidayCalendar, { calendarId: calendar.calendarId });
  await expect(remove).rejects.toMatchObject({ code: 'conflict' });
});

test('what the rotation cannot say is refused by the contract’s action, with what to do', async () => {
  const { w, anna, bram, scheduleId, change, readAt, run, rotation, turnsOf } = await givenSchedule();
  const layers = [{ ...rotation, rotation: { every: 1, unit: 'months' }, turns: turnsOf([anna, bram], []) }];
  const saved = await run(setScheduleLayers, { ...change, readAt, layers });
  expect(saved).toMatchObject({
    rotationConfig: { userIds: [anna.userId, bram.userId] },
    layers: [{ rotation: { every: 1, unit: 'months' } }],
  });
  const refused = await w.call('update_schedule', { scheduleId, rotationConfig: { userIds: [anna.userId] } });
  expect([refused.status, JSON.stringify(refused.body)]).toEqual([409, expect.stringContaining('Layers')]);
  expect((await w.expectOk('update_schedule', { scheduleId, name: 'Months' })).layers).toHaveLength(1);
});

const FAULTS: [Record<string, unknown>, string, string][] = [
  [{ timezone: 'Mars/Olympus' }, 'invalid_input', 'timezone'],
  [{ nights: { turns: [] } }, 'invalid_input', 'layers[1].turns'],
  [{ nights: { turns: [{ userIds: [] }] } }, 'invalid_input', 'layers[1].turns'],
  [{ nights: { hours: [] } }, 'invalid_input', 'layers[1].hours'],
  [{ nights: { turns: [{ userIds: [UNKNOWN_USER] }] } }, 'not_found', 'layers[1].turns[0].userIds[0]'],
  [{ nights: { layerId: 'layer_x' } }, 'not_found', 'layers[1].layerId'],
  [{ nights: { endsAt: '2026-03-01T00:00' } }, 'invalid_input', 'layers[1].endsAt'],
  [{ nights: { holidays: { calendarId: 'calendar_x', on: 'silent' } } }, 'not_found', 'layers[1].holidays.calendarId'],
  [{ count: 10 }, 'invalid_input', 'layers'],
  [{ never: true }, 'invalid_input', 'layers[1].hours'],
];

test.each(FAULTS)('layers with %j are refused', async (fault, code, path) => {
  const { change, readAt, run, rotation, nights, anna, turnsOf } = await givenSchedule();
  const { nights: changes = {}, count = 1, never, ...others } = fault;
  const wrong = never
    ? {
        ...nights,
        rotation: { every: 1, unit: 'days' },
        turns: turnsOf([anna], [], [], [], [], [], []),
        startsAt: '2026-03-02T00:00',
        hours: [{ fromDay: 2, from: '09:00', toDay: 2, to: '17:00' }],
      }
    : { ...nights, ...(changes as object) };
  const layers = [rotation, ...Array.from({ length: Number(count) }, () => wrong)];
  const refused = run(setScheduleLayers, { ...change, readAt, ...others, layers });
  await expect(refused).rejects.toMatchObject({ code, faults: [{ path }] });
});

test('a duplicate is a secondary: whose turn follows on each layer, with its own layers and no overrides', async () => {
  const { w, teamId, anna, bram, cleo, scheduleId, change, readAt, run, rotation, nights, turnsOf } =
    await givenSchedule();
  const byTurns = { ...nights, turns: turnsOf([cleo], [anna]), startsAt: '2026-03-02T09:00' };
  const saved = await run(setScheduleLayers, { ...change, readAt, layers: [rotation, byTurns] });
  const window = { startAt: '2026-03-04T12:00:00Z', endAt: '2026-03-04T14:00:00Z' };
  await w.expectOk('create_schedule_override', { scheduleId, userId: cleo.userId, ...window });
  const copy = await run(duplicateSchedule, { scheduleId, name: 'Secondary' });
  expect(copy).toMatchObject({
    teamId,
    name: 'Secondary',
    timezone: 'Europe/Amsterdam',
    rotationType: 'weekly',
    rotationConfig: { userIds: [bram.userId, anna.userId] },
    layers: [{ name: 'Days' }, { name: 'Nights', hours: NIGHTS, turns: turnsOf([anna], [cleo]) }],
  });
  expect(copy.layers[1].layerId).not.toBe(saved.layers[1].layerId);
  const { schedules } = await w.expectOk('who_is_on_call', { teamId });
  expect(schedules).toMatchObject([
    { name: 'Primary', onCall: { userId: cleo.userId }, source: 'override' },
    { name: 'Secondary', onCall: { userId: bram.userId }, source: 'rotation' },
  ]);
  await expect(run(duplicateSchedule, { scheduleId: 'schedule_0', name: 'Secondary' })).rejects.toMatchObject({
    code: 'not_found',
  });
});
