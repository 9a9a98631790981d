import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { onCallOfSchedule } from '#modules/schedules/decide/layered_shifts.ts';
import { asId } from '#kernel/ids.ts';
import { Temporal } from '#kernel/time.ts';
import { storesOf } from '#modules/stores.ts';
import { slowOnCall, localMinutes, type LocalMinutes } from '#test/modules/schedules/decide/local_minutes.ts';
import { type StaffedWorld, staffedWorld } from '#test/kit/staffed_world.ts';

interface Night {
  readonly zone: string;
  /** Local date of the evening. */
  readonly evening: string;
  /** Three local times in a row that the night skips, or has twice. */
  readonly odd: readonly [string, string, string];
}

const night = (zone: string, evening: string, ...odd: Night['odd']): Night => ({ zone, evening, odd });

/** Nights in which the clock on the wall jumps: on by an hour, back by half an hour. */
const NIGHTS: readonly Night[] = [
  night('Europe/Brussels', '2026-03-28', '2026-03-29T02:10', '2026-03-29T02:30', '2026-03-29T02:50'),
  night('Australia/Lord_Howe', '2026-04-04', '2026-04-05T01:35', '2026-04-05T01:45', '2026-04-05T01:55'),
];

/** Nights in which the clock jumps back by an hour, at midnight, or by a day, among others: walked by the proof `properties`. */
const MORE_NIGHTS: readonly Night[] = [
  night('Europe/Brussels', '2026-10-24', '2026-10-25T02:10', '2026-10-25T02:30', '2026-10-25T02:50'),
  night('America/Santiago', '2026-09-05', '2026-09-06T00:10', '2026-09-06T00:30', '2026-09-06T00:50'),
  night('Pacific/Apia', '2011-12-29', '2011-12-30T02:10', '2011-12-30T02:30', '2011-12-30T02:50'),
  night('America/New_York', '2026-03-07', '2026-03-08T02:10', '2026-03-08T02:30', '2026-03-08T02:50'),
  night('America/New_York', '2026-10-31', '2026-11-01T01:10', '2026-11-01T01:30', '2026-11-01T01:50'),
  night('Australia/Lord_Howe', '2026-10-03', '2026-10-04T02:05', '2026-10-04T02:15', '2026-10-04T02:25'),
  night('America/Santiago', '2026-04-04', '2026-04-04T23:10', '2026-04-04T23:30', '2026-04-04T23:50'),
  night('Africa/Casablanca', '2026-03-21', '2026-03-22T02:10', '2026-03-22T02:30', '2026-03-22T02:50'),
  night('Africa/Casablanca', '2026-02-14', '2026-02-15T02:10', '2026-02-15T02:30', '2026-02-15T02:50'),
  night('Asia/Kathmandu', '1985-12-31', '1986-01-01T00:03', '1986-01-01T00:07', '1986-01-01T00:12'),
];

const MINUTES = 9 * 60;
const IS_LONG = process.env.PROPERTY_SEED === 'random';
/** Real pages: often around the change; else at the begin and, in `npm run check:properties`, each hour. */
const NEAR_MINUTES = IS_LONG ? 45 : 30;
const pageEvery = (minutesFromChange: number): number => {
  if (Math.abs(minutesFromChange) <= NEAR_MINUTES) return 15;
  return IS_LONG ? 60 : MINUTES;
};
/** Minutes between two looks at who is on call: each near the change, and in `npm run check:properties`. */
const lookEvery = (minutesFromChange: number): number => (IS_LONG || Math.abs(minutesFromChange) <= 90 ? 1 : 5);
const DAYS_WALKED = 9;

/** Team of the night with its schedules, as the product was told and as the reference knows them. */
interface Team {
  readonly teamId: string;
  readonly phones: ReadonlyMap<string, string>;
  readonly slow: readonly ReadonlyMap<number, string>[];
}

describe.each(IS_LONG ? [...NIGHTS, ...MORE_NIGHTS] : NIGHTS)(
  '$zone, $evening: everybody who is paged is on call by the wall clock',
  (night) => {
    let w: StaffedWorld;
    let begin = 0;
    let changes: readonly number[];
    let team: Team;
    let namesAt: Awaited<ReturnType<typeof roster>>;
    let page: Awaited<ReturnType<typeof pager>>;
    beforeAll(async () => {
      const walk = walkOf(night);
      w = await staffedWorld({ keepOpen: true });
      begin = walk.minuteOf(`${night.evening}T21:00`);
      changes = walk.changesBetween(begin, begin + MINUTES);
      moveTo(w, begin);
      team = await createTeam(w, night, walk, changes[0]!);
      [namesAt, page] = [await roster(w, team), await pager(w, team)];
    });
    afterAll(() => w.close());

    test.each(Array.from({ length: MINUTES / 60 }, (_, hour) => hour))('hour %i of the night', async (hour) => {
      expect(changes).toHaveLength(1);
      for (let minute = begin + 60 * hour; minute < begin + 60 * (hour + 1); minute += 1) {
        if ((minute - begin) % lookEvery(minute - changes[0]!) !== 0) continue;
        moveTo(w, minute);
        const expected = team.slow.map((onCall) => onCall.get(minute));
        expect(namesAt(w.clock.now()), `at minute ${minute - begin} of the night`).toEqual(expected);
        if ((minute - begin) % pageEvery(minute - changes[0]!) !== 0) continue;
        expect(await asked(w, team), `when asked at minute ${minute - begin}`).toEqual(expected);
        const phones = new Set(expected.map((userId) => team.phones.get(userId!)!));
        expect(await page(), `paged at minute ${minute - begin}`).toEqual([...phones].toSorted());
      }
      await w.runUntilIdle();
    });
  },
);

