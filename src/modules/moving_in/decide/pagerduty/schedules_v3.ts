import { addSchedule, type ReadOverride } from '#modules/moving_in/decide/add_schedule.ts';
import { isZone, type Moved, type RenderedTimeline } from '#modules/moving_in/decide/moved.ts';
import type { PagerDutyAnswers, RawSchedule } from '#modules/moving_in/decide/pagerduty/collect.ts';
import { namedApart, type Pattern } from '#modules/moving_in/decide/pattern.ts';
import { instantOf, numberOf, objectOf, objectsOf, type RawObject, textOf } from '#modules/moving_in/decide/raw.ts';
import {
  endOfLast,
  momentOfRule,
  patternOfRecurrence,
  readRule,
  type Recurrence,
  walkEvents,
  weekdayOf,
} from '#modules/moving_in/decide/recurrence.ts';
import { type Duty, layOver, renderedWindow, type Stretch } from '#modules/moving_in/decide/timeline.ts';
import { isoOf } from '#kernel/wall_clock.ts';
import type { ZoneClock } from '#kernel/zone_clock.ts';

interface ShiftEvent {
  readonly id: string;
  readonly name: string;
  readonly rotationId: string;
  readonly recurrence: Recurrence;
  readonly from: number | null;
  readonly until: number | null;
  /** Whether it takes place once only. */
  readonly isSingle: boolean;
}

/** Adds the schedules of version 3, which the list of version 2 leaves out. All rotations of one are on call together. */
export function addShiftBasedSchedules(moved: Moved, answers: PagerDutyAnswers): void {
  const byId = Map.groupBy(answers.schedulesV3, ({ value }) => textOf(value, 'id'));
  byId.delete('');
  for (const [id, documents] of byId) addScheduleOf(moved, id, documents, answers);
}

function addScheduleOf(moved: Moved, id: string, documents: readonly RawSchedule[], answers: PagerDutyAnswers): void {
  const { ledger } = moved;
  const value: RawObject = Object.assign({}, ...documents.map((document) => withoutEmpty(document.value)));
  const [name, zone] = [textOf(value, 'name') || textOf(value, 'summary'), textOf(value, 'time_zone')];
  ledger.see('schedule', id, name);
  const rotations = rotationsOf(id, documents, answers);
  const teamIds = objectsOf(value['teams']).map((team) => textOf(team, 'id'));
  if (!isZone(zone)) {
    addSchedule(moved, { id, name, zone, teamIds, patterns: [], overrides: [], rendered: [], walk: () => [] });
    return;
  }
  const clock = moved.clock(zone);
  const events: ShiftEvent[] = [];
  for (const { rotation, values } of rotations) {
    for (const [index, event] of values.entries()) {
      const eventId = textOf(event, 'id') || `${textOf(rotation, 'id')}/${index}`;
      ledger.see('layer', eventId, `${name}: ${textOf(event, 'name') || textOf(rotation, 'name')}`);
      const read = readEvent(moved, clock, event, eventId, rotation);
      if (read !== null) events.push(read);
    }
  }
  const patterns = patternsOf(events, moved.since);
  const shifts = customShifts(moved, id, answers);
  // A shift of its own comes beside the rotations, so that the walk says who is on call in its time.
  const shiftsBeside = shifts.map((shift) => {
    const isKnown = shift.people.every((person) => moved.people.has(person));
    return isKnown ? { ...shift, people: [] } : shift;
  });
  const overrides = [...shiftsBeside, ...overridesOf(moved, id, answers)];
  addSchedule(moved, {
    id,
    name,
    zone,
    teamIds,
    patterns,
    overrides,
    rendered: documents.flatMap((document) => renderedOf(moved, document) ?? []),
    walk: (from, to) => walkShifts(events, shifts, overridesOf(moved, id, answers), clock, from, to),
  });
}

function withoutEmpty(value: RawObject): RawObject {
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== null && field !== ''));
}

function rotationsOf(
  id: string,
  documents: readonly RawSchedule[],
  answers: PagerDutyAnswers,
): { rotation: RawObject; values: RawObject[] }[] {
  const ofSchedule = [
    ...documents.flatMap(({ value }) => objectsOf(value['rotations'])),
    ...answers.rotations.filter(({ path }) => path.includes(id.toLowerCase())).flatMap(({ values }) => values),
  ];
  const byId = new Map<string, RawObject>();
  for (const rotation of ofSchedule)
    byId.set(textOf(rotation, 'id'), { ...byId.get(textOf(rotation, 'id')), ...withoutEmpty(rotation) });
  return [...byId].map(([rotationId, rotation]) => {
    const events = [
      ...objectsOf(rotation['events']),
      ...answers.events
        .filter(({ path }) => rotationId !== '' && path.includes(rotationId.toLowerCase()))
        .flatMap(({ values }) => values),
    ];
    return {
      rotation,
      values: [...new Map(events.map((event, index) => [textOf(event, 'id') || String(index), event])).values()],
    };
  });
}

