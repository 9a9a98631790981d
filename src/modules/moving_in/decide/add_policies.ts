import type { StepInFile } from '#modules/configuration/decide/file_fields.ts';
import { CHANNELS, type Moved, nameInFile } from './moved.ts';

/** Target of a step, by the ids of the other tool. */
export interface ReadTarget {
  readonly kind: 'user' | 'schedule' | 'next' | 'team' | 'policy';
  readonly id: string;
  readonly name: string;
}

export interface ReadStep {
  /** Minutes from the beginning of the incident. */
  readonly afterMinutes: number;
  readonly targets: readonly ReadTarget[];
  /** Sentences on what the step loses; empty: nothing. */
  readonly losses?: readonly string[];
}

export interface ReadPolicy {
  readonly id: string;
  readonly name: string;
  readonly teamIds: readonly string[];
  readonly steps: readonly ReadStep[];
  readonly repeat: { readonly times: number; readonly pauseMinutes: number } | null;
  readonly roundRobin?: boolean;
  readonly losses?: readonly string[];
}

const REPEATS_MAX = 9;
const PAUSE_MIN = 1;
const PAUSE_MAX = 1_440;
const STEPS_MAX = 100;

/** Adds policies to the file; those of schedules must be there. A loop of policies is cut where it closes. */
export function addPolicies(moved: Moved, policies: readonly ReadPolicy[]): void {
  for (const { id, name } of policies) moved.ledger.see('policy', id, name);
  const loops = closingLinks(policies);
  const readable = new Set(
    policies.filter((policy) => policy.steps.some((step) => step.targets.length > 0)).map(({ id }) => id),
  );
  for (const policy of policies) addPolicy(moved, policy, loops, readable);
}

function addPolicy(moved: Moved, policy: ReadPolicy, loops: ReadonlySet<string>, readable: ReadonlySet<string>): void {
  const { id, name } = policy;
  const losses = [...(policy.losses ?? [])];
  const todos: string[] = [];
  const byMinute = new Map<number, ReadTarget[]>();
  const team = moved.teamKeyFor(policy.teamIds);
  for (const { afterMinutes, targets, losses: stepLosses } of policy.steps) {
    losses.push(...(stepLosses ?? []));
    const reached = targets.filter((target) => {
      const missing = missingReason(moved, target, `${id} ${target.id}`, loops, readable);
      if (missing !== null) losses.push(missing);
      return missing === null;
    });
    const minute = Math.max(0, Math.round(afterMinutes));
    if (reached.length > 0) byMinute.set(minute, [...(byMinute.get(minute) ?? []), ...reached]);
  }
  const minutes = [...byMinute].toSorted(([a], [b]) => a - b);
  const steps = minutes.flatMap(([minute, targets]) => stepsOf(moved, team, minute, targets));
  const foreign = minutes.flatMap(([, targets]) => targets.filter((target) => isOfAnotherTeam(moved, team, target)));
  for (const name of new Set(foreign.map((target) => target.name || target.id))) {
    losses.push(`The schedule ${name} belongs to another team; a policy of that team pages who is on call in it.`);
  }
  if (steps.length === 0) {
    const reason = policy.steps.length === 0 ? 'It has no steps.' : 'None of its steps reaches anybody.';
    moved.ledger
      .item('policy', id)
      .refuse([reason, ...losses].join(' '), 'Make a policy by hand that reaches somebody.');
    return;
  }
  if (steps.length > STEPS_MAX) {
    losses.push(`Only its first ${STEPS_MAX} steps are kept.`);
    steps.length = STEPS_MAX;
  }
  if (policy.roundRobin === true && steps[0]?.teams === undefined) {
    losses.push(
      'Its first step takes turns there; here everybody it names is paged each time: only members of a team take turns.',
    );
  }
  const repeat = repeatInFile(policy, losses);
  const teamId = moved.teamFor(policy.teamIds);
  for (const step of steps) for (const person of step.people ?? []) moved.join(teamId, person);
  moved.policies.set(id, {
    key: moved.key(id),
    team,
    name: nameInFile(name, id),
    steps,
    ...(repeat !== null && { repeat }),
    ...(policy.roundRobin === true && { roundRobin: true }),
  });
  if (policy.teamIds.length > 0 && teamId === '') {
    losses.push('Its team is not among those that were read; it is in a team of its own.');
    todos.push('Move it to the right team.');
  }
  if (losses.length > 0) todos.push('Compare its steps with the original.');
  moved.ledger.item('policy', id).judge(losses.length > 0 ? 'compiled' : 'exact', losses.join(' '), todos.join(' '));
}

/** Returns the repetition within what a file allows, and adds a sentence for each value that is another here. */
function repeatInFile({ repeat }: ReadPolicy, losses: string[]): { times: number; pauseMinutes: number } | null {
  const [times, pause] = [Math.round(repeat?.times ?? 0), Math.round(repeat?.pauseMinutes ?? 0)];
  if (times <= 0) return null;
  if (times > REPEATS_MAX)
    losses.push(`It repeats ${times} times there, and ${REPEATS_MAX} times here, the most there is.`);
  if (pause > PAUSE_MAX)
    losses.push(`It repeats after ${pause} minutes there, and after ${PAUSE_MAX} here, the most there is.`);
  if (pause < PAUSE_MIN)
    losses.push(`It repeats after ${pause} minutes there, and after ${PAUSE_MIN} here, the least there is.`);
  return { times: Math.min(times, REPEATS_MAX), pauseMinutes: Math.min(Math.max(pause, PAUSE_MIN), PAUSE_MAX) };
}

