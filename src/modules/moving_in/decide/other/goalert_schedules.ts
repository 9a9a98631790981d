import { addSchedule, type ReadOverride } from '#modules/moving_in/decide/add_schedule.ts';
import { isZone, type Moved } from '#modules/moving_in/decide/moved.ts';
import { namedApart, type Pattern, spansOf, WEEK_MS } from '#modules/moving_in/decide/pattern.ts';
import { instantOf, numberOf, objectOf, objectsOf, type RawObject, textOf } from '#modules/moving_in/decide/raw.ts';
import { weekdayOf } from '#modules/moving_in/decide/recurrence.ts';
import { append, common, type Duty, type Interval, layOver, type Stretch } from '#modules/moving_in/decide/timeline.ts';
import { monthsBetween, utcFieldsOf, utcMs } from '#kernel/wall_clock.ts';
import { DAY_MS, type ZoneClock } from '#kernel/zone_clock.ts';

const MINUTE_MS = 60_000;
const UNIT_MS: Record<string, number> = { hourly: 3_600_000, daily: DAY_MS, weekly: WEEK_MS };
/** Days within which two zones have to change their clocks alike. */
const ALIKE_DAYS = 800;

/** Returns the time to the minute, as GoAlert counts. */
function minuteOf(text: string): number | null {
  const ms = instantOf(text);
  return ms === null ? null : Math.floor(ms / MINUTE_MS) * MINUTE_MS;
}

/** Returns the first instant of a time of the wall clock; where the clocks skip it, their change. */
function firstInstantOf(clock: ZoneClock, wall: number): number {
  const instant = clock.instantOf(wall);
  return clock.wallOf(instant) === wall ? instant : (clock.lastChange(instant - DAY_MS, instant) ?? instant);
}

function lastInstantOf(clock: ZoneClock, wall: number): number {
  const instant = clock.lastInstantOf(wall);
  return clock.wallOf(instant) === wall ? instant : (clock.lastChange(instant - DAY_MS, instant) ?? instant);
}

/** A rotation of GoAlert, whose turns change by the clock of its own zone. */
export class GoAlertRotation {
  readonly zone: string;
  readonly clock: ZoneClock;
  readonly length: { readonly ms: number } | { readonly months: number };
  /** Keys of the people; of those who were not read, keys that no person of the file has. */
  readonly people: readonly string[];
  readonly #startWall: number;
  /** Number of the first person at the first turn. */
  readonly #first: number;

  constructor(moved: Moved, value: RawObject, start: number, people: readonly string[]) {
    const [zone, count] = [textOf(value, 'timeZone'), Math.max(1, numberOf(value, 'shiftLength') ?? 1)];
    this.zone = isZone(zone) ? zone : 'UTC';
    this.clock = moved.clock(this.zone);
    this.length =
      textOf(value, 'type') === 'monthly' ? { months: count } : { ms: (UNIT_MS[textOf(value, 'type')] ?? 0) * count };
    this.people = people;
    this.#startWall = this.clock.wallOf(start);
    // "activeUserIndex" says who is on call now, the start only when turns change.
    const active = numberOf(value, 'activeUserIndex');
    this.#first = active === null ? 0 : active - this.turnAt(moved.time.now);
  }