function walkOf({ zone, evening }: Night): LocalMinutes {
  const noon = Date.parse(`${evening}T12:00Z`);
  const day = 24 * 60 * 60_000;
  return localMinutes(zone, noon - DAYS_WALKED * day, noon + 3 * day);
}

function moveTo(w: StaffedWorld, minute: number): void {
  w.clock.set(Temporal.Instant.fromEpochMilliseconds(minute * 60_000).toString());
}

/** Four schedules of four kinds, which hand over at odd times of this night, and people who stand in at odd times. */
async function createTeam(w: StaffedWorld, { zone, odd }: Night, walk: LocalMinutes, change: number): Promise<Team> {
  const teamId = await w.staff.team();
  const phones = new Map<string, string>();
  const person = async (name: string): Promise<string> => {
    const { userId, phone } = await w.staff.responder(teamId, name);
    phones.set(userId, phone);
    // Whether a page arrived is no question here.
    w.phone.addFault({ kind: 'callback_lost', number: phone });
    return userId;
  };
  const [early, middle, late] = odd;
  const schedules = [
    { name: 'daily', rotationType: 'daily', startAt: walk.later(middle, -4 * 24), turnHours: 24, people: 3 },
    { name: 'weekly', rotationType: 'weekly', startAt: walk.later(late, -7 * 24), turnHours: 168, people: 2 },
    { name: 'hourly', rotationType: 'daily', startAt: walk.later(early, -30), turnHours: 1, people: 5 },
    { name: 'by shifts', rotationType: 'weekly', startAt: walk.later(early, -7 * 8), turnHours: 8, people: 2 },
  ];
  const slow: Map<number, string>[] = [];
  for (const { name, rotationType, startAt, turnHours, people } of schedules) {
    const userIds: string[] = [];
    for (let number = 1; number <= people; number += 1) userIds.push(await person(`${name} ${number}`));
    const { scheduleId } = await w.expectOk('create_schedule', {
      teamId,
      name,
      timezone: zone,
      rotationType,
      rotationConfig: { userIds, ...(name === 'daily' || name === 'weekly' ? {} : { shiftHours: turnHours }) },
      startAt,
    });
    const standIn = async (startAt: string | number, endAt: string | number) => {
      const userId = await person(`stands in for ${name}`);
      await w.expectOk('create_schedule_override', { scheduleId, userId, startAt, endAt });
      const minute = (at: string | number) => (typeof at === 'number' ? at / 60_000 : walk.minuteOf(at));
      return { userId, from: minute(startAt), to: minute(endAt) };
    };
    // By local times that are skipped or come twice, and by instants on both sides of the change.
    const overrides =
      name === 'daily'
        ? [await standIn(early, late)]
        : [await standIn((change - 20) * 60_000, (change + 10) * 60_000), await standIn(middle, walk.later(late, 1))];
    slow.push(slowOnCall(walk, { startAt, turnHours, userIds, overrides }));
  }
  return { teamId, phones, slow };
}

/** Returns the people whom the stored schedules name, by which every page and every question is decided. */
async function roster(w: StaffedWorld, { teamId }: Team): Promise<(at: Temporal.Instant) => (string | undefined)[]> {
  const { onCall } = storesOf(w.context.db.session());
  const { schedules } = await onCall.ofTeam(w.orgId, asId('team', teamId), w.clock.now());
  return (at) =>
    schedules.map(({ layered }) => {
      return onCallOfSchedule(layered, at, () => true).shift?.userIds[0];
    });
}

async function asked(w: StaffedWorld, { teamId }: Team): Promise<string[]> {
  const { schedules } = await w.expectOk('who_is_on_call', { teamId });
  return schedules.map(({ onCall }: { onCall: { userId: string } }) => onCall.userId);
}

/** Opens an incident, tells the numbers that were paged because of it, and removes it, of which nobody hears. */
async function pager(w: StaffedWorld, { teamId }: Team): Promise<() => Promise<string[]>> {
  const alert = await w.staff.alert(teamId, [{ afterMinutes: 0, channels: ['sms'], useSchedule: true }]);
  return async () => {
    const before = w.phone.messages.length;
    const incidentId = await alert.trigger();
    await w.runUntilIdle();
    const pages = w.phone.messages.slice(before).filter(({ body }) => body.includes('Reply ACK'));
    await w.context.db.sql.run('delete from incidents where id = $1', [incidentId]);
    return pages.map(({ to }) => to).toSorted();
  };
}
