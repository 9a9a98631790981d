import { isoOf } from '#kernel/wall_clock.ts';
import { DAY_MS, type ZoneClocks } from '#kernel/zone_clock.ts';
import { addSchedule, type ReadOverride } from '#modules/moving_in/decide/add_schedule.ts';
import type { OnCallAnswers } from '#modules/moving_in/decide/grafana_oncall/collect.ts';
import { isZone, type Moved, type RenderedTimeline } from '#modules/moving_in/decide/moved.ts';
import { namedApart, type Pattern } from '#modules/moving_in/decide/pattern.ts';
import { compareTimelines, tile } from '#modules/moving_in/decide/proof.ts';
import { instantOf, numberOf, type RawObject, textOf, wallOf } from '#modules/moving_in/decide/raw.ts';
import { patternOfRecurrence, type Recurrence, walkEvents, weekdayOf } from '#modules/moving_in/decide/recurrence.ts';
import { type Duty, layOver, renderedWindow, type Stretch } from '#modules/moving_in/decide/timeline.ts';

/** Adds the schedules with their shifts: those of the highest level count, together. */
export function addOnCallSchedules(moved: Moved, answers: OnCallAnswers): void {
  const shifts = new Map(answers.shift.map(({ value }) => [textOf(value, 'id'), value]));
  const used = new Set<string>();
  for (const [id, schedule] of new Map(answers.schedule.map(({ value }) => [textOf(value, 'id'), value]))) {
    if (id !== '') addScheduleOf(moved, id, schedule, shifts, used, answers);
  }
  for (const [id, shift] of shifts) {
    if (used.has(id)) continue;
    moved.ledger
      .see('shift', id, textOf(shift, 'name'))
      .refuse('No schedule that was read uses it.', 'Nothing, if it is left over.');
  }
}

function addScheduleOf(
  moved: Moved,
  id: string,
  schedule: RawObject,
  all: ReadonlyMap<string, RawObject>,
  used: Set<string>,
  answers: OnCallAnswers,
): void {
  const { ledger } = moved;
  const name = textOf(schedule, 'name');
  const item = ledger.see('schedule', id, name);
  const listed = Array.isArray(schedule['shifts'])
    ? schedule['shifts'].filter((shift) => typeof shift === 'string')
    : [];
  const shiftIds = [
    ...new Set([
      ...listed,
      ...[...all].flatMap(([shiftId, shift]) => (textOf(shift, 'schedule') === id ? [shiftId] : [])),
    ]),
  ];
  for (const shiftId of shiftIds) {
    used.add(shiftId);
    ledger.see('shift', shiftId, `${name}: ${textOf(all.get(shiftId) ?? null, 'name') || shiftId}`);
  }
  const scheduleZone = textOf(schedule, 'time_zone') || 'UTC';
  const teamIds = [textOf(schedule, 'team_id')].filter((teamId) => teamId !== '');
  if (textOf(schedule, 'type') === 'ical') {
    item.refuse(
      'It follows an iCal feed, which is another tool.',
      'Save the feed as a file, and move it in with: tocsin move-in ical.',
    );
    for (const shiftId of shiftIds) ledger.item('shift', shiftId).refuse('Its schedule is refused.');
    return;
  }
  if (!isZone(scheduleZone)) {
    for (const shiftId of shiftIds)
      ledger.item('shift', shiftId).refuse('Its schedule is refused.', 'Mend the schedule, and read again.');
    addSchedule(moved, {
      id,
      name,
      zone: scheduleZone,
      teamIds,
      patterns: [],
      overrides: [],
      rendered: [],
      walk: () => [],
    });
    return;
  }
  const rendered = answers.rendered.flatMap((document) => renderedOf(moved, id, document) ?? []);
  const readAll = (defaultZone: string): OnCallShift[] =>
    shiftIds.flatMap((shiftId) => readShift(moved, shiftId, all.get(shiftId), defaultZone) ?? []);
  const [inOwnZone, inUtc] = [readAll(scheduleZone), readAll('UTC')];
  const isUtc = isReadInUtc(moved, schedule, rendered, inOwnZone, inUtc);
  const shifts = isUtc ? inUtc : inOwnZone;
  const repeating = shifts.filter((shift) => !shift.isOverride);
  const zones = [...new Set(repeating.map(({ zone }) => zone))];
  const zone = zones.length === 1 ? (zones[0] ?? scheduleZone) : scheduleZone;
  if (zone !== scheduleZone && zones.length === 1) {
    item.judge('compiled', `Its zone is ${zone}, which its shifts are in, and not ${scheduleZone}.`);
  }
  addSchedule(moved, {
    id,
    name,
    zone,
    teamIds,
    patterns:
      zones.length > 1
        ? { because: `its shifts are in ${zones.length} time zones` }
        : patternsOf(repeating, moved.since),
    overrides: shifts
      .filter((shift) => shift.isOverride)
      .map((shift): ReadOverride => ({ ...overrideOf(moved, shift), patterns: null })),
    rendered,
    walk: (from, to) => walkShifts(shifts, moved.clocks, from, to),
  });
  for (const shift of shifts.filter(({ isOverride }) => isOverride)) {
    const verdict = ledger.verdictOf('override', shift.id);
    ledger.item('shift', shift.id).judge(verdict ?? 'exact', 'It is an override.');
  }
}

