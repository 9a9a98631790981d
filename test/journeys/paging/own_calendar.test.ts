import ICAL from 'ical.js';
import { expect, test } from 'vitest';

import {
  getOwnCalendar,
  renewOwnCalendar,
  revokeOwnCalendar,
} from '#modules/schedules/operations/holiday_calendars.ts';
import type { Id } from '#kernel/ids.ts';
import { memberCaller, runOperation } from '#test/kit/run_operation.ts';
import { type World, world } from '#test/kit/world.ts';

/** Anna takes turns with Bram by the day in one team and by the week in another, and stands in for Cleo in a third. */
async function annaInThreeTeams() {
  const w = await world();
  w.clock.set('2026-03-20T12:00:00Z');
  const [anna, bram, cleo] = [
    await w.given.user({ name: 'Anna' }),
    await w.given.user({ name: 'Bram' }),
    await w.given.user({ name: 'Cleo' }),
  ];
  const schedule = async (team: string, rotationType: string, userIds: string[]) => {
    const { teamId } = await w.expectOk('create_team', { name: team });
    const rotation = { rotationType, rotationConfig: { userIds } };
    const common = { teamId, name: `${team} primary`, timezone: 'Europe/Amsterdam', startAt: '2026-03-21T09:00' };
    const { scheduleId } = await w.expectOk('create_schedule', { ...common, ...rotation });
    return { teamId: teamId as string, scheduleId: scheduleId as string };
  };
  const schedules = [
    await schedule('Days', 'daily', [anna.userId, bram.userId]),
    await schedule('Weeks', 'weekly', [bram.userId, anna.userId]),
    await schedule('Nights', 'weekly', [cleo.userId]),
  ];
  const { scheduleId } = schedules[2]!;
  const night = { startAt: '2026-03-28T22:00', endAt: '2026-03-29T06:00' };
  await w.expectOk('create_schedule_override', { scheduleId, userId: anna.userId, ...night });
  return { w, anna, bram, cleo, schedules };
}

function calendarOf(w: World, { userId }: { userId: Id<'user'> }, orgId = w.orgId) {
  const caller = memberCaller(orgId, userId, 'viewer');
  return {
    find: () => runOperation(w, getOwnCalendar, caller, {}),
    renew: () => runOperation(w, renewOwnCalendar, caller, {}),
    revoke: () => runOperation(w, revokeOwnCalendar, caller, {}),
  };
}

async function read(w: World, url: string) {
  const { statusCode, body } = await w.app.inject({ method: 'GET', url: url.replace('http://tocsin.test', '') });
  return { status: statusCode, body };
}

function eventsOf(text: string) {
  return new ICAL.Component(ICAL.parse(text)).getAllSubcomponents('vevent').map((component) => {
    const { uid, summary, startDate, endDate } = new ICAL.Event(component);
    return { uid, summary, start: startDate.toJSDate().getTime(), end: endDate.toJSDate().getTime() };
  });
}

test('one calendar shows the shifts of a person in every schedule, as who_is_on_call answers', async () => {
  const { w, anna, schedules } = await annaInThreeTeams();
  const { url } = await calendarOf(w, anna).renew();
  const events = eventsOf((await read(w, url)).body);
  expect(new Set(events.map(({ uid }) => uid)).size).toBe(events.length);
  expect(new Set(events.map(({ summary }) => summary))).toEqual(
    new Set(['On call: Days primary', 'On call: Weeks primary', 'On call: Nights primary']),
  );
  for (let hour = 0; hour < 12 * 24; hour += 13) {
    const at = w.clock.now().epochMilliseconds;
    const shown = events.filter(({ start, end }) => start <= at && at < end).map(({ summary }) => summary);
    const expected: string[] = [];
    for (const { teamId } of schedules) {
      const [{ name, onCall }] = (await w.expectOk('who_is_on_call', { teamId })).schedules;
      if (onCall?.userId === anna.userId) expected.push(`On call: ${name}`);
    }
    expect(shown.toSorted(), w.clock.now().toString()).toEqual(expected.toSorted());
    w.clock.advance({ hours: 13 });
  }
});

test('it does not change while the schedules stay the same, and follows them', async () => {
  const { w, anna, schedules } = await annaInThreeTeams();
  const { url } = await calendarOf(w, anna).renew();
  const first = await read(w, url);
  expect((await read(w, url)).body).toBe(first.body);
  await w.expectOk('delete_schedule', { scheduleId: schedules[0]!.scheduleId });
  expect((await read(w, url)).body).not.toContain('Days primary');
});

