import ICAL from 'ical.js';
import { expect, test } from 'vitest';

import { ourShifts } from '#modules/moving_in/decide/proof.ts';
import { slowRuns, sweep } from '#test/kit/properties.ts';
import { NOW, read } from '#test/modules/moving_in/answers.ts';
import { randomAnswers, randomOf } from '#test/modules/moving_in/random_answers.ts';
import { Temporal } from '#kernel/time.ts';
import { ZoneClock } from '#kernel/zone_clock.ts';

/** `MOVE_IN_CASES=300` compares as many schedules of each tool. */
const CASES = Number(process.env['MOVE_IN_CASES'] ?? slowRuns(200, 40));
const SAMPLES = 120;
const DAY_MS = 86_400_000;
const WEEK_MINUTES = 10_080;

// eslint-disable-next-line typescript/no-explicit-any -- answers of vendors, as they come
type Raw = any;

/** Ids of those on call at an instant by the vendor's documentation; null where it leaves open who is. */
type WalkAt = (ms: number) => string[] | null;

const localOf = (ms: number, zone: string) => Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(zone);
const wallOf = (ms: number, zone: string): number => ms + localOf(ms, zone).offsetNanoseconds / 1e6;
const minuteOfDay = (ms: number, zone: string): number => {
  const { hour, minute } = localOf(ms, zone);
  return hour * 60 + minute;
};
const minuteOfWeek = (ms: number, zone: string): number =>
  (localOf(ms, zone).dayOfWeek - 1) * 1_440 + minuteOfDay(ms, zone);
const mod = (a: number, b: number): number => ((a % b) + b) % b;
const minutesOf = (text: string): number => Number(text.slice(0, 2)) * 60 + Number(text.slice(3, 5));
const covers = (from: string, to: string | null, ms: number): boolean =>
  Date.parse(from) <= ms && (to === null || ms < Date.parse(to));

/** Layers, the first of the list the highest: who has the turn that began last, within the restrictions. */
function pagerDuty(documents: readonly { readonly value: Raw }[]): WalkAt {
  const { schedule } = documents[1]!.value;
  const { overrides } = documents[2]!.value;
  const zone = schedule.time_zone;
  const isInZone = schedule.schedule_layers.every(({ rotation_virtual_start: at }: Raw) =>
    at.endsWith(localOf(Date.parse(at), zone).offset),
  );
  return (ms) => {
    // Restrictions that were rendered in another zone are hours of that zone.
    if (!isInZone) return null;
    const replaced = overrides.filter((override: Raw) => covers(override.start, override.end, ms));
    if (replaced.length > 1) return null;
    if (replaced.length === 1) return [replaced[0].user.id];
    for (const layer of schedule.schedule_layers) {
      const isWithin =
        layer.restrictions.length === 0 ||
        layer.restrictions.some((restriction: Raw) => {
          const isWeekly = restriction.type === 'weekly_restriction';
          const start =
            minutesOf(restriction.start_time_of_day) +
            (isWeekly ? mod(restriction.start_day_of_week - 1, 7) * 1_440 : 0);
          const [now, round] = isWeekly ? [minuteOfWeek(ms, zone), WEEK_MINUTES] : [minuteOfDay(ms, zone), 1_440];
          return mod(now - start, round) < restriction.duration_seconds / 60;
        });
      if (!covers(layer.start, layer.end, ms) || !isWithin) continue;
      const passed = wallOf(ms, zone) - wallOf(Date.parse(layer.rotation_virtual_start), zone);
      const turn = Math.floor(passed / (layer.rotation_turn_length_seconds * 1_000));
      return [layer.users[mod(turn, layer.users.length)].user.id];
    }
    return [];
  };
}

const UNITS: Readonly<Record<string, number>> = { hourly: DAY_MS / 24, daily: DAY_MS, weekly: 7 * DAY_MS };
const WEEK_DAYS = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'];

