import { addPolicies, type ReadTarget } from '#modules/moving_in/decide/add_policies.ts';
import { addSchedule } from '#modules/moving_in/decide/add_schedule.ts';
import { phoneInFile } from '#modules/moving_in/decide/in_file.ts';
import { Moved, type ReadingTime } from '#modules/moving_in/decide/moved.ts';
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
  for (const { body } of schedules) addSchedules(moved, body);
  const teamOf = new Map(
    bodies
      .flatMap(({ body }) => objectsOf(body?.['policies']))
      .map((entry) => [textOf(objectOf(entry['policy']), 'slug'), textOf(objectOf(entry['team']), 'slug')]),
  );
  addPolicies(
    moved,
    policies.map((policy) => policyOf(policy, teamOf.get(textOf(policy, 'slug')) ?? '')),
  );
  if (schedules.length === 0)
    moved.ledger.add(
      'list',
      'schedules',
      'schedules',
      'refused',
      'No answer says who is on call.',
      'Read /api-public/v2/team/TEAM/oncall/schedule with daysForward=123 for each team.',
    );
  for (const { path, value } of bodies) {
    if (objectOf(value) === null && objectsOf(value).length === 0)
      moved.ledger.add('file', path, path, 'refused', 'Nothing in it looks like an answer of Splunk On-Call.');
  }
  return moved;
}

/** Adds what each policy of a team says of who is on call, which its API renders. */
function addSchedules(moved: Moved, body: RawObject | null): void {
  const team = objectOf(body?.['team']);
  for (const entry of objectsOf(body?.['schedules'])) {
    const policy = objectOf(entry['policy']);
    const id = textOf(policy, 'slug') || textOf(policy, 'name');
    const duties = objectsOf(entry['schedule'])
      .flatMap((rotation) => objectsOf(rotation['rolls']))
      .flatMap((roll): Duty[] => {
        const [from, to] = [instantOf(textOf(roll, 'start')), instantOf(textOf(roll, 'end'))];
        const username = textOf(objectOf(roll['onCallUser']), 'username');
        const name = username === '' ? textOf(roll, 'onCall') : username;
        return from === null || to === null || name === ''
          ? []
          : [{ from, to, people: [moved.personOrUnknown(name, name)], level: 0 }];
      });
    const manned = duties.filter(({ people }) => people.every((person) => moved.people.has(person)));
    const window = { from: Math.min(...duties.map(({ from }) => from)), to: Math.max(...duties.map(({ to }) => to)) };
    const rendered =
      duties.length === 0
        ? []
        : [
            {
              from: Math.max(window.from, moved.since),
              to: window.to,
              stretches: layOver(duties, window.from, window.to),
            },
          ];
    addSchedule(moved, {
      id,
      name: textOf(policy, 'name'),
      zone: 'UTC',
      teamIds: [textOf(team, 'slug')],
      patterns: { because: 'the API tells who is on call and not by which turns' },
      overrides: [],
      rendered: rendered.filter(({ from, to }) => to > from),
      walk: (from, to) => layOver(manned, from, to),
    });
  }
}

function policyOf(
  policy: RawObject,
  teamId: string,
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
      if (objectOf(entry['rotationGroup']) !== null)
        return [{ kind: 'schedule', id: textOf(policy, 'slug'), name: textOf(policy, 'name') }];
      losses.push(`An entry of the type "${textOf(entry, 'executionType')}" has no like here.`);
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