function overrideOf(moved: Moved, shift: OnCallShift): Omit<ReadOverride, 'patterns'> {
  const clock = moved.clock(shift.zone);
  const { startWall, durationMs, groups } = shift.recurrence;
  return {
    id: shift.id,
    name: shift.name,
    from: clock.instantOf(startWall),
    to: clock.instantOf(startWall + durationMs),
    people: groups[0] ?? [],
  };
}

/**
 * Whether shifts without a zone are in UTC: the documentation says they are in the zone of the schedule, and schedules
 * of the web render them in UTC. A rendered timeline decides, where there is one.
 */
function isReadInUtc(
  moved: Moved,
  schedule: RawObject,
  rendered: readonly RenderedTimeline[],
  inOwnZone: readonly OnCallShift[],
  inUtc: readonly OnCallShift[],
): boolean {
  if (rendered.length === 0) return textOf(schedule, 'type') === 'web';
  const equalMinutes = (shifts: readonly OnCallShift[]): number => {
    let sum = 0;
    for (const window of rendered) {
      sum += compareTimelines(
        tile(window.stretches, window),
        walkShifts(shifts, moved.clocks, window.from, window.to),
        window,
      ).equal;
    }
    return sum;
  };
  const [byZone, byUtc] = [equalMinutes(inOwnZone), equalMinutes(inUtc)];
  return byZone === byUtc ? textOf(schedule, 'type') === 'web' : byUtc > byZone;
}

function patternsOf(shifts: readonly OnCallShift[], since: number): Pattern[] | { readonly because: string } {
  const patterns: Pattern[] = [];
  for (const { name, level, recurrence, isSingle, from, until } of shifts) {
    if (until !== null && until <= since) continue;
    if (isSingle) {
      const length = { ms: 7 * 86_400_000 };
      patterns.push({
        name,
        level,
        anchorWall: recurrence.startWall,
        length,
        turns: recurrence.groups,
        hours: null,
        from,
        until,
      });
      continue;
    }
    const turns = patternOfRecurrence(recurrence);
    if ('because' in turns) return turns;
    patterns.push({ name, level, ...turns, from, until });
  }
  return namedApart(patterns);
}

function renderedOf(
  moved: Moved,
  id: string,
  { path, values }: { readonly path: string; readonly values: readonly RawObject[] },
): RenderedTimeline | null {
  if (!path.includes(id.toLowerCase())) return null;
  const duties = values.flatMap((shift): Duty[] => {
    const [from, to] = [instantOf(textOf(shift, 'shift_start')), instantOf(textOf(shift, 'shift_end'))];
    if (from === null || to === null) return [];
    const address = textOf(shift, 'user_email');
    const key =
      moved.person(textOf(shift, 'user_pk')) ??
      moved.person(address) ??
      moved.personOrUnknown(textOf(shift, 'user_pk'), textOf(shift, 'user_username'));
    return [{ from, to, people: [key], level: 0 }];
  });
  const asked = renderedWindow(path, {}, []);
  // Shifts are listed whole: only between the first end and the last beginning is it sure that all are there.
  const safe = { from: Math.min(...duties.map(({ to }) => to)), to: Math.max(...duties.map(({ from }) => from)) };
  const window = asked ?? (duties.length === 0 ? null : safe);
  return window === null || window.to <= window.from
    ? null
    : { ...window, stretches: layOver(duties, window.from, window.to) };
}