  /** Whether every month has the day on which turns change. */
  get isRegular(): boolean {
    return 'ms' in this.length || utcFieldsOf(this.#startWall).day <= 28;
  }

  startOf(turn: number): number {
    return firstInstantOf(this.clock, this.#wallOfTurn(turn));
  }

  turnAt(ms: number): number {
    const wall = this.clock.wallOf(ms);
    let turn =
      'ms' in this.length
        ? Math.floor((wall - this.#startWall) / this.length.ms) - 1
        : Math.floor(monthsBetween(this.#startWall, wall) / this.length.months) - 2;
    while (this.startOf(turn + 1) <= ms) turn += 1;
    return turn;
  }

  personOf(turn: number): string {
    const count = this.people.length;
    return this.people[(((turn + this.#first) % count) + count) % count] ?? '';
  }

  dutiesBetween(from: number, to: number): Duty[] {
    const duties: Duty[] = [];
    for (let turn = this.turnAt(from), begin = from; begin < to; turn += 1) {
      const end = Math.min(to, this.startOf(turn + 1));
      if (end > begin) duties.push({ from: begin, to: end, people: [this.personOf(turn)], level: 0 });
      begin = Math.max(begin, end);
    }
    return duties;
  }

  /** Adds months as GoAlert does: from the 31st on, to the month after one that lacks the day. */
  #wallOfTurn(turn: number): number {
    const start = this.#startWall;
    if ('ms' in this.length) return start + turn * this.length.ms;
    const { year, month, day } = utcFieldsOf(start);
    return utcMs(year, month + turn * this.length.months, day) + (((start % DAY_MS) + DAY_MS) % DAY_MS);
  }
}

/** Reads a rotation and passes the verdict on it; null if its turns cannot be read. */
export function readRotation(moved: Moved, value: RawObject): GoAlertRotation | null {
  const [id, name] = [textOf(value, 'id'), textOf(value, 'name')];
  const [start, type] = [minuteOf(textOf(value, 'start')), textOf(value, 'type')];
  const item = moved.ledger.see('rotation', id, name);
  if (start === null || (UNIT_MS[type] === undefined && type !== 'monthly')) {
    item.refuse('Its start or its type cannot be read.', 'Make the layer by hand.');
    return null;
  }
  const ids = [
    ...objectsOf(value['users']).map((user) => textOf(user, 'id')),
    ...(Array.isArray(value['userIDs']) ? value['userIDs'].filter((user) => typeof user === 'string') : []),
  ];
  const missing = ids.filter((user) => moved.person(user) === null);
  if (missing.length === 0) item.judge('exact');
  else {
    const reason = `Turns of people who were not read are nobody's: ${missing.slice(0, 10).join(', ')}.`;
    item.judge('compiled', reason, 'Read all people, or fill their turns by hand.');
  }
  const people = ids.map((user) => moved.personOrUnknown(user, ''));
  return new GoAlertRotation(moved, value, start, people);
}

/** Hours of the week of a rule, whose days count from Sunday. Equal ends are the whole day. */
interface Rule {
  readonly days: readonly boolean[];
  readonly start: number;
  readonly end: number;
}

/** An assignment of a schedule: a person or a rotation, with the hours in which it counts; no rules: always. */
interface Assignment {
  readonly name: string;
  readonly target: GoAlertRotation | string;
  readonly rules: readonly Rule[];
}

/** Adds a schedule with the overrides and temporary schedules of it. */
export function addGoAlertSchedule(
  moved: Moved,
  schedule: RawObject,
  rotations: ReadonlyMap<string, GoAlertRotation>,
  userOverrides: readonly RawObject[],
): void {
  const [id, name, zone] = [textOf(schedule, 'id'), textOf(schedule, 'name'), textOf(schedule, 'timeZone')];
  const read = { id, name, zone, teamIds: [], rendered: [] };
  const overrides = [
    ...objectsOf(schedule['temporarySchedules']).flatMap((value) => temporaryOf(moved, value, id, name) ?? []),
    ...userOverrides.flatMap((override) => overrideOf(moved, override, name) ?? []),
  ];
  if (!isZone(zone)) {
    addSchedule(moved, { ...read, patterns: [], overrides, walk: () => [] });
    return;
  }
  const clock = moved.clock(zone);
  const item = moved.ledger.see('schedule', id, name);
  const assignments = objectsOf(schedule['targets']).flatMap((entry): Assignment[] => {
    const target = objectOf(entry['target']);
    const targetId = textOf(target, 'id') || textOf(entry, 'targetID');
    const shown = textOf(target, 'name') || targetId;
    const assigned = rotations.get(targetId) ?? moved.person(targetId);
    if (assigned === null) {
      const reason = `"${shown}" is left out: it is not among what was read.`;
      item.judge('compiled', reason, 'Read everything, or make the layer by hand.');
      return [];
    }
    if (typeof assigned !== 'string' && assigned.people.length === 0) return [];
    return [{ name: shown, target: assigned, rules: objectsOf(entry['rules']).map((rule) => ruleOf(rule)) }];
  });
  const walk = (from: number, to: number): Stretch[] => {
    const duties = assignments.flatMap(({ target, rules }) => {
      const turns =
        typeof target === 'string' ? [{ from, to, people: [target], level: 0 }] : target.dutiesBetween(from, to);
      return common(turns, rules.length === 0 ? [{ from, to }] : timesOf(rules, clock, from, to));
    });
    return withChanges(layOver(duties, from, to), overrides, from, to);
  };
  const patterns = patternsOf(moved, clock, assignments);
  addSchedule(moved, { ...read, patterns, overrides, walk });
}

function ruleOf(rule: RawObject): Rule {
  const days = Array.isArray(rule['weekdayFilter']) ? rule['weekdayFilter'].map((isOn) => isOn === true) : null;
  return {
    days: days ?? Array.from({ length: 7 }, () => true),
    start: minutesOf(textOf(rule, 'start')),
    end: minutesOf(textOf(rule, 'end')),
  };
}

function minutesOf(time: string): number {
  const [hours = '0', minutes = '0'] = time.split(':');
  return Number(hours) * 60 + Number(minutes);
}

function lengthOf({ start, end }: Rule): number {
  return end > start ? end - start : end - start + 1_440;
}

/** Returns the times of rules: of times that the clocks repeat, from the first beginning to the last end. */
function timesOf(rules: readonly Rule[], clock: ZoneClock, from: number, to: number): Interval[] {
  const times: Interval[] = [];
  const [first, last] = [clock.wallOf(from) - 2 * DAY_MS, clock.wallOf(to) + DAY_MS];
  for (let day = Math.floor(first / DAY_MS) * DAY_MS; day < last; day += DAY_MS) {
    const weekday = (weekdayOf(day) + 1) % 7;
    for (const rule of rules) {
      if (rule.days[weekday] !== true) continue;
      const begin = firstInstantOf(clock, day + rule.start * MINUTE_MS);
      const end = lastInstantOf(clock, day + (rule.start + lengthOf(rule)) * MINUTE_MS);
      if (end > begin) times.push({ from: begin, to: end });
    }
  }
  return times;
}

function patternsOf(
  moved: Moved,
  clock: ZoneClock,
  assignments: readonly Assignment[],
): Pattern[] | { readonly because: string } {
  const patterns: Pattern[] = [];
  for (const { name, target, rules } of assignments) {
    const windows = rules.flatMap((rule) =>
      rule.days.flatMap((isOn, day) =>
        isOn ? [{ start: ((day + 6) % 7) * 1_440 + rule.start, minutes: lengthOf(rule) }] : [],
      ),
    );
    const hours = rules.length === 0 ? null : spansOf(windows);
    const isAlone = typeof target === 'string' || target.people.length === 1;
    if (!isAlone && !target.isRegular)
      return { because: `turns of "${name}" change on a day that some months do not have` };
    if (!isAlone && !areAlike(target.clock, clock, moved.since))
      return { because: `"${name}" is in another time zone, whose clocks change at other times` };
    // Turns are told from the one that runs now: zones that change their clocks alike today may not always have.
    const turn = typeof target === 'string' ? 0 : target.turnAt(moved.time.now);
    const people =
      typeof target === 'string' ? [target] : target.people.map((_, index) => target.personOf(turn + index));
    patterns.push({
      name,
      level: 0,
      anchorWall: typeof target === 'string' ? clock.wallOf(moved.since) : clock.wallOf(target.startOf(turn)),
      length: typeof target === 'string' ? { ms: WEEK_MS } : target.length,
      turns: people.map((person) => (moved.people.has(person) ? [person] : [])),
      hours,
      from: null,
      until: null,
    });
  }
  return namedApart(patterns);
}

/** Whether the clocks of two zones change at the same instants for the time that matters. */
function areAlike(a: ZoneClock, b: ZoneClock, since: number): boolean {
  for (let day = 0; day < ALIKE_DAYS; day += 1) {
    const at = since + (day - 1) * DAY_MS;
    if (a.firstChange(at, at + DAY_MS) !== b.firstChange(at, at + DAY_MS)) return false;
  }
  return true;
}

/** Change of whom the rotations name, `[from, to)`. */
interface GoAlertOverride extends ReadOverride {
  /** Key of the person who is on call then, in place of the other or beside everybody. */
  readonly added: string | null;
  /** Key of the person who is not. */
  readonly removed: string | null;
  /** Shifts in place of everything; null: it is no temporary schedule. */
  readonly shifts: readonly Duty[] | null;
}

function overrideOf(moved: Moved, value: RawObject, scheduleName: string): GoAlertOverride[] | null {
  const id = textOf(value, 'id');
  const [from, to] = [minuteOf(textOf(value, 'start')), minuteOf(textOf(value, 'end'))];
  const [added, removed] = ['addUserID', 'removeUserID'].map((field) => {
    const user = textOf(value, field);
    return user === '' ? null : moved.personOrUnknown(user, '');
  });
  const name = `${scheduleName} from ${textOf(value, 'start')} to ${textOf(value, 'end')}`;
  if (from === null || to === null || (added == null && removed == null)) {
    const reason = 'Its times or its people cannot be read.';
    moved.ledger.see('override', id, name).refuse(reason, 'Enter an override of the schedule.');
    return null;
  }
  // A removal of somebody who was not read changes turns that are nobody's here.
  const unread = added != null && !moved.people.has(added) ? [added] : [];
  return [
    {
      id,
      name,
      from,
      to,
      people: unread,
      patterns: null,
      added: added ?? null,
      removed: removed ?? null,
      shifts: null,
    },
  ];
}

function temporaryOf(
  moved: Moved,
  value: RawObject,
  scheduleId: string,
  scheduleName: string,
): GoAlertOverride[] | null {
  const id = `${scheduleId} ${textOf(value, 'start')}`;
  const name = `Temporary schedule of ${scheduleName} from ${textOf(value, 'start')} to ${textOf(value, 'end')}`;
  const [from, to] = [minuteOf(textOf(value, 'start')), minuteOf(textOf(value, 'end'))];
  if (from === null || to === null || !Array.isArray(value['shifts'])) {
    const reason = 'Its times or its shifts were not read.';
    moved.ledger.see('override', id, name).refuse(reason, 'Enter overrides of the schedule.');
    return null;
  }
  const shifts = objectsOf(value['shifts']).flatMap((shift): Duty[] => {
    const [start, end] = [minuteOf(textOf(shift, 'start')), minuteOf(textOf(shift, 'end'))];
    if (start === null || end === null) return [];
    return [{ from: start, to: end, people: [moved.personOrUnknown(textOf(shift, 'userID'), '')], level: 0 }];
  });
  const unread = shifts.flatMap(({ people }) => people).filter((person) => !moved.people.has(person));
  return [{ id, name, from, to, people: unread, patterns: null, added: null, removed: null, shifts }];
}

/** Returns the timeline of the rotations as overrides change it, and temporary schedules replace it. */
function withChanges(
  timeline: readonly Stretch[],
  overrides: readonly GoAlertOverride[],
  from: number,
  to: number,
): Stretch[] {
  const running = overrides.filter((override) => override.to > from && override.from < to);
  if (running.length === 0) return [...timeline];
  const shifts = running.flatMap((override) => override.shifts ?? []);
  const edges = [...timeline, ...running, ...shifts].flatMap((time) => [time.from, time.to]);
  const ordered = [...new Set([from, to, ...edges])]
    .filter((edge) => edge >= from && edge <= to)
    .toSorted((a, b) => a - b);
  const changed: Stretch[] = [];
  let index = 0;
  for (const [place, start] of ordered.entries()) {
    const end = ordered[place + 1];
    if (end === undefined) break;
    while ((timeline[index]?.to ?? Infinity) <= start) index += 1;
    const holds = (time: Interval): boolean => time.from <= start && start < time.to;
    const now = running.filter((override) => holds(override));
    const fixed = now.filter((override) => override.shifts !== null);
    const people =
      fixed.length > 0
        ? shifts.filter((shift) => holds(shift)).flatMap((shift) => shift.people)
        : mapped(timeline[index]?.people ?? [], now);
    append(changed, { from: start, to: end, people: [...new Set(people)].toSorted() });
  }
  return changed;
}

function mapped(people: readonly string[], overrides: readonly GoAlertOverride[]): string[] {
  const inPlace = new Map(overrides.flatMap(({ added, removed }) => (removed === null ? [] : [[removed, added]])));
  const kept = people.flatMap((person) => {
    const other = inPlace.get(person);
    return other === undefined ? [person] : (other ?? []);
  });
  return [...kept, ...overrides.flatMap(({ added, removed }) => (removed === null && added !== null ? [added] : []))];
}