/** Rotations, all on call together, each within its restrictions. */
function opsgenie(documents: readonly { readonly value: Raw }[]): WalkAt {
  const schedule = documents[1]!.value.data;
  const overrides = documents[2]!.value.data;
  const zone = schedule.timezone;
  const isWithin = (restriction: Raw, ms: number): boolean => {
    if (restriction === null) return true;
    const at = (hour: number, minute: number): number => hour * 60 + minute;
    if (restriction.type === 'time-of-day') {
      const { startHour, startMin, endHour, endMin } = restriction.restriction;
      const length = mod(at(endHour, endMin) - at(startHour, startMin), 1_440) || 1_440;
      return mod(minuteOfDay(ms, zone) - at(startHour, startMin), 1_440) < length;
    }
    return restriction.restrictions.some(({ startDay, startHour, startMin, endDay, endHour, endMin }: Raw) => {
      const start = WEEK_DAYS.indexOf(startDay) * 1_440 + at(startHour, startMin);
      const length = mod(WEEK_DAYS.indexOf(endDay) * 1_440 + at(endHour, endMin) - start, WEEK_MINUTES) || WEEK_MINUTES;
      return mod(minuteOfWeek(ms, zone) - start, WEEK_MINUTES) < length;
    });
  };
  return (ms) => {
    const replaced = overrides.filter((override: Raw) => covers(override.startDate, override.endDate, ms));
    if (replaced.length > 1 || replaced.some(({ rotations }: Raw) => rotations.length > 0)) return null;
    if (replaced.length === 1) return replaced[0].user.type === 'none' ? [] : [replaced[0].user.id];
    return schedule.rotations.flatMap((rotation: Raw) => {
      if (!covers(rotation.startDate, rotation.endDate, ms) || !isWithin(rotation.timeRestriction, ms)) return [];
      const passed = wallOf(ms, zone) - wallOf(Date.parse(rotation.startDate), zone);
      const turn = Math.floor(passed / (UNITS[rotation.type]! * rotation.length));
      const participant = rotation.participants[mod(turn, rotation.participants.length)];
      return participant.type === 'none' ? [] : [participant.id];
    });
  };
}

/** Rotations and people within their rules, as overrides change them and temporary schedules replace them. */
function goAlert(documents: readonly { readonly value: Raw }[]): WalkAt {
  const { rotations, schedules, userOverrides } = documents[0]!.value.data;
  const [schedule] = schedules;
  const zone = schedule.timeZone;
  const turnOf = (rotation: Raw, ms: number): number => {
    const start = localOf(Date.parse(rotation.start), rotation.timeZone).toPlainDateTime();
    const now = localOf(ms, rotation.timeZone).toPlainDateTime();
    if (rotation.type !== 'monthly') {
      const passed = wallOf(ms, rotation.timeZone) - wallOf(Date.parse(rotation.start), rotation.timeZone);
      return Math.floor(passed / (UNITS[rotation.type]! * rotation.shiftLength));
    }
    let turn = -200;
    while (Temporal.PlainDateTime.compare(start.add({ months: (turn + 1) * rotation.shiftLength }), now) <= 0)
      turn += 1;
    return turn;
  };
  const isWithin = (rules: readonly Raw[], ms: number): boolean => {
    const [day, now] = [localOf(ms, zone).dayOfWeek % 7, minuteOfDay(ms, zone)];
    return (
      rules.length === 0 ||
      rules.some(({ start, end, weekdayFilter }) => {
        const [from, to] = [minutesOf(start), minutesOf(end)];
        if (from < to) return weekdayFilter[day] && from <= now && now < to;
        return (weekdayFilter[day] && now >= from) || (weekdayFilter[(day + 6) % 7] && now < to);
      })
    );
  };
  return (ms) => {
    // Where clocks change, hours end at the second of two times, which is said in the report.
    if (localOf(ms - DAY_MS, zone).offset !== localOf(ms + DAY_MS, zone).offset) return null;
    const temporary = schedule.temporarySchedules.filter(({ start, end }: Raw) => covers(start, end, ms));
    if (temporary.length > 0)
      return temporary
        .flatMap(({ shifts }: Raw) => shifts)
        .filter(({ start, end }: Raw) => covers(start, end, ms))
        .map(({ userID }: Raw) => userID);
    const named = schedule.targets.flatMap(({ target, rules }: Raw) => {
      if (!isWithin(rules, ms)) return [];
      if (target.type === 'user') return [target.id];
      const rotation = rotations.find(({ id }: Raw) => id === target.id);
      const turn = turnOf(rotation, ms) - turnOf(rotation, NOW) + rotation.activeUserIndex;
      return [rotation.userIDs[mod(turn, rotation.userIDs.length)]];
    });
    const running = userOverrides.filter(({ start, end }: Raw) => covers(start, end, ms));
    const removals = running.filter(({ removeUserID }: Raw) => removeUserID !== '');
    if (new Set(removals.map(({ removeUserID }: Raw) => removeUserID)).size < removals.length) return null;
    const mapped = named.flatMap((id: string) => {
      const removal = removals.find(({ removeUserID }: Raw) => removeUserID === id);
      return removal === undefined ? [id] : removal.addUserID === '' ? [] : [removal.addUserID];
    });
    const added = running.filter(({ removeUserID }: Raw) => removeUserID === '').map(({ addUserID }: Raw) => addUserID);
    return [...mapped, ...added];
  };
}

const DAY_NAMES = ['MO', 'TU', 'WE', 'TH', 'FR', 'SA', 'SU'];