const DAY_NAMES = ['MO', 'TU', 'WE', 'TH', 'FR', 'SA', 'SU'];

/** Level of overrides, above that of every shift. */
const OVERRIDE_LEVEL = 1_000;

interface OnCallShift {
  readonly id: string;
  readonly name: string;
  readonly zone: string;
  readonly level: number;
  readonly recurrence: Recurrence;
  readonly isSingle: boolean;
  readonly isOverride: boolean;
  /** Time before which nothing of it takes place, and the end of its last event; null: none. */
  readonly from: number | null;
  readonly until: number | null;
}

/** Reads a shift, which has a level and may have a zone of its own; null if it cannot be read or names nobody. */
function readShift(moved: Moved, id: string, shift: RawObject | undefined, defaultZone: string): OnCallShift | null {
  const item = moved.ledger.item('shift', id);
  if (shift === undefined) {
    item.refuse('The schedule names it, and it was not read.', 'Read all shifts.');
    return null;
  }
  const zone = textOf(shift, 'time_zone') || defaultZone;
  const writtenStart = wallOf(textOf(shift, 'start'));
  const seconds = numberOf(shift, 'duration');
  if (writtenStart === null || seconds === null || seconds <= 0 || !isZone(zone)) {
    const reason = isZone(zone) ? 'Its start or duration cannot be read.' : `Nobody knows the time zone "${zone}".`;
    item.refuse(reason, 'Mend the shift, and read again.');
    return null;
  }
  const type = textOf(shift, 'type');
  const groups = groupsOf(moved, id, shift, type);
  if (groups.every((group) => group.length === 0)) {
    item.refuse(
      'It names nobody who was read, so it puts nobody on call; it is left out.',
      'Name people, if it is needed.',
    );
    return null;
  }
  const frequency = frequencyOf(textOf(shift, 'frequency'));
  const isSingle = type === 'single_event' || type === 'override' || frequency === null;
  const days = namesOf(shift['by_day'])
    .map((day) => DAY_NAMES.indexOf(day.slice(-2)))
    .filter((day) => day >= 0);
  const weekStart = Math.max(0, DAY_NAMES.indexOf(textOf(shift, 'week_start') || 'SU'));
  const isRolling = type === 'rolling_users';
  // Turns of days of the week change with each of these days; other events are every so many days, on these alone.
  const isDailyByDay = frequency === 'daily' && days.length > 0 && isRolling;
  const interval = Math.max(1, numberOf(shift, 'interval') ?? 1);
  const recurrence: Recurrence = {
    startWall: firstDay(writtenStart, isSingle ? [] : days, weekStart, isRolling),
    durationMs: seconds * 1_000,
    frequency: frequency ?? 'weekly',
    interval: isDailyByDay ? 1 : interval,
    days: isSingle ? [] : days,
    weekStart,
    groups: isRolling ? groups : [[...new Set(groups.flat())]],
    changesBy: isDailyByDay ? 'event' : 'period',
    perGroup: isDailyByDay ? interval : 1,
    ...(numbersOf(shift['by_monthday']).length > 0 && { monthDays: numbersOf(shift['by_monthday']) }),
    ...(numbersOf(shift['by_month']).length > 0 && { months: numbersOf(shift['by_month']) }),
  };
  const clock = moved.clock(zone);
  const start = clock.instantOf(recurrence.startWall);
  const rotationStart = wallOf(textOf(shift, 'rotation_start'));
  const until = isSingle
    ? clock.instantOf(recurrence.startWall + recurrence.durationMs)
    : endOf(moved, recurrence, zone, wallOf(textOf(shift, 'until')));
  if (until !== null && until <= moved.since) item.judge('exact', `It ended at ${isoOf(until)}, so it is left out.`);
  else item.judge('exact');
  return {
    id,
    name: textOf(shift, 'name') || id,
    zone,
    level: type === 'override' ? OVERRIDE_LEVEL : (numberOf(shift, 'level') ?? 0),
    recurrence,
    isSingle,
    isOverride: type === 'override',
    from:
      isSingle || rotationStart === null || rotationStart <= recurrence.startWall
        ? start
        : clock.instantOf(rotationStart),
    until,
  };
}

