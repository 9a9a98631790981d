import { isZone, type Moved } from '#modules/moving_in/decide/moved.ts';
import { numberOf, type RawObject, textOf, wallOf } from '#modules/moving_in/decide/raw.ts';
import { type Recurrence, walkEvents, weekdayOf } from '#modules/moving_in/decide/recurrence.ts';
import { type Duty, layOver, type Stretch } from '#modules/moving_in/decide/timeline.ts';
import { isoOf } from '#kernel/wall_clock.ts';
import { DAY_MS, type ZoneClocks } from '#kernel/zone_clock.ts';

const DAY_NAMES = ['MO', 'TU', 'WE', 'TH', 'FR', 'SA', 'SU'];

/** Level of overrides, above that of every shift. */
const OVERRIDE_LEVEL = 1_000;

/** A shift of OnCall, read. */
export interface OnCallShift {
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
export function readShift(
  moved: Moved,
  id: string,
  shift: RawObject | undefined,
  defaultZone: string,
): OnCallShift | null {
  const { ledger } = moved;
  if (shift === undefined) {
    ledger.judge('shift', id, 'refused', 'The schedule names it, and it was not read.', 'Read all shifts.');
    return null;
  }
  const zone = textOf(shift, 'time_zone') || defaultZone;
  const writtenStart = wallOf(textOf(shift, 'start'));
  const seconds = numberOf(shift, 'duration');
  if (writtenStart === null || seconds === null || seconds <= 0 || !isZone(zone)) {
    const reason = isZone(zone) ? 'Its start or duration cannot be read.' : `Nobody knows the time zone "${zone}".`;
    ledger.judge('shift', id, 'refused', reason, 'Mend the shift, and read again.');
    return null;
  }
  const type = textOf(shift, 'type');
  const groups = groupsOf(moved, id, shift, type);
  if (groups.every((group) => group.length === 0)) {
    ledger.judge(
      'shift',
      id,
      'refused',
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
  if (until !== null && until <= moved.since)
    ledger.judge('shift', id, 'exact', `It ended at ${isoOf(until)}, so it is left out.`);
  else ledger.judge('shift', id, 'exact');
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
      moved.ledger.judge(
        'shift',
        id,
        'refused',
        `${userId} is not among the people that were read; the turn lacks them.`,
        'Read all users.',
      );
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
export function walkShifts(shifts: readonly OnCallShift[], clocks: ZoneClocks, from: number, to: number): Stretch[] {
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
