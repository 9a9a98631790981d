import { isoOf } from '#kernel/wall_clock.ts';
import { DAY_MS, type ZoneClock } from '#kernel/zone_clock.ts';
import { addSchedule, type ReadOverride } from '#modules/moving_in/decide/add_schedule.ts';
import { isZone, type Moved, type RenderedTimeline } from '#modules/moving_in/decide/moved.ts';
import type { PagerDutyAnswers, RawSchedule } from '#modules/moving_in/decide/pagerduty/collect.ts';
import { namedApart, type Pattern, spansOf } from '#modules/moving_in/decide/pattern.ts';
import {
  instantOf,
  numberOf,
  objectOf,
  objectsOf,
  offsetOf,
  type RawObject,
  textOf,
} from '#modules/moving_in/decide/raw.ts';
import {
  common,
  type Duty,
  layOver,
  renderedWindow,
  type Stretch,
  timesOfWeek,
  turnsBetween,
  type WeekWindow,
} from '#modules/moving_in/decide/timeline.ts';

/** Adds the schedules of version 2, whose layers PagerDuty lists from the highest to the lowest. */
export function addPagerDutySchedules(moved: Moved, answers: PagerDutyAnswers): void {
  const byId = Map.groupBy(answers.schedules, ({ value }) => textOf(value, 'id'));
  byId.delete('');
  for (const [id, documents] of byId) {
    const isShiftBased = answers.schedulesV3.some(({ value }) => textOf(value, 'id') === id);
    if (!isShiftBased) addScheduleOf(moved, id, documents, overridesOf(moved, id, answers));
  }
}

function addScheduleOf(
  moved: Moved,
  id: string,
  documents: readonly RawSchedule[],
  overrides: readonly ReadOverride[],
): void {
  const { value } = best(documents, moved);
  const [name, zone] = [textOf(value, 'name') || textOf(value, 'summary'), textOf(value, 'time_zone')];
  const teamIds = objectsOf(value['teams']).map((team) => textOf(team, 'id'));
  const schedule = moved.ledger.see('schedule', id, name);
  if (!documents.some((document) => Array.isArray(document.value['schedule_layers']))) {
    const reason = 'Its layers were not read: it was only named.';
    schedule.refuse(reason, 'Read schedules with include[]=schedule_layers, or each by itself.');
    return;
  }
  const rawLayers = objectsOf(value['schedule_layers']);
  for (const [index, layer] of rawLayers.entries())
    moved.ledger.see('layer', layerId(layer, id, index), `${name}: ${textOf(layer, 'name')}`);
  if (!isZone(zone)) {
    for (const [index, layer] of rawLayers.entries()) {
      moved.ledger
        .item('layer', layerId(layer, id, index))
        .refuse('Its schedule is refused.', 'Mend the schedule, and read again.');
    }
    addSchedule(moved, { id, name, zone, teamIds, patterns: [], overrides, rendered: [], walk: () => [] });
    return;
  }
  const clock = moved.clock(zone);
  const layers = rawLayers.flatMap((layer, index) => {
    const read = readLayer(moved, clock, layer, layerId(layer, id, index));
    return read === null ? [] : [read];
  });
  const patterns = layers.map((layer, index) => patternOf(layer, layers.length - index));
  addSchedule(moved, {
    id,
    name,
    zone,
    teamIds,
    patterns: namedApart(patterns),
    overrides,
    rendered: documents.flatMap((document) => renderedOf(moved, document) ?? []),
    walk: (from, to) => walkLayers(layers, overrides, clock, from, to),
  });
}

function layerId(layer: RawObject, scheduleId: string, index: number): string {
  return textOf(layer, 'id') || `${scheduleId}/${index}`;
}

/** Returns the document to read layers from: one that was asked for in the zone of the schedule, by itself. */
function best(documents: readonly RawSchedule[], moved: Moved): RawSchedule {
  const rank = ({ value, isDetail }: RawSchedule): number => {
    const layers = objectsOf(value['schedule_layers']);
    const zone = textOf(value, 'time_zone');
    const isShifted = isZone(zone) && layers.some((layer) => shiftOf(layer, moved.clock(zone)) !== 0);
    return (layers.length > 0 ? 4 : 0) + (isShifted ? 0 : 2) + (isDetail ? 1 : 0);
  };
  const [first] = documents.toSorted((a, b) => rank(b) - rank(a));
  if (first === undefined) throw new Error('a schedule without a document');
  return first;
}