/** Returns the people of each turn; `rolling_users` is a list of lists, and begins at an index of its own. */
function groupsOf(moved: Moved, id: string, shift: RawObject, type: string): string[][] {
  const rolling = Array.isArray(shift['rolling_users']) ? shift['rolling_users'] : [];
  const raw =
    type === 'rolling_users' || (rolling.length > 0 && namesOf(shift['users']).length === 0)
      ? rolling.map((group) => namesOf(group))
      : [namesOf(shift['users'])];
  const first = raw.length === 0 ? 0 : (numberOf(shift, 'start_rotation_from_user_index') ?? 0) % raw.length;
  return [...raw.slice(first), ...raw.slice(0, first)].map((group) =>
    group.flatMap((userId) => {
      const key = moved.person(userId);
      if (key !== null) return [key];
      moved.ledger
        .item('shift', id)
        .refuse(`${userId} is not among the people that were read; the turn lacks them.`, 'Read all users.');
      return [];
    }),
  );
}

function frequencyOf(text: string): Recurrence['frequency'] | null {
  return text === 'hourly' || text === 'daily' || text === 'weekly' || text === 'monthly' ? text : null;
}

function namesOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((name) => typeof name === 'string') : [];
}

function numbersOf(value: unknown): number[] {
  return Array.isArray(value) ? value.map(Number).filter((number) => Number.isInteger(number)) : [];
}

/** Returns the start, for turns moved to the first of the days in the order of the week, as OnCall counts turns. */
function firstDay(wall: number, days: readonly number[], weekStart: number, isRolling: boolean): number {
  if (!isRolling || days.length === 0 || days.includes(weekdayOf(wall))) return wall;
  const [first] = days.toSorted((a, b) => ((a - weekStart + 7) % 7) - ((b - weekStart + 7) % 7));
  return first === undefined ? wall : wall + ((first - weekdayOf(wall) + 7) % 7) * DAY_MS;
}

/** Returns the end of the last event that begins until a time in UTC; null if there is none. */
function endOf(moved: Moved, recurrence: Recurrence, zone: string, untilUtc: number | null): number | null {
  if (untilUtc === null) return null;
  const clock = moved.clock(zone);
  const events = walkEvents(recurrence, clock, untilUtc - 70 * DAY_MS - recurrence.durationMs, untilUtc + 1);
  return events.at(-1)?.to ?? untilUtc;
}

/** Tells who is on call within `[from, to)` by what OnCall's documentation says of shifts and levels. */
function walkShifts(shifts: readonly OnCallShift[], clocks: ZoneClocks, from: number, to: number): Stretch[] {
  const duties: Duty[] = [];
  for (const shift of shifts) {
    const clock = clocks.of(shift.zone);
    const { startWall, durationMs, groups } = shift.recurrence;
    const events = shift.isSingle
      ? [{ from: clock.instantOf(startWall), to: clock.instantOf(startWall + durationMs), people: groups[0] ?? [] }]
      : walkEvents(shift.recurrence, clock, Math.max(from, shift.from ?? from), Math.min(to, shift.until ?? to));
    for (const event of events) {
      if (event.people.length > 0)
        duties.push({
          from: Math.max(event.from, shift.from ?? event.from),
          to: event.to,
          people: event.people,
          level: shift.level,
        });
    }
  }
  return layOver(duties, from, to);
}