/** Shifts as the events that OnCall writes for them: one series for each group of people, in turn. */
function grafanaOnCall(documents: readonly { readonly value: Raw }[]): WalkAt {
  const [schedule] = documents[1]!.value.results;
  const zone = schedule.time_zone;
  const last = NOW + 420 * DAY_MS;
  const series = (shift: Raw, start: number, interval: number, byDay: readonly string[] | null): number[] => {
    const rule = ICAL.Recur.fromString(
      `FREQ=${shift.frequency.toUpperCase()};INTERVAL=${interval};WKST=${shift.week_start}${byDay === null ? '' : `;BYDAY=${byDay.join(',')}`}`,
    );
    const iterator = rule.iterator(ICAL.Time.fromJSDate(new Date(start), true));
    const walls: number[] = [];
    for (let next = iterator.next(); next; next = iterator.next()) {
      const wall = next.toUnixTime() * 1_000;
      if (wall > last) break;
      walls.push(wall);
    }
    return walls;
  };
  const events = documents[2]!.value.results.flatMap((shift: Raw) => {
    const start = Date.parse(`${shift.start}Z`);
    const level = shift.type === 'override' ? 1_000 : shift.level;
    const eventAt = (wall: number, people: readonly string[]) => ({
      from: wall,
      to: wall + shift.duration * 1_000,
      people,
      level,
    });
    if (shift.type === 'single_event' || shift.type === 'override') return [eventAt(start, shift.users)];
    const isBefore = (wall: number): boolean =>
      shift.until === null || wall - (wallOf(wall, zone) - wall) <= Date.parse(`${shift.until}Z`);
    const byDay = shift.frequency === 'hourly' ? null : shift.by_day;
    if (shift.type === 'recurrent_event')
      return series(shift, start, shift.interval, byDay)
        .filter(isBefore)
        .map((wall) => eventAt(wall, shift.users));
    const first = shift.start_rotation_from_user_index % shift.rolling_users.length;
    const groups: string[][] = [...shift.rolling_users.slice(first), ...shift.rolling_users.slice(0, first)];
    const weekStart = DAY_NAMES.indexOf(shift.week_start);
    const dayOf = (wall: number): number => mod(Math.floor(wall / DAY_MS) + 3, 7);
    const days = byDay === null ? [] : byDay.map((name: string) => DAY_NAMES.indexOf(name));
    const isOnDay = days.length === 0 || days.includes(dayOf(start));
    const firstDay = days.toSorted((a: number, b: number) => mod(a - weekStart, 7) - mod(b - weekStart, 7))[0];
    const begin = isOnDay ? start : start + mod(firstDay - dayOf(start), 7) * DAY_MS;
    if (shift.frequency === 'daily' && days.length > 0)
      return series(shift, begin, 1, byDay)
        .filter(isBefore)
        .map((wall, index) => eventAt(wall, groups[Math.floor(index / shift.interval) % groups.length]!));
    const week = (wall: number): number =>
      Math.floor((wall - begin + mod(dayOf(begin) - weekStart, 7) * DAY_MS + (begin % DAY_MS)) / (7 * DAY_MS));
    return groups.flatMap((people, group) => {
      const all = series(shift, begin, shift.interval, byDay);
      const own = shift.frequency === 'weekly' ? all.find((wall) => week(wall) === group * shift.interval) : all[group];
      if (own === undefined) return [];
      return series(shift, own, shift.interval * groups.length, byDay)
        .filter(isBefore)
        .map((wall) => eventAt(wall, people));
    });
  });
  return (ms) => {
    if (localOf(ms - DAY_MS, zone).offset !== localOf(ms + DAY_MS, zone).offset) return null;
    const now = wallOf(ms, zone);
    const running = events.filter(({ from, to }: Raw) => from <= now && now < to);
    const highest = Math.max(...running.map(({ level }: Raw) => level));
    return running.filter(({ level }: Raw) => level === highest).flatMap(({ people }: Raw) => people);
  };
}

/**
 * Events of rotations by their recurrence, all on call together; a custom shift comes beside them, an override in their
 * place. Members take turns by occurrences, so many each.
 */
