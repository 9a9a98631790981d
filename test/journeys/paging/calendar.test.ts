import ICAL from 'ical.js';
import { describe, expect, test } from 'vitest';

import {
  createCalendarFeed,
  getCalendarFeed,
  revokeCalendarFeed,
} from '#modules/schedules/operations/calendar_feeds.ts';
import { storesOf } from '#modules/stores.ts';
import { memberCaller, runOperation } from '#test/kit/run_operation.ts';
import { sweep } from '#test/kit/properties.ts';
import { fileWorld, type World } from '#test/kit/world.ts';

const shared = await fileWorld();

/** Anna and Bram take turns by the day; Cleo stands in for a night. */
async function plannedWorld() {
  const w = await shared.forOrganization();
  w.clock.set('2026-03-20T12:00:00Z');
  const { teamId } = await w.expectOk('create_team', { name: 'Platform' });
  const [anna, bram, cleo] = await Promise.all(['Anna', 'Bram', 'Cleo'].map((name) => w.given.user({ name })));
  const { scheduleId } = await w.expectOk('create_schedule', {
    teamId,
    name: 'Primary; "nights", days',
    timezone: 'Europe/Amsterdam',
    rotationType: 'daily',
    rotationConfig: { userIds: [anna!.userId, bram!.userId] },
    startAt: '2026-03-21T09:00',
  });
  const override = { scheduleId, userId: cleo!.userId, startAt: '2026-03-28T22:00', endAt: '2026-03-29T06:00' };
  await w.expectOk('create_schedule_override', override);
  return { w, teamId, scheduleId: scheduleId as string, cleo: cleo! };
}

function feedsOf(w: World) {
  const caller = memberCaller(w.orgId, w.owner.userId, 'owner');
  return {
    create: (scheduleId: string) => runOperation(w, createCalendarFeed, caller, { scheduleId }),
    find: (scheduleId: string) => runOperation(w, getCalendarFeed, caller, { scheduleId }),
    revoke: (scheduleId: string) => runOperation(w, revokeCalendarFeed, caller, { scheduleId }),
  };
}

async function read(w: World, url: string, headers: Record<string, string> = {}) {
  const {
    statusCode,
    body,
    headers: got,
  } = await w.app.inject({ method: 'GET', url: url.replace('http://tocsin.test', ''), headers });
  return { status: statusCode, body, headers: got };
}

interface CalendarEvent {
  readonly uid: string;
  readonly summary: string;
  readonly start: Date;
  readonly end: Date;
}

/** Reads events as a calendar program does. */
function eventsOf(text: string): CalendarEvent[] {
  const calendar = new ICAL.Component(ICAL.parse(text));
  return calendar.getAllSubcomponents('vevent').map((component) => {
    const { uid, summary, startDate, endDate } = new ICAL.Event(component);
    return { uid, summary, start: startDate.toJSDate(), end: endDate.toJSDate() };
  });
}

