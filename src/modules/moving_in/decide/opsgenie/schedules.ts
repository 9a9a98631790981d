import { isoOf } from '#kernel/wall_clock.ts';
import { DAY_MS, type ZoneClock } from '#kernel/zone_clock.ts';
import { addSchedule, type ReadOverride } from '#modules/moving_in/decide/add_schedule.ts';
import { isZone, type Moved, type RenderedTimeline } from '#modules/moving_in/decide/moved.ts';
import type { Located, OpsgenieAnswers } from '#modules/moving_in/decide/opsgenie/collect.ts';
import { type ParticipantReader, userIdOf } from '#modules/moving_in/decide/opsgenie/people.ts';
import { namedApart, type Pattern, spansOf } from '#modules/moving_in/decide/pattern.ts';
import { compareTimelines, tile } from '#modules/moving_in/decide/proof.ts';
import {
  instantOf,
  numberOf,
  objectOf,
  objectsOf,
  type RawObject,
  textOf,
  wallOf,
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

const DAYS = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'];

const UNIT_MS: Record<string, number> = { hourly: 3_600_000, daily: DAY_MS, weekly: 7 * DAY_MS };

/** Adds the schedules, whose rotations are on call together. */
export function addOpsgenieSchedules(moved: Moved, answers: OpsgenieAnswers, participants: ParticipantReader): void {
  const byId = Map.groupBy(answers.schedule, ({ value }) => textOf(value, 'id'));
  byId.delete('');
  for (const [id, documents] of byId) addScheduleOf(moved, id, documents, answers, participants);
}

function addScheduleOf(
  moved: Moved,
  id: string,
  documents: readonly Located[],
  answers: OpsgenieAnswers,
  participants: ParticipantReader,
): void {
  const { ledger } = moved;
  const value: RawObject = Object.assign({}, ...documents.map((document) => document.value));
  const [name, zone] = [textOf(value, 'name'), textOf(value, 'timezone')];
  const teamIds = [textOf(objectOf(value['ownerTeam']), 'id') || textOf(value, 'teamId')].filter(
    (teamId) => teamId !== '',
  );
  const item = ledger.see('schedule', id, name);
  const raw = rotationsOf(id, documents, answers);
  for (const rotation of raw) ledger.see('rotation', textOf(rotation, 'id'), `${name}: ${textOf(rotation, 'name')}`);
  const overrides = readOverrides(moved, id, answers);
  if (!isZone(zone)) {
    for (const rotation of raw)
      ledger
        .item('rotation', textOf(rotation, 'id'))
        .refuse('Its schedule is refused.', 'Mend the schedule, and read again.');
    addSchedule(moved, { id, name, zone, teamIds, patterns: [], overrides: [], rendered: [], walk: () => [] });
    return;
  }
  const clock = moved.clock(zone);
  const rotations = raw.flatMap((rotation) => readRotation(moved, clock, rotation, participants) ?? []);
  const rendered = answers.timeline.flatMap((timeline) => renderedOf(id, name, timeline, participants) ?? []);
  const isWall = isWallClock(rotations, overrides, clock, rendered);
  if (isWall) {
    item.judge(
      'compiled',
      'The digits of startDate are taken for the wall clock of the schedule, since only so its rendered timeline comes out.',
    );
  }
  const read = isWall ? rotations.map((rotation) => ({ ...rotation, anchorWall: rotation.writtenWall })) : rotations;
  const patterns = namedApart(read.map((rotation) => patternOf(rotation)));
  const names = new Map(read.map((rotation, index) => [rotation.id, patterns[index]?.name ?? rotation.name]));
  addSchedule(moved, {
    id,
    name,
    zone,
    teamIds,
    patterns,
    overrides: overrides.map((override) => ({
      ...override,
      patterns:
        override.rotationIds === null
          ? null
          : override.rotationIds.flatMap((rotationId) => names.get(rotationId) ?? []),
    })),
    rendered,
    walk: (from, to) => walkRotations(read, overrides, clock, from, to),
  });
  if (value['enabled'] === false)
    item.judge(
      'compiled',
      'It is disabled there; here it counts wherever a policy names it.',
      'Take it out of the policies.',
    );
}

function rotationsOf(id: string, documents: readonly Located[], answers: OpsgenieAnswers): RawObject[] {
  const all = [
    ...documents.flatMap((document) => objectsOf(document.value['rotations'])),
    ...answers.rotation
      .filter(({ path, value }) => path.includes(id.toLowerCase()) || textOf(objectOf(value['_parent']), 'id') === id)
      .map(({ value }) => value),
  ];
  return [
    ...new Map(
      all.map((rotation, index) => [
        textOf(rotation, 'id') || `${id}/${index}`,
        { ...rotation, id: textOf(rotation, 'id') || `${id}/${index}` },
      ]),
    ).values(),
  ];
}

function readRotation(
  moved: Moved,
  clock: ZoneClock,
  rotation: RawObject,
  participants: ParticipantReader,
): OpsgenieRotation | null {
  const id = textOf(rotation, 'id');
  const item = moved.ledger.item('rotation', id);
  const start = instantOf(textOf(rotation, 'startDate'));
  const unit = UNIT_MS[textOf(rotation, 'type').toLowerCase()];
  const listed = objectsOf(rotation['participants']);
  if (start === null || unit === undefined) {
    item.refuse('Its start or its type cannot be read.', 'Look at the rotation, and read again.');
    return null;
  }
  if (listed.length === 0) {
    item.refuse('Nobody is in it, so it puts nobody on call; it is left out.', 'Name people, if it is needed.');
    return null;
  }
  const end = instantOf(textOf(rotation, 'endDate'));
  if (end !== null && end <= moved.since) item.judge('exact', `It ended at ${isoOf(end)}, so it is left out.`);
  else item.judge('exact');
  return {
    id,
    name: textOf(rotation, 'name') || 'Rotation',
    start,
    end,
    anchorWall: clock.wallOf(start),
    writtenWall: wallOf(textOf(rotation, 'startDate')) ?? clock.wallOf(start),
    lengthMs: unit * Math.max(1, numberOf(rotation, 'length') ?? 1),
    windows: windowsOf(objectOf(rotation['timeRestriction'])),
    turns: listed.map((participant) => {
      const { people, frozen, missing } = participants.peopleOf(participant);
      if (frozen !== '') item.judge('frozen', frozen, 'Change the layer when these people change.');
      if (missing !== '') item.refuse(missing, 'Read all users and teams.');
      return people;
    }),
  };
}

function windowsOf(restriction: RawObject | null): WeekWindow[] | null {
  if (restriction === null) return null;
  const single = objectOf(restriction['restriction']);
  const list = [
    ...objectsOf(restriction['restrictions']),
    ...objectsOf(restriction['restriction']),
    ...(single === null ? [] : [single]),
  ];
  if (list.length === 0) return null;
  return list.flatMap((window): WeekWindow[] => {
    const from = (numberOf(window, 'startHour') ?? 0) * 60 + (numberOf(window, 'startMin') ?? 0);
    const to = (numberOf(window, 'endHour') ?? 0) * 60 + (numberOf(window, 'endMin') ?? 0);
    const [startDay, endDay] = [
      DAYS.indexOf(textOf(window, 'startDay').toLowerCase()),
      DAYS.indexOf(textOf(window, 'endDay').toLowerCase()),
    ];
    if (startDay < 0) {
      const minutes = to > from ? to - from : to - from + 24 * 60;
      return DAYS.map((_, day) => ({ start: day * 24 * 60 + from, minutes }));
    }
    const start = startDay * 24 * 60 + from;
    const end = (endDay < 0 ? startDay : endDay) * 24 * 60 + to;
    return [{ start, minutes: end > start ? end - start : end - start + 7 * 24 * 60 }];
  });
}

function patternOf(rotation: OpsgenieRotation): Pattern {
  return {
    name: rotation.name,
    level: 0,
    anchorWall: rotation.anchorWall,
    length: { ms: rotation.lengthMs },
    turns: rotation.turns.map((people) => people.filter((person) => !person.startsWith('unknown '))),
    hours: rotation.windows === null ? null : spansOf(rotation.windows),
    from: rotation.start,
    until: rotation.end,
  };
}

function readOverrides(moved: Moved, id: string, answers: OpsgenieAnswers): (OpsgenieOverride & ReadOverride)[] {
  return answers.override
    .filter(({ path, value }) => path.includes(id.toLowerCase()) || textOf(objectOf(value['_parent']), 'id') === id)
    .flatMap(({ value }, index) => {
      const [from, to] = [instantOf(textOf(value, 'startDate')), instantOf(textOf(value, 'endDate'))];
      if (from === null || to === null) return [];
      const user = objectOf(value['user']) ?? objectOf(value['responder']);
      const shown = textOf(user, 'username') || textOf(user, 'name') || userIdOf(user);
      const isNobody = user === null || textOf(user, 'type') === 'none' || shown === '';
      const rotationIds = [
        ...objectsOf(value['rotations']).map((rotation) => textOf(rotation, 'id')),
        ...(Array.isArray(value['rotationIds'])
          ? value['rotationIds'].filter((entry) => typeof entry === 'string')
          : []),
      ];
      return [
        {
          id: textOf(value, 'alias') || `${id}/override/${index}`,
          name: `${isNobody ? 'nobody' : shown} from ${textOf(value, 'startDate')}`,
          from,
          to,
          people: isNobody ? [] : [moved.person(userIdOf(user)) ?? moved.personOrUnknown(shown, shown)],
          patterns: null,
          rotationIds: rotationIds.length > 0 ? rotationIds : null,
        },
      ];
    });
}

function renderedOf(
  id: string,
  name: string,
  { path, value }: Located,
  participants: ParticipantReader,
): RenderedTimeline | null {
  const parent = objectOf(value['_parent']);
  const isOurs =
    textOf(parent, 'id') === id ||
    (parent !== null && textOf(parent, 'id') === '' && textOf(parent, 'name') === name) ||
    path.includes(id.toLowerCase());
  const timeline = objectOf(value['finalTimeline']);
  if (!isOurs || timeline === null) return null;
  const duties = objectsOf(timeline['rotations'])
    .flatMap((rotation) => objectsOf(rotation['periods']))
    .flatMap((period): Duty[] => {
      const [from, to] = [instantOf(textOf(period, 'startDate')), instantOf(textOf(period, 'endDate'))];
      if (from === null || to === null) return [];
      const flat = objectsOf(period['flattenedRecipients']);
      const recipient = objectOf(period['recipient']);
      const recipients = flat.length > 0 ? flat : recipient === null ? [] : [recipient];
      return [{ from, to, people: recipients.flatMap((entry) => participants.peopleOf(entry).people), level: 0 }];
    });
  const edges = duties.flatMap(({ from, to }) => [from, to]);
  const [start, end] = [instantOf(textOf(value, 'startDate')), instantOf(textOf(value, 'endDate'))];
  const window =
    start !== null && end !== null
      ? { from: Math.ceil(start / 60_000) * 60_000, to: end }
      : renderedWindow(path, value, edges);
  if (window === null || window.to <= window.from || window.to - window.from > 400 * DAY_MS) return null;
  return {
    ...window,
    stretches: layOver(
      duties.filter(({ people }) => people.length > 0),
      window.from,
      window.to,
    ),
  };
}

/** Whether the rendered timelines come out better when the digits of `startDate` are the wall clock of the schedule. */
function isWallClock(
  rotations: readonly OpsgenieRotation[],
  overrides: readonly OpsgenieOverride[],
  clock: ZoneClock,
  rendered: readonly RenderedTimeline[],
): boolean {
  const equalMinutes = (read: readonly OpsgenieRotation[]): number => {
    let sum = 0;
    for (const window of rendered) {
      sum += compareTimelines(
        tile(window.stretches, window),
        walkRotations(read, overrides, clock, window.from, window.to),
        window,
      ).equal;
    }
    return sum;
  };
  return (
    rendered.length > 0 &&
    equalMinutes(rotations.map((rotation) => ({ ...rotation, anchorWall: rotation.writtenWall }))) >
      equalMinutes(rotations)
  );
}

interface OpsgenieRotation {
  readonly id: string;
  readonly name: string;
  readonly start: number;
  readonly end: number | null;
  /** `startDate` on the wall clock of the schedule. */
  readonly anchorWall: number;
  /** The digits of `startDate`, whatever zone they are in. */
  readonly writtenWall: number;
  readonly lengthMs: number;
  readonly windows: readonly WeekWindow[] | null;
  readonly turns: readonly (readonly string[])[];
}

interface OpsgenieOverride {
  readonly from: number;
  readonly to: number;
  readonly people: readonly string[];
  /** Rotations that it replaces; null: all. */
  readonly rotationIds: readonly string[] | null;
}

/**
 * Tells who is on call within `[from, to)` by what Opsgenie's documentation says: each rotation has its own turns and
 * time restriction, all rotations are on call together, and an override replaces the rotations that it names.
 */
function walkRotations(
  rotations: readonly OpsgenieRotation[],
  overrides: readonly OpsgenieOverride[],
  clock: ZoneClock,
  from: number,
  to: number,
): Stretch[] {
  const duties: Duty[] = [];
  for (const rotation of rotations) {
    const layered = rotationDuties(rotation, clock, from, to);
    for (const [index, override] of overrides.entries()) {
      if (override.rotationIds?.includes(rotation.id) === true) layered.push({ ...override, level: 1 + index });
    }
    for (const stretch of layOver(layered, from, to)) duties.push({ ...stretch, level: 0 });
  }
  for (const [index, override] of overrides.entries()) {
    if (override.rotationIds === null) duties.push({ ...override, level: 1 + index });
  }
  return layOver(
    duties.filter(({ people, level }) => people.length > 0 || level > 0),
    from,
    to,
  );
}

function rotationDuties(
  { start, end, anchorWall, lengthMs, windows, turns }: OpsgenieRotation,
  clock: ZoneClock,
  from: number,
  to: number,
): Duty[] {
  const [first, last] = [Math.max(from, start), Math.min(to, end ?? to)];
  if (first >= last) return [];
  const times = timesOfWeek(clock, windows, first, last);
  return common(turnsBetween(clock, anchorWall, lengthMs, first, last), times).map(({ turn, ...time }) => ({
    ...time,
    people: turns[((turn % turns.length) + turns.length) % turns.length] ?? [],
    level: 0,
  }));
}
