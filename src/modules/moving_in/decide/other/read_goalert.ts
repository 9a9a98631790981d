import { addPolicies, type ReadTarget } from '#modules/moving_in/decide/add_policies.ts';
import { addSchedule } from '#modules/moving_in/decide/add_schedule.ts';
import { nameInFile, phoneInFile } from '#modules/moving_in/decide/in_file.ts';
import { type Channel, isZone, Moved, type ReadingTime } from '#modules/moving_in/decide/moved.ts';
import { namedApart, type Pattern, spansOf } from '#modules/moving_in/decide/pattern.ts';
import {
  instantOf,
  numberOf,
  objectOf,
  objectsOf,
  type RawDocument,
  type RawObject,
  textOf,
} from '#modules/moving_in/decide/raw.ts';
import { type Duty, layOver, type Stretch } from '#modules/moving_in/decide/timeline.ts';
import { common, timesOfWeek, turnsBetween, type WeekWindow } from '#modules/moving_in/decide/walk.ts';
import { DAY_MS } from '#kernel/zone_clock.ts';

const LISTS = ['users', 'rotations', 'schedules', 'escalationPolicies', 'services'];
const UNIT_MS: Record<string, number> = { hourly: 3_600_000, daily: DAY_MS, weekly: 7 * DAY_MS };
const CHANNELS: Record<string, Channel> = { SMS: 'sms', VOICE: 'call', EMAIL: 'email' };

interface GoAlertRotation {
  readonly lengthMs: number;
  readonly start: number;
  readonly people: readonly string[];
}

/** Turns answers of GoAlert's GraphQL API into a file; null if none of the documents is one. */
export function readGoAlert(documents: readonly RawDocument[], time: ReadingTime): Moved | null {
  const bodies = documents.flatMap(({ value }): RawObject[] => {
    const body = objectOf(objectOf(value)?.['data']) ?? objectOf(value);
    return body === null ? [] : [body];
  });
  const all = (list: string): RawObject[] =>
    bodies.flatMap((body) => objectsOf(objectOf(body[list])?.['nodes'] ?? body[list]));
  if (LISTS.every((list) => all(list).length === 0)) return null;
  const moved = new Moved({ prefix: 'goalert', title: 'GoAlert' }, time);
  for (const user of all('users')) addUser(moved, user);
  const rotations = new Map(all('rotations').flatMap((rotation) => readRotation(moved, rotation) ?? []));
  for (const schedule of all('schedules')) addOne(moved, schedule, rotations);
  addReplacements(moved, all('userOverrides'), all('schedules'));
  addPolicies(
    moved,
    all('escalationPolicies').map((policy) => {
      let [afterMinutes, delay] = [0, 0];
      const steps = objectsOf(policy['steps']).map((step) => {
        afterMinutes += delay;
        delay = numberOf(step, 'delayMinutes') ?? 0;
        return { afterMinutes, targets: objectsOf(step['targets']).map((target) => targetOf(target)) };
      });
      const times = numberOf(policy, 'repeat') ?? 0;
      return {
        id: textOf(policy, 'id'),
        name: textOf(policy, 'name'),
        teamIds: [],
        steps,
        repeat: times > 0 ? { times, pauseMinutes: delay } : null,
      };
    }),
  );
  for (const service of all('services')) {
    const id = textOf(service, 'id');
    const policy = moved.policies.get(
      textOf(objectOf(service['escalationPolicy']), 'id') || textOf(service, 'escalationPolicyID'),
    );
    moved.services.set(id, {
      key: moved.key(id),
      name: nameInFile(textOf(service, 'name'), id),
      capabilities: ['oncall'],
      ...(policy !== undefined && { policy: policy.key }),
    });
    moved.ledger.add(
      'service',
      id,
      textOf(service, 'name'),
      policy === undefined ? 'compiled' : 'exact',
      policy === undefined ? 'Its policy was not read or is refused.' : '',
      policy === undefined ? 'Give it a policy.' : '',
    );
  }
  return moved;
}

