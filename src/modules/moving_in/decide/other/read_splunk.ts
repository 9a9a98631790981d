import { addPolicies, type ReadTarget } from '#modules/moving_in/decide/add_policies.ts';
import { addSchedule } from '#modules/moving_in/decide/add_schedule.ts';
import { HORIZON_DAYS } from '#modules/moving_in/decide/compile_layers.ts';
import { Moved, phoneInFile, type ReadingTime } from '#modules/moving_in/decide/moved.ts';
import {
  idInPath,
  instantOf,
  numberOf,
  objectOf,
  objectsOf,
  type RawDocument,
  type RawObject,
  textOf,
} from '#modules/moving_in/decide/raw.ts';
import { type Duty, layOver } from '#modules/moving_in/decide/timeline.ts';
import { DAY_MS } from '#kernel/zone_clock.ts';

/** Turns answers of Splunk On-Call (VictorOps) into a file; null if none of the documents is one. */
export function readSplunkOnCall(documents: readonly RawDocument[], time: ReadingTime): Moved | null {
  const moved = new Moved({ prefix: 'splunk', title: 'Splunk On-Call' }, time);
  const bodies = documents.map(({ path, value }) => ({ path, value, body: objectOf(value) }));
  const isUser = (user: RawObject): boolean => textOf(user, 'username') !== '' && textOf(user, 'email') !== '';
  const isTeam = (team: RawObject): boolean =>
    textOf(team, 'slug') !== '' &&
    textOf(team, 'name') !== '' &&
    (team['memberCount'] !== undefined || team['_membersUrl'] !== undefined);
  const lists = bodies.flatMap(({ value, body }) => [
    ...objectsOf(value),
    ...objectsOf(body?.['users']).flatMap((user) => (Array.isArray(user) ? objectsOf(user) : [user])),
    ...objectsOf(body?.['teams']),
  ]);
  const users = lists.filter(isUser);
  const teams = lists.filter(isTeam);
  const members = bodies.filter(({ body }) => Array.isArray(body?.['members']));
  const schedules = bodies.filter(
    ({ body }) => Array.isArray(body?.['schedules']) && objectOf(body?.['team']) !== null,
  );
  const policies = bodies.flatMap(({ body }) => (Array.isArray(body?.['steps']) && body !== null ? [body] : []));
  if (users.length + teams.length + schedules.length + policies.length === 0) return null;
  const userIn = idInPath(users.map((user) => textOf(user, 'username')));
  for (const user of users) {
    const id = textOf(user, 'username');
    const contacts = bodies.filter(
      ({ path, body }) => path.includes('contact-method') && userIn(path) === id && body !== null,
    );
    const phones = contacts
      .flatMap(({ body }) => objectsOf(objectOf(body?.['phones'])?.['contactMethods']))
      .flatMap((phone) => phoneInFile(textOf(phone, 'value'), '') ?? []);
    moved.addPerson({
      id,
      name: `${textOf(user, 'firstName')} ${textOf(user, 'lastName')}`,
      email: textOf(user, 'email'),
      role: user['admin'] === true ? 'admin' : 'responder',
      zone: '',
      phones,
      channels: null,
    });
  }
  for (const team of teams) moved.addTeam(textOf(team, 'slug'), textOf(team, 'name'));
  const teamIn = (path: string): string | undefined =>
    teams.map((team) => textOf(team, 'slug')).find((slug) => path.includes(slug.toLowerCase()));
  for (const { path, body } of members) {
    for (const member of objectsOf(body?.['members']))
      moved.addMember(
        teamIn(path) ?? path,
        textOf(member, 'username'),
        `${textOf(member, 'firstName')} ${textOf(member, 'lastName')}`.trim(),
      );
  }
  const schedulesOf: SchedulesOfPolicy = new Map();
  for (const { body } of schedules) addSchedules(moved, body, schedulesOf);
  const teamOf = new Map(
    bodies
      .flatMap(({ body }) => objectsOf(body?.['policies']))
      .map((entry) => [textOf(objectOf(entry['policy']), 'slug'), textOf(objectOf(entry['team']), 'slug')]),
  );
  addPolicies(
    moved,
    policies.map((policy) => policyOf(policy, teamOf.get(textOf(policy, 'slug')) ?? '', schedulesOf)),
  );
  if (schedules.length === 0)
    moved.ledger
      .see('list', 'schedules', 'schedules')
      .refuse(
        'No answer says who is on call.',
        'Read /api-public/v2/team/TEAM/oncall/schedule with daysForward=123 for each team.',
      );
  for (const { path, value } of bodies) {
    if (objectOf(value) === null && objectsOf(value).length === 0)
      moved.ledger.see('file', path, path).refuse('Nothing in it looks like an answer of Splunk On-Call.');
  }
  return moved;
}

/** Schedules that the rotations of each policy became, by the policy and the name of the rotation. */
type SchedulesOfPolicy = Map<string, Map<string, string>>;