function readEvent(
  moved: Moved,
  clock: ZoneClock,
  event: RawObject,
  id: string,
  rotation: RawObject,
): ShiftEvent | null {
  const item = moved.ledger.item('layer', id);
  const [start, end] = [momentOf(event['start_time']), momentOf(event['end_time'])];
  if (start === null || end === null || end <= start) {
    item.refuse('Its beginning or end cannot be read.', 'Look at the event, and read again.');
    return null;
  }
  const effectiveUntil = instantOf(textOf(event, 'effective_until'));
  const rule = ruleOf(moved, event['recurrence'], clock);
  if (rule !== null && 'because' in rule) {
    const todo = 'Make a layer for it by hand.';
    item.refuse(`It is left out, because ${rule.because}.`, todo);
    return null;
  }
  const strategy = objectOf(event['assignment_strategy']);
  const members = objectsOf(strategy?.['members']);
  const groups = members.map((member) => {
    const userId = textOf(member, 'user_id') || textOf(objectOf(member['user']), 'id');
    if (textOf(member, 'type') === 'empty_member' || userId === '') return [];
    if (moved.person(userId) === null)
      item.refuse(
        `${textOf(member, 'name') || userId} is not among the people that were read; the turn is nobody's.`,
        'Read all users.',
      );
    return moved.person(userId) === null ? [] : [moved.personOrUnknown(userId, textOf(member, 'name'))];
  });
  const isTogether = textOf(strategy, 'type').startsWith('every_member');
  const startWall = clock.wallOf(start);
  const recurrence: Recurrence = {
    startWall,
    durationMs: clock.wallOf(end) - startWall,
    ...(rule ?? { frequency: 'weekly', interval: 1, days: [], weekStart: 0 }),
    groups: isTogether ? [[...new Set(groups.flat())]] : groups,
    changesBy: 'event',
    perGroup: isTogether ? 1 : Math.max(1, numberOf(strategy, 'shifts_per_member') ?? 1),
  };
  const lastEnd = endOfLast(recurrence, clock);
  const until = lastEnd === null ? effectiveUntil : Math.min(lastEnd, effectiveUntil ?? lastEnd);
  const isOver = until !== null && until <= moved.since;
  item.judge('exact', isOver ? `It ended at ${isoOf(until)}, so it is left out.` : '');
  return {
    id,
    name: textOf(event, 'name') || textOf(rotation, 'name') || 'Rotation',
    rotationId: textOf(rotation, 'id'),
    recurrence,
    from: instantOf(textOf(event, 'effective_since')),
    until,
    isSingle: rule === null,
  };
}

function momentOf(value: unknown): number | null {
  const zoned = objectOf(value);
  return instantOf(zoned === null ? (typeof value === 'string' ? value : '') : textOf(zoned, 'date_time'));
}

type EventRule = Extract<ReturnType<typeof readRule>, { interval: number }> & Pick<Recurrence, 'excluded' | 'added'>;

/** Reads the rule, and the single events that are left out of it or added; null: it takes place once. */
function ruleOf(moved: Moved, value: unknown, clock: ZoneClock): EventRule | { readonly because: string } | null {
  const lines = (Array.isArray(value) ? value : [value]).filter((text) => typeof text === 'string');
  const line = lines.find((text) => text.includes('FREQ='));
  if (line === undefined) return null;
  const rule = readRule(line, clock);
  const dates = lines.flatMap((text) => {
    const [, name = '', zone = '', values = ''] = /^(EXDATE|RDATE)(?:;TZID=([^:;]+))?[^:]*:(.*)$/i.exec(text) ?? [];
    const dateClock = isZone(zone) ? moved.clock(zone) : clock;
    const isOut = name.toUpperCase() === 'EXDATE';
    const texts = name === '' ? [] : values.split(',');
    return texts.map((date) => ({ isOut, date, ms: momentOfRule(date.trim(), dateClock) }));
  });
  const unread = dates.find(({ ms }) => ms === null);
  if (unread !== undefined) return { because: `its date "${unread.date}" cannot be read` };
  if ('because' in rule || dates.length === 0) return rule;
  const timesOf = (wanted: boolean): number[] =>
    dates.flatMap(({ isOut, ms }) => (isOut === wanted && ms !== null ? [ms] : []));
  return { ...rule, excluded: new Set(timesOf(true)), added: timesOf(false) };
}