function addUser(moved: Moved, user: RawObject): void {
  const [id, name] = [textOf(user, 'id'), textOf(user, 'name')];
  const methods = objectsOf(user['contactMethods']);
  const phones = methods.flatMap((method) => phoneInFile(textOf(method, 'value'), '') ?? []);
  const email =
    textOf(user, 'email') || textOf(methods.find((method) => textOf(method, 'type') === 'EMAIL') ?? null, 'value');
  const channels = new Set(methods.flatMap((method) => CHANNELS[textOf(method, 'type')] ?? []));
  moved.addPerson({
    id,
    name,
    email,
    role: textOf(user, 'role') === 'admin' ? 'admin' : 'responder',
    zone: '',
    phones,
    channels: channels.size > 0 ? channels : null,
  });
  for (const method of methods) {
    const type = textOf(method, 'type');
    const isPhone = CHANNELS[type] === 'sms' || CHANNELS[type] === 'call';
    const reason = isPhone
      ? 'The number comes along unconfirmed.'
      : CHANNELS[type] === 'email'
        ? 'Mail goes to the address of the account.'
        : `Nothing here is like "${type}".`;
    moved.ledger.add(
      'contact_method',
      textOf(method, 'id'),
      `${name}: ${textOf(method, 'name') || type}`,
      CHANNELS[type] === undefined ? 'refused' : 'compiled',
      reason,
      isPhone ? 'Let the person confirm it.' : '',
    );
  }
}

function readRotation(moved: Moved, rotation: RawObject): [string, GoAlertRotation][] | null {
  const [id, name] = [textOf(rotation, 'id'), textOf(rotation, 'name')];
  const [start, unit] = [instantOf(textOf(rotation, 'start')), UNIT_MS[textOf(rotation, 'type')]];
  moved.ledger.see('rotation', id, name);
  if (start === null || unit === undefined) {
    moved.ledger.judge('rotation', id, 'refused', 'Its start or its type cannot be read.', 'Make the layer by hand.');
    return null;
  }
  const ids = [
    ...objectsOf(rotation['users']).map((user) => textOf(user, 'id')),
    ...(Array.isArray(rotation['userIDs']) ? rotation['userIDs'].filter((user) => typeof user === 'string') : []),
  ];
  const read = ids.flatMap((user) => moved.person(user) ?? []);
  const people = beginningAt(moved, rotation, start, unit, read);
  moved.ledger.judge(
    'rotation',
    id,
    people.length === ids.length ? 'exact' : 'refused',
    people.length === ids.length ? '' : 'Some of its people were not read.',
  );
  return [[id, { start, lengthMs: lengthOf(rotation, unit), people }]];
}

function lengthOf(rotation: RawObject, unit: number): number {
  return unit * Math.max(1, numberOf(rotation, 'shiftLength') ?? 1);
}

/** Returns the people in the order of turns from the start: `activeUserIndex` says who is on call now, not the start. */
function beginningAt(
  moved: Moved,
  rotation: RawObject,
  start: number,
  unit: number,
  people: readonly string[],
): readonly string[] {
  const active = numberOf(rotation, 'activeUserIndex');
  if (active === null || people.length === 0) return people;
  const zone = textOf(rotation, 'timeZone');
  const clock = moved.clock(isZone(zone) ? zone : 'UTC');
  const { now } = moved.time;
  const turn = turnsBetween(clock, clock.wallOf(start), lengthOf(rotation, unit), now, now + 1)[0]?.turn ?? 0;
  return people.map(
    (_, place) => people[(((active + place - turn) % people.length) + people.length) % people.length] ?? '',
  );
}

/** Refuses what replaces people for a while, which counts only for the person it names there. */
function addReplacements(moved: Moved, overrides: readonly RawObject[], schedules: readonly RawObject[]): void {
  const spanOf = (value: RawObject): string => `from ${textOf(value, 'start')} to ${textOf(value, 'end')}`;
  const todo = 'Enter an override of the schedule.';
  for (const override of overrides) {
    const name = `${textOf(objectOf(override['target']), 'name')} ${spanOf(override)}`;
    const reason = 'It replaces, adds or removes a person wherever their turn is.';
    moved.ledger.add('override', textOf(override, 'id'), name, 'refused', reason, todo);
  }
  for (const schedule of schedules) {
    for (const temporary of objectsOf(schedule['temporarySchedules'])) {
      const name = `${textOf(schedule, 'name')} ${spanOf(temporary)}`;
      const id = `${textOf(schedule, 'id')} ${textOf(temporary, 'start')}`;
      moved.ledger.add('temporary_schedule', id, name, 'refused', 'It stands in place of all rotations.', todo);
    }
  }
}