/**
 * Returns how far the wall clock of the schedule is ahead of the one that a layer was rendered in, in minutes:
 * restrictions have no offset, and are in the zone of whoever asked.
 */
function shiftOf(layer: RawObject, clock: ZoneClock): number {
  if (textOf(layer, 'end') !== '') return 0;
  for (const name of ['rotation_virtual_start', 'start']) {
    const text = textOf(layer, name);
    const [ms, offset] = [instantOf(text), offsetOf(text)];
    if (ms !== null && offset !== null) return (clock.wallOf(ms) - ms - offset) / 60_000;
  }
  return 0;
}

function readLayer(moved: Moved, clock: ZoneClock, layer: RawObject, id: string): PagerDutyLayer | null {
  const item = moved.ledger.item('layer', id);
  const [start, anchor] = [instantOf(textOf(layer, 'start')), instantOf(textOf(layer, 'rotation_virtual_start'))];
  const end = instantOf(textOf(layer, 'end'));
  const seconds = numberOf(layer, 'rotation_turn_length_seconds');
  const users = objectsOf(layer['users']).map((entry) => objectOf(entry['user']) ?? entry);
  const todo = `Look at the layer in ${moved.tool.title}, and read again.`;
  if (anchor === null || seconds === null || seconds <= 0) {
    item.refuse('It has no start or no length of a turn that can be read.', todo);
    return null;
  }
  if (users.length === 0) {
    item.refuse(
      'Nobody is in its rotation, so it puts nobody on call; it is left out.',
      'Name people, if it is needed.',
    );
    return null;
  }
  if (end !== null && end <= moved.since) {
    item.judge('exact', `It ended at ${isoOf(end)}, so it is left out.`);
  } else {
    item.judge('exact');
    const shift = shiftOf(layer, clock);
    if (shift !== 0 && objectsOf(layer['restrictions']).length > 0) {
      item.judge(
        'compiled',
        `Its hours were told in another time zone, ${Math.abs(shift)} minutes ${shift > 0 ? 'behind' : 'ahead of'} that of the schedule, and are converted.`,
        'Read the schedule with time_zone set to its own zone.',
      );
    }
  }
  const people = users.map((user) => {
    const [userId, name] = [textOf(user, 'id'), textOf(user, 'summary') || textOf(user, 'name')];
    if (moved.person(userId) !== null) return moved.personOrUnknown(userId, name);
    if (textOf(user, 'deleted_at') !== '') {
      item.judge(
        'frozen',
        `${name || userId} was deleted, so the turn is nobody's.`,
        'Put somebody else in their place.',
      );
      return null;
    }
    item.refuse(`${name || userId} is not among the people that were read; the turn is nobody's.`, 'Read all users.');
    return moved.personOrUnknown(userId, name);
  });
  return {
    id,
    name: textOf(layer, 'name') || 'Layer',
    start: start ?? anchor,
    end,
    anchorWall: clock.wallOf(anchor),
    lengthMs: seconds * 1_000,
    windows: windowsOf(objectsOf(layer['restrictions']), shiftOf(layer, clock)),
    people,
  };
}

/** Returns the hours of restrictions, moved by minutes. Day 1 is Monday; 0 and 7 are Sunday. */
function windowsOf(restrictions: readonly RawObject[], shift: number): WeekWindow[] | null {
  if (restrictions.length === 0) return null;
  return restrictions.flatMap((restriction): WeekWindow[] => {
    const match = /^(\d\d?):(\d\d)/.exec(textOf(restriction, 'start_time_of_day'));
    const minutes = Math.round((numberOf(restriction, 'duration_seconds') ?? 0) / 60);
    const time = match === null ? 0 : Number(match[1]) * 60 + Number(match[2]);
    const day = numberOf(restriction, 'start_day_of_week');
    const days = day === null ? [0, 1, 2, 3, 4, 5, 6] : [(day + 6) % 7];
    return days.map((index) => ({ start: index * 24 * 60 + time + shift, minutes }));
  });
}

function patternOf(layer: PagerDutyLayer, level: number): Pattern {
  return {
    name: layer.name,
    level,
    anchorWall: layer.anchorWall,
    length: { ms: layer.lengthMs },
    turns: layer.people.map((person) => (person === null || person.startsWith('unknown ') ? [] : [person])),
    hours: layer.windows === null ? null : spansOf(layer.windows),
    from: layer.start,
    until: layer.end,
  };
}

