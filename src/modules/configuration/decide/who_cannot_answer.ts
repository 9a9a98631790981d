import type { Plan } from '#modules/configuration/decide/plan.ts';
import type { OrganizationState } from '#modules/configuration/decide/present_state.ts';
import { mayAnswer } from '#kernel/permissions.ts';

/** Schedule, override or policy after the plan, and whom it pages: ids of people, and keys of new ones. */
interface Paging {
  readonly name: string;
  readonly people: readonly string[];
  /** Whether the plan creates or changes it. */
  readonly isTouched: boolean;
}

/** Tells of people whom the plan puts on call, or leaves there with another role, that may neither acknowledge nor resolve. */
export function whoCannotAnswer(plan: Plan, state: OrganizationState): string[] {
  const { matches, changes } = plan;
  const names = new Map(state.people.map(({ userId, name }) => [userId, name]));
  const roles = new Map(state.people.map(({ userId, role }) => [userId, role]));
  for (const { wanted, present } of matches.matched) {
    if (wanted.kind !== 'person') continue;
    const id = present?.id ?? wanted.key;
    names.set(id, wanted.fields.name);
    const role = wanted.fields.role ?? (present === null ? 'responder' : undefined);
    if (role !== undefined) roles.set(id, role);
  }
  const changed = new Set(changes.filter(({ kind }) => kind === 'person').map(({ id, key }) => id ?? key));
  const pagedBy = new Map<string, string[]>();
  const named = new Set<string>();
  for (const { name, people, isTouched } of pagingAfter(plan, state)) {
    for (const person of new Set(people)) {
      const role = roles.get(person);
      if (role === undefined || mayAnswer(role)) continue;
      pagedBy.set(person, [...(pagedBy.get(person) ?? []), `"${name}"`]);
      if (isTouched || changed.has(person)) named.add(person);
    }
  }
  return [...named].map((person) => {
    const all = [...new Set(pagedBy.get(person))];
    const more = all.length > PAGED_BY_MAX ? ' and others' : '';
    const by = all.slice(0, PAGED_BY_MAX).join(', ') + more;
    return `${names.get(person) ?? person} is paged by ${by}, but the role ${roles.get(person)} may neither acknowledge nor resolve: give them the role responder, or take them out.`;
  });
}

/** Limit on the names of what pages one person. */
const PAGED_BY_MAX = 10;

function* pagingAfter({ matches, changes }: Plan, state: OrganizationState): Iterable<Paging> {
  const idOf = (ref: string): string => matches.findId('person', ref) ?? ref;
  const touched = new Set(changes.map(({ kind, id, key }) => id ?? `${kind} ${key}`));
  const deleted = new Set(changes.filter(({ action }) => action === 'delete').map(({ id }) => id));
  const decided = new Set(matches.matched.flatMap(({ present }) => present?.id ?? []));
  const isLeft = ({ id }: { readonly id: string }): boolean => !decided.has(id) && !deleted.has(id);
  const membersOf = new Map<string, string[]>();
  const joined = new Set<string>();
  const join = (team: string, person: string): void => {
    membersOf.set(team, [...(membersOf.get(team) ?? []), person]);
  };
  for (const { teamId, userId } of state.members.filter(isLeft)) join(teamId, userId);
  const scheduleNames = new Map(state.schedules.map(({ id, name }) => [id, name]));
  for (const { wanted, present } of matches.matched) {
    if (wanted.kind === 'schedule') scheduleNames.set(present?.id ?? wanted.key, wanted.fields.name);
    if (wanted.kind !== 'member') continue;
    const team = matches.findId('team', wanted.fields.team) ?? wanted.fields.team;
    join(team, idOf(wanted.fields.person));
    if (touched.has(present?.id ?? `member ${wanted.key}`)) joined.add(team);
  }
  for (const { name, layers } of state.schedules.filter(isLeft)) {
    const people = layers.flatMap(({ turns, carried }) =>
      [...turns, ...(carried ? [carried] : [])].flatMap(({ userIds }) => userIds),
    );
    yield { name, people, isTouched: false };
  }
  for (const { scheduleId, userId } of state.overrides.filter(isLeft)) {
    if (!deleted.has(scheduleId))
      yield { name: scheduleNames.get(scheduleId) ?? scheduleId, people: [userId], isTouched: false };
  }
  for (const { name, steps } of state.policies.filter(isLeft)) {
    const teams = steps.flatMap(({ members }) => members?.teamId ?? []);
    const people = [
      ...steps.flatMap(({ targetUserIds }) => targetUserIds),
      ...teams.flatMap((team) => membersOf.get(team) ?? []),
    ];
    yield { name, people, isTouched: teams.some((team) => joined.has(team)) };
  }
  for (const { wanted, present } of matches.matched) {
    const isTouched = touched.has(present?.id ?? `${wanted.kind} ${wanted.key}`);
    if (wanted.kind === 'schedule') {
      const layers = wanted.fields.layers ?? (present?.kind === 'schedule' ? present.fields.layers : []);
      yield { name: wanted.fields.name, people: layers.flatMap(({ turns }) => turns.flat()).map(idOf), isTouched };
    } else if (wanted.kind === 'override') {
      const { schedule, person } = wanted.fields;
      yield {
        name: scheduleNames.get(matches.findId('schedule', schedule) ?? schedule) ?? schedule,
        people: [idOf(person)],
        isTouched,
      };
    } else if (wanted.kind === 'policy') {
      const { name, steps } = wanted.fields;
      const teams = steps.flatMap(({ members }) =>
        members === null ? [] : [matches.findId('team', members.team) ?? members.team],
      );
      const people = [
        ...steps.flatMap(({ people: named }) => named.map(idOf)),
        ...teams.flatMap((team) => membersOf.get(team) ?? []),
      ];
      yield { name, people, isTouched: isTouched || teams.some((team) => joined.has(team)) };
    }
  }
}