function pagerDutyShifts(documents: readonly { readonly value: Raw }[]): WalkAt {
  const { schedule } = documents[1]!.value;
  const [{ overrides }, { custom_shifts }] = [documents[2]!.value, documents[3]!.value];
  const zone = schedule.time_zone;
  const last = NOW + 420 * DAY_MS;
  const isWithin = ({ start_time, end_time }: Raw, ms: number): boolean =>
    covers(start_time.date_time, end_time.date_time, ms);
  const idsOf = (members: readonly Raw[]): string[] => members.flatMap(({ user_id }: Raw) => user_id ?? []);
  const duties = schedule.rotations.flatMap(({ events }: Raw) =>
    events.flatMap((event: Raw) => {
      const { type, shifts_per_member, members } = event.assignment_strategy;
      const [start, end] = [event.start_time, event.end_time].map(({ date_time }) =>
        wallOf(Date.parse(date_time), zone),
      );
      const [, count = '9999'] = /COUNT=(\d+)/.exec(event.recurrence[0]) ?? [];
      const [, until] = /UNTIL=(\w+)/.exec(event.recurrence[0]) ?? [];
      const rule = event.recurrence[0].replace('RRULE:', '').replace(/;(COUNT|UNTIL)=\w+/g, '');
      const iterator = ICAL.Recur.fromString(rule).iterator(ICAL.Time.fromJSDate(new Date(start!), true));
      const effective = event.effective_until === null ? Infinity : Date.parse(event.effective_until);
      // Random answers end at noon in UTC, where they have an end.
      const endOfRule =
        until === undefined
          ? Infinity
          : Date.parse(`${until.slice(0, 4)}-${until.slice(4, 6)}-${until.slice(6, 8)}T12:00:00Z`);
      const shifts: { from: number; to: number; people: string[]; until: number }[] = [];
      for (let next = iterator.next(), index = 0; next; next = iterator.next(), index += 1) {
        const from = next.toUnixTime() * 1_000;
        if (from > last || index >= Number(count)) break;
        const isTogether = type === 'every_member_assignment_strategy';
        const turn = Math.floor(index / shifts_per_member) % members.length;
        const people = idsOf(isTogether ? members : [members[turn]]);
        const begun = from - (wallOf(from, zone) - from);
        if (begun > endOfRule) break;
        shifts.push({ from, to: from + end! - start!, people, until: effective });
      }
      return shifts;
    }),
  );
  return (ms) => {
    if (localOf(ms - 8 * DAY_MS, zone).offset !== localOf(ms + DAY_MS, zone).offset) return null;
    const replaced = overrides.filter((override: Raw) => isWithin(override, ms));
    if (replaced.length > 1) return null;
    if (replaced.length === 1) return idsOf([replaced[0].overriding_member]);
    const now = wallOf(ms, zone);
    return [
      ...duties.filter(({ from, to, until }: Raw) => from <= now && now < to && ms < until),
      ...custom_shifts
        .filter((shift: Raw) => isWithin(shift, ms))
        .map(({ assignments }: Raw) => ({ people: idsOf(assignments.map(({ member }: Raw) => member)) })),
    ].flatMap(({ people }: Raw) => people);
  };
}

const WALKS: Readonly<Record<string, (documents: readonly { readonly value: Raw }[]) => WalkAt>> = {
  pagerduty: pagerDuty,
  'pagerduty, version 3': pagerDutyShifts,
  opsgenie,
  goalert: goAlert,
  'grafana-oncall': grafanaOnCall,
};

test.each(
  sweep([7, 8], 2).flatMap((seed) => Object.entries(WALKS).map(([tool, walkOf]) => [tool, walkOf, seed] as const)),
)('schedules of %s say the same as a walk that reads its answers by itself', (tool, walkOf, seed) => {
  const random = randomOf(seed);
  const wrong: unknown[] = [];
  let compared = 0;
  for (let index = 0; index < CASES / 2; index += 1) {
    const documents = randomAnswers(random)[tool]!;
    const [name = ''] = tool.split(',');
    const { file, report } = read(name, documents);
    const isOtherwise = report.items.some(
      ({ kind, verdict, reason }) =>
        (kind === 'schedule' && verdict === 'horizon') ||
        (kind === 'override' && (verdict === 'refused' || verdict === 'horizon' || reason.includes('are rounded'))),
    );
    if (isOtherwise) continue;
    const schedule = file.schedules![0]!;
    const clock = new ZoneClock(schedule.timezone);
    const keyOf = (id: string): string => `${name.replace('grafana-', '')}-${id}`;
    const walk = walkOf(documents);
    for (let sample = 0; sample < SAMPLES; sample += 1) {
      const ms = NOW + Math.floor(random() * 400 * 24 * 60) * 60_000;
      const theirs = walk(ms);
      if (theirs === null) continue;
      compared += 1;
      const ours = ourShifts(schedule, clock, ms, ms + 60_000)[0]!.people.toSorted();
      const expected = [...new Set(theirs.map(keyOf))].toSorted();
      if (ours.join(' ') !== expected.join(' ')) wrong.push({ index, at: new Date(ms).toISOString(), ours, expected });
    }
  }
  expect(wrong.slice(0, 3)).toEqual([]);
  expect(compared).toBeGreaterThanOrEqual(SAMPLES / 2);
});