function overridesOf(moved: Moved, scheduleId: string, answers: PagerDutyAnswers): ReadOverride[] {
  const lists = [
    ...answers.overrides.filter(({ path }) => path.includes(scheduleId.toLowerCase())).flatMap(({ values }) => values),
    ...answers.schedules
      .filter(({ value }) => textOf(value, 'id') === scheduleId)
      .flatMap(({ value }) => objectsOf(value['overrides'])),
  ];
  return lists.flatMap((override, index) => {
    const [from, to] = [instantOf(textOf(override, 'start')), instantOf(textOf(override, 'end'))];
    const user = objectOf(override['user']);
    if (from === null || to === null || user === null) return [];
    const name = textOf(user, 'summary') || textOf(user, 'name');
    const people = [moved.personOrUnknown(textOf(user, 'id'), name)];
    return [
      {
        id: textOf(override, 'id') || `${scheduleId}/override/${index}`,
        name: `${name} from ${textOf(override, 'start')}`,
        from,
        to,
        people,
        patterns: null,
      },
    ];
  });
}

/** Returns the final schedule of a document; null if there is none, or it was asked for without a time. */
function renderedOf(moved: Moved, { path, value }: RawSchedule): RenderedTimeline | null {
  const final = objectOf(value['final_schedule']);
  // Without it nothing was rendered, which is not the same as nobody on call.
  if (final === null) return null;
  const entries = objectsOf(final['rendered_schedule_entries']);
  const stretches = entries.flatMap((entry) => {
    const [from, to, user] = [
      instantOf(textOf(entry, 'start')),
      instantOf(textOf(entry, 'end')),
      objectOf(entry['user']),
    ];
    if (from === null || to === null || user === null) return [];
    const isGone = moved.person(textOf(user, 'id')) === null && textOf(user, 'deleted_at') !== '';
    return [{ from, to, people: isGone ? [] : [moved.personOrUnknown(textOf(user, 'id'), textOf(user, 'summary'))] }];
  });
  const all = objectsOf(value['schedule_layers']).flatMap((layer) => objectsOf(layer['rendered_schedule_entries']));
  const edges = [...entries, ...all].flatMap((entry) => [
    instantOf(textOf(entry, 'start')),
    instantOf(textOf(entry, 'end')),
  ]);
  const window = renderedWindow(
    path,
    value,
    edges.filter((edge) => edge !== null),
  );
  return window === null || window.to - window.from > 400 * DAY_MS ? null : { ...window, stretches };
}

/** A layer of a schedule of version 2, read. */
interface PagerDutyLayer {
  readonly id: string;
  readonly name: string;
  /** Time of its last change: it is silent before. */
  readonly start: number;
  readonly end: number | null;
  /** `rotation_virtual_start`, from which turns are counted, on the wall clock. */
  readonly anchorWall: number;
  readonly lengthMs: number;
  readonly windows: readonly WeekWindow[] | null;
  /** Keys of the people, one for each turn; null: the account was deleted, so nobody can be paged. */
  readonly people: readonly (string | null)[];
}

/**
 * Tells who is on call within `[from, to)` by what PagerDuty's documentation says: turns are counted from
 * `rotation_virtual_start`, a layer holds from `start` until `end` and within its restrictions, the first one listed
 * lies over the others, and overrides lie over all.
 */
function walkLayers(
  layers: readonly PagerDutyLayer[],
  overrides: readonly ReadOverride[],
  clock: ZoneClock,
  from: number,
  to: number,
): Stretch[] {
  const duties: Duty[] = [];
  for (const [index, layer] of layers.entries()) {
    const [begin, end] = [Math.max(from, layer.start), Math.min(to, layer.end ?? to)];
    if (begin >= end) continue;
    const { anchorWall, lengthMs, people, windows } = layer;
    const isAlone = people.every((person) => person === people[0]);
    const turns = isAlone ? [{ from: begin, to: end, turn: 0 }] : turnsBetween(clock, anchorWall, lengthMs, begin, end);
    for (const { turn, ...time } of common(turns, timesOfWeek(clock, windows, begin, end))) {
      const person = people[((turn % people.length) + people.length) % people.length];
      if (person !== null && person !== undefined)
        duties.push({ ...time, people: [person], level: layers.length - index });
    }
  }
  for (const [index, override] of overrides.entries()) duties.push({ ...override, level: layers.length + 1 + index });
  return layOver(duties, from, to);
}