function targetOf(target: RawObject): ReadTarget {
  const type = textOf(target, 'type');
  return {
    kind: type === 'user' ? 'user' : type === 'schedule' || type === 'rotation' ? 'schedule' : 'team',
    id: textOf(target, 'id'),
    name: textOf(target, 'name'),
  };
}

/** An assignment of a schedule: a person or a rotation, with the hours in which it counts. */
interface Assignment {
  readonly name: string;
  readonly rotation: GoAlertRotation;
  readonly windows: readonly WeekWindow[] | null;
}

function addOne(moved: Moved, schedule: RawObject, rotations: ReadonlyMap<string, GoAlertRotation>): void {
  const [id, name, zone] = [textOf(schedule, 'id'), textOf(schedule, 'name'), textOf(schedule, 'timeZone')];
  if (!isZone(zone)) {
    addSchedule(moved, { id, name, zone, teamIds: [], patterns: [], overrides: [], rendered: [], walk: () => [] });
    return;
  }
  const clock = moved.clock(zone);
  const assignments = objectsOf(schedule['targets']).flatMap((entry): Assignment[] => {
    const target = objectOf(entry['target']);
    const targetId = textOf(target, 'id') || textOf(entry, 'targetID');
    const person = moved.person(targetId);
    const rotation =
      rotations.get(targetId) ?? (person === null ? null : { start: 0, lengthMs: 7 * DAY_MS, people: [person] });
    return rotation === null || rotation.people.length === 0
      ? []
      : [{ name: textOf(target, 'name') || targetId, rotation, windows: windowsOf(objectsOf(entry['rules'])) }];
  });
  const patterns = assignments.map(({ name: assignmentName, rotation, windows }): Pattern => ({
    name: assignmentName,
    level: 0,
    anchorWall: clock.wallOf(rotation.start),
    length: { ms: rotation.lengthMs },
    turns: rotation.people.map((person) => [person]),
    hours: windows === null ? null : spansOf(windows),
    from: null,
    until: null,
  }));
  const walk = (from: number, to: number): Stretch[] => {
    const duties = assignments.flatMap(({ rotation, windows }) =>
      common(
        turnsBetween(clock, clock.wallOf(rotation.start), rotation.lengthMs, from, to),
        timesOfWeek(clock, windows, from, to),
      ).map(({ turn, ...at }): Duty => {
        const { people } = rotation;
        return { ...at, people: [people[((turn % people.length) + people.length) % people.length] ?? ''], level: 0 };
      }),
    );
    return layOver(duties, from, to);
  };
  addSchedule(moved, {
    id,
    name,
    zone,
    teamIds: [],
    patterns: namedApart(patterns),
    overrides: [],
    rendered: [],
    walk,
  });
}

/** Returns the hours of rules, whose days count from Sunday; equal ends are the whole day. */
function windowsOf(rules: readonly RawObject[]): WeekWindow[] | null {
  if (rules.length === 0) return null;
  return rules.flatMap((rule) => {
    const [start, end] = [minutesOf(textOf(rule, 'start')), minutesOf(textOf(rule, 'end'))];
    const days = Array.isArray(rule['weekdayFilter'])
      ? rule['weekdayFilter']
      : [true, true, true, true, true, true, true];
    return days.flatMap((isOn, day) =>
      isOn === true
        ? [{ start: ((day + 6) % 7) * 1_440 + start, minutes: end > start ? end - start : end - start + 1_440 }]
        : [],
    );
  });
}

function minutesOf(time: string): number {
  const [hours = '0', minutes = '0'] = time.split(':');
  return Number(hours) * 60 + Number(minutes);
}