/** Adds what each rotation of a policy says of who is on call, which the API renders and overrides change. */
function addSchedules(moved: Moved, body: RawObject | null, schedulesOf: SchedulesOfPolicy): void {
  const team = objectOf(body?.['team']);
  for (const entry of objectsOf(body?.['schedules'])) {
    const policy = objectOf(entry['policy']);
    const policyId = textOf(policy, 'slug') || textOf(policy, 'name');
    const overrides = objectsOf(entry['overrides']).flatMap((override) => overrideOf(moved, policyId, override) ?? []);
    const rotations = Map.groupBy(objectsOf(entry['schedule']), (rotation) => textOf(rotation, 'rotationName'));
    const ids = new Map<string, string>();
    for (const [rotationName, rotation] of rotations) {
      const isOnly = rotations.size === 1;
      const id = isOnly ? policyId : `${policyId}/${rotationName}`;
      const duties = withOverrides(
        rotation.flatMap((part) => dutiesOf(moved, part)),
        overrides,
      );
      if (duties.length === 0 && !isOnly) continue;
      ids.set(rotationName, id);
      const manned = duties.filter(({ people }) => people.every((person) => moved.people.has(person)));
      const last = Math.max(moved.time.now, ...duties.map(({ to }) => to));
      const window = {
        from: Math.min(...duties.map(({ from }) => from)),
        to: Math.min(last, moved.time.now + HORIZON_DAYS * DAY_MS),
      };
      const from = Math.max(window.from, moved.since);
      addSchedule(moved, {
        id,
        name: isOnly ? textOf(policy, 'name') : `${textOf(policy, 'name')}: ${rotationName}`,
        zone: 'UTC',
        teamIds: [textOf(team, 'slug')],
        patterns: { because: 'the API tells who is on call and not by which turns' },
        overrides: [],
        rendered: from < window.to ? [{ from, to: window.to, stretches: layOver(duties, window.from, window.to) }] : [],
        walk: (start, end) => layOver(manned, start, end),
        until: last,
      });
    }
    schedulesOf.set(policyId, ids);
  }
}

function dutiesOf(moved: Moved, rotation: RawObject): Duty[] {
  return objectsOf(rotation['rolls']).flatMap((roll): Duty[] => {
    const [from, to] = [instantOf(textOf(roll, 'start')), instantOf(textOf(roll, 'end'))];
    const username = textOf(objectOf(roll['onCallUser']), 'username') || textOf(roll, 'onCall');
    return from === null || to === null || username === ''
      ? []
      : [{ from, to, people: [moved.personOrUnknown(username, username)], level: 0 }];
  });
}

interface SplunkOverride {
  readonly from: number;
  readonly to: number;
  readonly original: string;
  readonly other: string;
}

function overrideOf(moved: Moved, policyId: string, override: RawObject): SplunkOverride[] | null {
  const [from, to] = [instantOf(textOf(override, 'start')), instantOf(textOf(override, 'end'))];
  const [original, other] = ['origOnCallUser', 'overrideOnCallUser'].map((field) =>
    textOf(objectOf(override[field]), 'username'),
  );
  const id = `${policyId} ${textOf(override, 'start')} ${original}`;
  const item = moved.ledger.see('override', id, `${other} for ${original} from ${textOf(override, 'start')}`);
  if (from === null || to === null || !original || !other || moved.person(other) === null) {
    const reason = 'Its times cannot be read, or nobody who was read takes the turn.';
    item.refuse(reason, 'Enter an override of the schedule.');
    return null;
  }
  item.judge('horizon', 'It is part of the rendered schedule.');
  const keyOf = (username: string): string => moved.personOrUnknown(username, username);
  return [{ from, to, original: keyOf(original), other: keyOf(other) }];
}

/** Returns the duties with the other person where an override stands in for the one on call. */
function withOverrides(duties: readonly Duty[], overrides: readonly SplunkOverride[]): readonly Duty[] {
  let changed = duties;
  for (const { from, to, original, other } of overrides) {
    changed = changed.flatMap((duty) => {
      const [start, end] = [Math.max(duty.from, from), Math.min(duty.to, to)];
      if (!duty.people.includes(original) || start >= end) return [duty];
      return [
        { ...duty, to: start },
        { ...duty, from: start, to: end, people: [other] },
        { ...duty, from: end },
      ].filter((part) => part.to > part.from);
    });
  }
  return changed;
}

function policyOf(
  policy: RawObject,
  teamId: string,
  schedulesOf: SchedulesOfPolicy,
): {
  id: string;
  name: string;
  teamIds: string[];
  steps: { afterMinutes: number; targets: ReadTarget[] }[];
  repeat: null;
  losses: string[];
} {
  let afterMinutes = 0;
  const losses: string[] = [];
  const steps = objectsOf(policy['steps']).map((step) => {
    afterMinutes += numberOf(step, 'timeout') ?? 0;
    const targets = objectsOf(step['entries']).flatMap((entry): ReadTarget[] => {
      const user = textOf(objectOf(entry['user']), 'username');
      if (user !== '') return [{ kind: 'user', id: user, name: user }];
      const type = textOf(entry, 'executionType');
      const rotation = objectOf(entry['rotationGroup']);
      if (rotation !== null && !type.endsWith('previous')) {
        const kind = type.endsWith('next') ? 'next' : 'schedule';
        const label = textOf(rotation, 'label');
        const ids = schedulesOf.get(textOf(policy, 'slug')) ?? new Map<string, string>();
        const named = ids.get(label);
        // A rotation that no answer names is any of the policy's.
        const possible = named === undefined ? [...ids.values()] : [named];
        if (named === undefined && possible.length > 1)
          losses.push(`Which of its schedules "${label}" is was not read; a step pages all of them.`);
        return (possible.length > 0 ? possible : [label || 'a rotation']).map((id) => ({
          kind,
          id,
          name: label || id,
        }));
      }
      const target = objectOf(entry['targetPolicy']);
      const targetId = textOf(target, 'policySlug') || textOf(target, 'slug');
      if (targetId !== '') return [{ kind: 'policy', id: targetId, name: textOf(target, 'name') || targetId }];
      losses.push(`An entry of the type "${type}" has no like here.`);
      return [];
    });
    return { afterMinutes, targets };
  });
  return {
    id: textOf(policy, 'slug') || textOf(policy, 'name'),
    name: textOf(policy, 'name'),
    teamIds: teamId === '' ? [] : [teamId],
    steps,
    repeat: null,
    losses,
  };
}