describe('the calendar of a schedule', () => {
  test('agrees with who_is_on_call at every hour, also in the night when the clocks change', async () => {
    const { w, teamId, scheduleId } = await plannedWorld();
    const { url } = await feedsOf(w).create(scheduleId);
    const events = eventsOf((await read(w, url)).body);
    const begin = w.clock.now();
    const hours = Array.from({ length: 10 * 24 }, (_, hour) => hour);
    for (const hour of sweep(hours, 13)) {
      w.clock.set(begin.add({ hours: hour }).toString());
      const at = w.clock.now().epochMilliseconds;
      const shown = events.filter(({ start, end }) => start.getTime() <= at && at < end.getTime());
      const { schedules } = await w.expectOk('who_is_on_call', { teamId });
      const expected = schedules[0].onCall === null ? [] : [`${schedules[0].onCall.name} is on call`];
      expect(
        shown.map(({ summary }) => summary),
        w.clock.now().toString(),
      ).toEqual(expected);
    }
  });

  test('is valid RFC 5545: its frame, unique names, times in UTC, lines that no program breaks', async () => {
    const { w, scheduleId } = await plannedWorld();
    const { url } = await feedsOf(w).create(scheduleId);
    const { body, headers } = await read(w, url);
    expect(headers['content-type']).toBe('text/calendar; charset=utf-8');
    expect(body).toMatch(/^BEGIN:VCALENDAR\r\nVERSION:2\.0\r\nPRODID:-\/\/Tocsin\/\/on-call\/\/EN\r\n/);
    expect(body).toMatch(/\r\nEND:VCALENDAR\r\n$/);
    expect(body.replaceAll('\r\n', '')).not.toMatch(/[\r\n]/);
    const lines = body.split('\r\n');
    expect(lines.filter((line) => Buffer.byteLength(line) > 75)).toEqual([]);
    const events = eventsOf(body);
    expect(events.length).toBeGreaterThan(85);
    expect(new Set(events.map(({ uid }) => uid)).size).toBe(events.length);
    expect(lines.filter((line) => line.startsWith('DTSTAMP:'))).toHaveLength(events.length);
    expect(lines.filter((line) => /^DT(START|END|STAMP):/.test(line) && !/:\d{8}T\d{6}Z$/.test(line))).toEqual([]);
    const unfolded = body.replaceAll('\r\n ', '').split('\r\n');
    for (const property of ['NAME', 'X-WR-CALNAME'])
      expect(unfolded).toContain(String.raw`${property}:On call: Primary\; "nights"\, days`);
    expect(body.indexOf('X-WR-TIMEZONE:Europe/Amsterdam')).toBeLessThan(body.indexOf('BEGIN:VEVENT'));
  });

  test('a line break in a name writes no event', async () => {
    const { w, scheduleId } = await plannedWorld();
    await w.context.db.sql.run('update schedules set name = $1 where id = $2', [
      'Primary\nBEGIN:VEVENT\r\nSUMMARY:forged\u2028x',
      scheduleId,
    ]);
    const { url } = await feedsOf(w).create(scheduleId);
    const { body } = await read(w, url);
    expect(body).not.toMatch(/^SUMMARY:forged/m);
    expect(body).not.toContain('\u2028');
    expect(new Set(eventsOf(body).map(({ summary }) => summary))).toEqual(
      new Set(['Anna is on call', 'Bram is on call', 'Cleo is on call']),
    );
  });

  test('of somebody who is alone is the same a second later, and has an event for each turn', async () => {
    const { w, teamId } = await plannedWorld();
    const dirk = await w.given.user({ name: 'Dirk' });
    const { scheduleId } = await w.expectOk('create_schedule', {
      teamId,
      name: 'Alone',
      timezone: 'Europe/Amsterdam',
      rotationType: 'weekly',
      rotationConfig: { userIds: [dirk.userId] },
      startAt: '2024-01-01T09:00',
    });
    const { url } = await feedsOf(w).create(scheduleId);
    const first = await read(w, url);
    expect(eventsOf(first.body).length).toBeGreaterThan(13);
    w.clock.advance({ seconds: 1 });
    expect((await read(w, url, { 'if-none-match': String(first.headers['etag']) })).status).toBe(304);
    const tag = String(first.headers['etag']);
    expect((await read(w, url, { 'if-none-match': `"other", W/${tag}` })).status).toBe(304);
  });

  test('does not change while the schedule stays the same', async () => {
    const { w, scheduleId } = await plannedWorld();
    const { url } = await feedsOf(w).create(scheduleId);
    const first = await read(w, url);
    expect((await read(w, url, { 'if-none-match': String(first.headers['etag']) })).status).toBe(304);
    w.clock.advance({ hours: 24 * 5 });
    const later = await read(w, url);
    const before = new Map(eventsOf(first.body).map((event) => [event.uid, event]));
    const still = eventsOf(later.body).filter(({ uid }) => before.has(uid));
    expect(still.length).toBeGreaterThan(80);
    for (const event of still.slice(0, -1)) expect(event).toEqual(before.get(event.uid));
  });

  test('stamps its events anew whenever anything that decides them changes, and never with an earlier time', async () => {
    const { w, scheduleId, cleo } = await plannedWorld();
    const { url } = await feedsOf(w).create(scheduleId);
    const stamps = async () => {
      w.clock.advance({ minutes: 1 });
      const { body } = await read(w, url);
      return [...new Set(body.match(/^(DTSTAMP|LAST-MODIFIED):.*$/gm)!.map((line) => line.split(':')[1]!))];
    };
    const changes: Record<string, () => Promise<unknown>> = {
      'somebody has another name': () =>
        w.context.db.sql.run(`update users set name = 'Cleopatra' where id = $1`, [cleo.userId]),
      'an override is deleted': () => w.context.db.sql.run('delete from schedule_overrides'),
      'somebody leaves': async () => {
        const [first] = (await storesOf(w.context.db.session()).schedules.find(w.orgId, scheduleId))!.rotationConfig
          .userIds;
        await w.context.db.sql.run('delete from memberships where user_id = $1', [first]);
      },
      'the schedule is changed': () => w.expectOk('update_schedule', { scheduleId, name: 'Second' }),
    };
    let [before] = await stamps();
    for (const [name, change] of Object.entries(changes)) {
      expect(await stamps(), name).toEqual([before]);
      await change();
      const after = await stamps();
      expect(after, name).toEqual([expect.any(String)]);
      expect(after[0]! > before!, name).toBe(true);
      [before] = after;
    }
  });

  test('does not show people who have left', async () => {
    const { w, scheduleId, cleo } = await plannedWorld();
    const { url } = await feedsOf(w).create(scheduleId);
    expect((await read(w, url)).body).toContain('Cleo is on call');
    await w.context.db.sql.run('delete from memberships where user_id = $1', [cleo.userId]);
    expect((await read(w, url)).body).not.toContain('Cleo');
  });
});