test('its events are stamped anew when others leave who took turns, or an override is deleted', async () => {
  const { w, anna, bram } = await annaInThreeTeams();
  const { url } = await calendarOf(w, anna).renew();
  const stamp = async () => {
    w.clock.advance({ minutes: 1 });
    return /^LAST-MODIFIED:(.*)$/m.exec((await read(w, url)).body)![1]!;
  };
  const first = await stamp();
  expect(await stamp()).toBe(first);
  await w.context.db.sql.run('delete from memberships where user_id = $1', [bram.userId]);
  const second = await stamp();
  expect(second > first).toBe(true);
  await w.context.db.sql.run('delete from schedule_overrides');
  expect((await stamp()) > second).toBe(true);
});

test('its address is shown again, is renewed, is revoked, and the audit log has no secret', async () => {
  const { w, anna, bram } = await annaInThreeTeams();
  const calendar = calendarOf(w, anna);
  expect(await calendar.find()).toEqual({ calendar: null });
  await expect(calendar.revoke()).rejects.toMatchObject({ code: 'not_found' });
  const first = await calendar.renew();
  expect(first.url).toMatch(/^http:\/\/tocsin\.test\/api\/calendar\/tocsin_cal_\w{49}\.ics$/);
  expect(await calendar.find()).toEqual({ calendar: first });
  expect(await calendarOf(w, bram).find()).toEqual({ calendar: null });

  const second = await calendar.renew();
  expect((await read(w, first.url)).status).toBe(404);
  expect((await read(w, second.url)).status).toBe(200);
  await calendar.revoke();
  expect((await read(w, second.url)).status).toBe(404);

  const audit = await w.context.db.sql.rows<{ action: string }>(
    `select action, a::text as row from audit_log a where action like '%_own_calendar' order by at, id`,
  );
  expect(audit.map(({ action }) => action).toSorted()).toEqual([
    'get_own_calendar',
    'renew_own_calendar',
    'renew_own_calendar',
    'revoke_own_calendar',
  ]);
  for (const { url } of [first, second]) {
    expect(JSON.stringify(audit)).not.toContain(/tocsin_cal_\w+/.exec(url)?.[0]);
  }
});

test('it ends with the membership', async () => {
  const { w, anna } = await annaInThreeTeams();
  const { url } = await calendarOf(w, anna).renew();
  await w.context.db.sql.run('delete from memberships where user_id = $1', [anna.userId]);
  expect((await read(w, url)).status).toBe(404);
  expect(await w.context.db.sql.rows('select 1 from own_calendars')).toEqual([]);
});

test('who takes turns by the hour in many schedules gets a calendar that says that it is cut', async () => {
  const { w, anna, bram } = await annaInThreeTeams();
  const { teamId } = await w.expectOk('create_team', { name: 'Hours' });
  const rotationConfig = { userIds: [anna.userId, bram.userId], shiftHours: 1 };
  for (let n = 0; n < 2; n += 1) {
    const startAt = '2026-03-01T00:00:00Z';
    await w.expectOk('create_schedule', { teamId, name: `Hour ${n}`, rotationType: 'daily', rotationConfig, startAt });
  }
  const { url } = await calendarOf(w, anna).renew();
  const { body } = await read(w, url);
  expect(body.replaceAll('\r\n ', '')).toContain('There are too many shifts to show all of them.');
  expect(eventsOf(body).length).toBeLessThan(4_000);
});

test('no text of any name begins a line, ends a value or breaks a character', async () => {
  const { w, anna, schedules } = await annaInThreeTeams();
  const nasty = `a\r\nBEGIN:VALARM\u2028\u0085\v\f\0;,\\n: ${'🧑🏽‍🚒é'.repeat(9)}`.replaceAll('\0', '');
  const set = async (table: string, id: string) =>
    await w.context.db.sql.run(`update ${table} set name = $1 where id = $2`, [nasty, id]);
  await set('users', anna.userId);
  for (const { teamId, scheduleId } of schedules) {
    await set('teams', teamId);
    await set('schedules', scheduleId);
  }
  const { url } = await calendarOf(w, anna).renew();
  const { body } = await read(w, url);
  expect(body.replaceAll('\r\n', '')).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\uFFFD]/u);
  expect(body.split('\r\n').filter((line) => Buffer.byteLength(line) > 75)).toEqual([]);
  const shown = nasty.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ');
  const calendar = new ICAL.Component(ICAL.parse(body));
  // The parser leaves the value of a name that begins with X- as it is written.
  const name = String(calendar.getFirstPropertyValue('x-wr-calname')).replaceAll(/\\([\\;,])/g, '$1');
  expect(name).toBe(`On call: ${shown}`);
  const [event] = calendar.getAllSubcomponents('vevent');
  expect(event?.getFirstPropertyValue('summary')).toBe(`On call: ${shown}`);
  expect(event?.getFirstPropertyValue('description')).toContain(shown.trim());
  expect(event?.getAllSubcomponents()).toEqual([]);
});