function missingReason(
  moved: Moved,
  { kind, id, name }: ReadTarget,
  link: string,
  loops: ReadonlySet<string>,
  readable: ReadonlySet<string>,
): string | null {
  const shown = name === '' ? id : name;
  switch (kind) {
    case 'user':
      return moved.person(id) === null ? `A step names ${shown}, who is not among the people that were read.` : null;
    case 'schedule':
    case 'next':
      return moved.schedules.has(id) ? null : `A step names the schedule ${shown}, which was not read or is refused.`;
    case 'team':
      return moved.teamKey(id) === null
        ? `A step names the team ${shown}, which is not among those that were read.`
        : null;
    case 'policy':
      if (loops.has(link)) return `A step leads to ${shown}, which leads back here: a loop, which is cut.`;
      return readable.has(id) ? null : `A step names the policy ${shown}, which was not read or reaches nobody.`;
  }
}

/**
 * Returns the steps that reach the targets at one minute. One step names people, schedules and one team; a policy, people whose
 * turn is next, a further team and a schedule of another team each need a step of their own.
 */
function stepsOf(moved: Moved, team: string, afterMinutes: number, targets: readonly ReadTarget[]): StepInFile[] {
  const step = { afterMinutes, channels: [...CHANNELS] };
  const ofThisTeam = targets.filter((target) => !isOfAnotherTeam(moved, team, target));
  const keysOf = (kind: ReadTarget['kind'], keyOf: (id: string) => string | null): string[] => [
    ...new Set(ofThisTeam.flatMap((target) => (target.kind === kind ? (keyOf(target.id) ?? []) : []))),
  ];
  const key = (id: string) => moved.key(id);
  const people = keysOf('user', (id) => moved.person(id));
  const schedules = keysOf('schedule', key);
  const [first, ...furtherTeams] = keysOf('team', (id) => moved.teamKey(id));
  const next = keysOf('next', key);
  const policies = [
    ...keysOf('policy', key),
    ...targets.filter((target) => isOfAnotherTeam(moved, team, target)).map((target) => standInFor(moved, target)),
  ];
  const named = {
    ...(people.length > 0 && { people }),
    ...(schedules.length > 0 && { schedules }),
    ...(first !== undefined && { teams: [first] }),
  };
  return [
    ...(Object.keys(named).length > 0 ? [{ ...step, ...named }] : []),
    ...(next.length > 0 ? [{ ...step, next }] : []),
    ...furtherTeams.map((further) => ({ ...step, teams: [further] })),
    ...[...new Set(policies)].map((policy) => ({ ...step, policy })),
  ];
}

function isOfAnotherTeam(moved: Moved, team: string, { kind, id }: ReadTarget): boolean {
  const schedule = kind === 'schedule' || kind === 'next' ? moved.schedules.get(id) : undefined;
  return schedule !== undefined && schedule.team !== team;
}

/** Returns the policy that pages who is on call, or next, in a schedule of another team; made when first needed. */
function standInFor(moved: Moved, { kind, id }: ReadTarget): string {
  const schedule = moved.schedules.get(id);
  if (schedule === undefined) throw new Error(`the schedule ${id} is named and not there`);
  const ownId = `${id} ${kind}`;
  const part = kind === 'next' ? { next: [schedule.key] } : { schedules: [schedule.key] };
  const stored = moved.policies.get(ownId) ?? {
    key: moved.key(`page-${kind === 'next' ? 'next-' : ''}${id}`),
    team: schedule.team,
    name: nameInFile(`${schedule.name}: who is ${kind === 'next' ? 'next' : 'on call'}`, id),
    steps: [{ afterMinutes: 0, channels: [...CHANNELS], ...part }],
  };
  moved.policies.set(ownId, stored);
  return stored.key;
}

/** Returns the links, as "policy target", that close a loop of policies. */
function closingLinks(policies: readonly ReadPolicy[]): Set<string> {
  const linksOf = new Map(
    policies.map(({ id, steps }) => [
      id,
      steps.flatMap(({ targets }) => targets.flatMap((target) => (target.kind === 'policy' ? [target.id] : []))),
    ]),
  );
  const closing = new Set<string>();
  const done = new Set<string>();
  for (const { id: root } of policies) {
    const open = new Set<string>();
    const stack: { id: string; next: number }[] = [{ id: root, next: 0 }];
    while (stack.length > 0) {
      const top = stack.at(-1);
      if (top === undefined) break;
      open.add(top.id);
      const link = linksOf.get(top.id)?.[top.next];
      top.next += 1;
      if (link === undefined) {
        stack.pop();
        open.delete(top.id);
        done.add(top.id);
      } else if (open.has(link)) closing.add(`${top.id} ${link}`);
      else if (!done.has(link) && linksOf.has(link)) stack.push({ id: link, next: 0 });
    }
  }
  return closing;
}