describe('its secret address', () => {
  test('is created once, can be shown again, and is not in the store or the audit log', async () => {
    const { w, scheduleId } = await plannedWorld();
    const feeds = feedsOf(w);
    expect(await feeds.find(scheduleId)).toEqual({ scheduleId, url: null, createdAt: null });
    const feed = await feeds.create(scheduleId);
    expect(feed.url).toMatch(/^http:\/\/tocsin\.test\/api\/calendar\/tocsin_cal_\w{49}\.ics$/);
    expect(await feeds.create(scheduleId)).toEqual(feed);
    expect(await feeds.find(scheduleId)).toEqual(feed);
    const secret = /tocsin_cal_\w+/.exec(feed.url)?.[0] ?? '';
    const stored = await w.context.db.sql.rows(
      'select c::text from calendar_feeds c union all select a::text from audit_log a',
    );
    expect(JSON.stringify(stored)).toContain('create_calendar_feed');
    expect(JSON.stringify(stored)).not.toContain(secret);
  });

  test('stops working once it is revoked, and the next one is different', async () => {
    const { w, scheduleId } = await plannedWorld();
    const feeds = feedsOf(w);
    const { url } = await feeds.create(scheduleId);
    await feeds.revoke(scheduleId);
    expect((await read(w, url)).status).toBe(404);
    await expect(feeds.revoke(scheduleId)).rejects.toMatchObject({ code: 'not_found' });
    const next = await feeds.create(scheduleId);
    expect(next.url).not.toBe(url);
    expect((await read(w, next.url)).status).toBe(200);
  });

  test('is deleted with its schedule', async () => {
    const { w, scheduleId } = await plannedWorld();
    const { url } = await feedsOf(w).create(scheduleId);
    await w.expectOk('delete_schedule', { scheduleId });
    expect((await read(w, url)).status).toBe(404);
  });

  test('cannot be guessed, nor made for a schedule of another organization', async () => {
    const { w, scheduleId } = await plannedWorld();
    const { url } = await feedsOf(w).create(scheduleId);
    for (const wrong of [
      url.replace(/.\.ics$/, (end: string) => (end.startsWith('0') ? '1.ics' : '0.ics')),
      url.replace('.ics', ''),
      url.replace(/tocsin_cal_\w+/, 'x'),
    ]) {
      expect((await read(w, wrong)).status).toBe(404);
    }
    const other = await w.given.organization('Other');
    const theirs = feedsOf({ ...w, orgId: other.orgId, owner: other.owner });
    await expect(theirs.create(scheduleId)).rejects.toMatchObject({ code: 'not_found' });
    await expect(theirs.revoke(scheduleId)).rejects.toMatchObject({ code: 'not_found' });
  });
});