function patternsOf(events: readonly ShiftEvent[], since: number): Pattern[] | { readonly because: string } {
  const patterns: Pattern[] = [];
  for (const { name, recurrence, from, until, isSingle } of events) {
    if (until !== null && until <= since) continue;
    if (isSingle) return { because: `"${name}" does not repeat` };
    const turns = patternOfRecurrence({
      ...recurrence,
      days:
        recurrence.days.length === 0 && recurrence.frequency === 'weekly'
          ? [weekdayOf(recurrence.startWall)]
          : recurrence.days,
    });
    if ('because' in turns) return turns;
    patterns.push({ name, level: 0, ...turns, from, until });
  }
  return namedApart(patterns);
}

function customShifts(moved: Moved, id: string, answers: PagerDutyAnswers): ReadOverride[] {
  return answers.customShifts
    .filter(({ path }) => path.includes(id.toLowerCase()))
    .flatMap(({ values }) => values)
    .flatMap((shift) => {
      const [from, to] = [momentOf(shift['start_time']), momentOf(shift['end_time'])];
      const people = objectsOf(shift['assignments']).map((assignment) =>
        memberOf(moved, objectOf(assignment['member'])),
      );
      return from === null || to === null
        ? []
        : [{ id: textOf(shift, 'id'), name: `shift from ${isoOf(from)}`, from, to, people, patterns: null }];
    });
}

function memberOf(moved: Moved, member: RawObject | null): string {
  return moved.personOrUnknown(textOf(member, 'user_id'), textOf(member, 'name'));
}

function overridesOf(moved: Moved, id: string, answers: PagerDutyAnswers): ReadOverride[] {
  return answers.overrides
    .filter(({ path }) => path.includes(id.toLowerCase()))
    .flatMap(({ values }) => values)
    .flatMap((override) => {
      const [from, to] = [momentOf(override['start_time']), momentOf(override['end_time'])];
      const person = memberOf(moved, objectOf(override['overriding_member']));
      const name = `${moved.names.get(person) ?? person} from ${from === null ? '' : isoOf(from)}`;
      return from === null || to === null
        ? []
        : [{ id: textOf(override, 'id'), name, from, to, people: [person], patterns: null }];
    });
}

/** Tells who is on call: the members of every event at each time, and whoever an override puts in their place. */
function walkShifts(
  events: readonly ShiftEvent[],
  shifts: readonly ReadOverride[],
  overrides: readonly ReadOverride[],
  clock: ZoneClock,
  from: number,
  to: number,
): Stretch[] {
  const duties: Duty[] = [];
  for (const { recurrence, isSingle, ...event } of events) {
    const [begin, end] = [Math.max(from, event.from ?? from), Math.min(to, event.until ?? to)];
    if (begin >= end) continue;
    const shiftsOfEvent = isSingle
      ? walkEvents(recurrence, clock, clock.instantOf(recurrence.startWall), clock.instantOf(recurrence.startWall) + 1)
      : walkEvents(recurrence, clock, begin, end);
    for (const duty of shiftsOfEvent) {
      duties.push({ from: Math.max(begin, duty.from), to: Math.min(end, duty.to), people: duty.people, level: 0 });
    }
  }
  for (const shift of shifts) duties.push({ ...shift, level: 0 });
  for (const [index, override] of overrides.entries()) duties.push({ ...override, level: 1 + index });
  return layOver(
    duties.filter(({ people }) => people.length > 0),
    from,
    to,
  );
}

function renderedOf(moved: Moved, { path, value }: RawSchedule): RenderedTimeline | null {
  const final = objectOf(value['final_schedule']);
  // Without it nothing was rendered, which is not the same as nobody on call.
  if (final === null) return null;
  const entries = objectsOf(final['computed_shift_assignments']);
  const duties = entries.flatMap((entry): Duty[] => {
    const [from, to] = [momentOf(entry['start_time']), momentOf(entry['end_time'])];
    const member = objectOf(entry['member']);
    if (from === null || to === null || member === null) return [];
    return [{ from, to, people: textOf(member, 'type') === 'empty_member' ? [] : [memberOf(moved, member)], level: 0 }];
  });
  const window = renderedWindow(
    path,
    value,
    duties.flatMap(({ from, to }) => [from, to]),
  );
  return window === null ? null : { ...window, stretches: layOver(duties, window.from, window.to) };
}
