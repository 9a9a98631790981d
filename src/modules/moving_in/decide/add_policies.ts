import type { StepInFile } from '#modules/configuration/decide/file_policies.ts';
import { nameInFile } from '#modules/moving_in/decide/in_file.ts';
import { CHANNELS, type Moved } from '#modules/moving_in/decide/moved.ts';

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
const PAUSE_MAX = 10_080;
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
  const byMinute = new Map<number, StepInFile>();
  for (const { afterMinutes, targets, losses: own } of policy.steps) {
    losses.push(...(own ?? []));
    const reached = targets.filter((target) => {
      const missing = missingReason(moved, target, `${id} ${target.id}`, loops, readable);
      if (missing !== null) losses.push(missing);
      return missing === null;
    });
    if (reached.length > 0) addTargets(moved, byMinute, afterMinutes, reached);
  }
  const steps = [...byMinute.values()].toSorted((a, b) => a.afterMinutes - b.afterMinutes);
  if (steps.length === 0) {
    const reason = policy.steps.length === 0 ? 'It has no steps.' : 'None of its steps reaches anybody.';
    moved.ledger.judge(
      'policy',
      id,
      'refused',
      [reason, ...losses].join(' '),
      'Make a policy by hand that reaches somebody.',
    );
    return;
  }
  if (steps.length > STEPS_MAX) {
    losses.push(`Only its first ${STEPS_MAX} steps are kept.`);
    steps.length = STEPS_MAX;
  }
  const repeat = policy.repeat !== null && policy.repeat.times > 0 ? policy.repeat : null;
  if (repeat !== null && repeat.times > REPEATS_MAX) {
    losses.push(`It repeats ${repeat.times} times there, and ${REPEATS_MAX} times here, the most there is.`);
  }
  const teamId = moved.teamFor(policy.teamIds);
  for (const step of steps) for (const person of step.people ?? []) moved.join(teamId, person);
  moved.policies.set(id, {
    key: moved.key(id),
    team: moved.teamKeyFor(policy.teamIds),
    name: nameInFile(name, id),
    steps,
    ...(repeat !== null && {
      repeat: { times: Math.min(repeat.times, REPEATS_MAX), pauseMinutes: Math.min(repeat.pauseMinutes, PAUSE_MAX) },
    }),
    ...(policy.roundRobin === true && { roundRobin: true }),
  });
  if (policy.teamIds.length > 0 && teamId === '') {
    losses.push('Its team is not among those that were read; it is in a team of its own.');
    todos.push('Move it to the right team.');
  }
  if (losses.length > 0) todos.push('Compare its steps with the original.');
  moved.ledger.judge('policy', id, losses.length > 0 ? 'compiled' : 'exact', losses.join(' '), todos.join(' '));
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

function addTargets(
  moved: Moved,
  byMinute: Map<number, StepInFile>,
  minute: number,
  targets: readonly ReadTarget[],
): void {
  const afterMinutes = Math.max(0, Math.round(minute));
  const idsOf = (kind: ReadTarget['kind']): string[] =>
    targets.filter((target) => target.kind === kind).map(({ id }) => id);
  const people = idsOf('user').flatMap((id) => moved.person(id) ?? []);
  const policies = idsOf('policy');
  let at = afterMinutes;
  for (const [index, policy] of [...policies.slice(0, 1), ...policies.slice(1)].entries()) {
    if (index > 0 || byMinute.get(at)?.policy !== undefined) at += 1;
    byMinute.set(at, {
      ...(byMinute.get(at) ?? { afterMinutes: at, channels: [...CHANNELS] }),
      policy: moved.key(policy),
    });
  }
  const step = byMinute.get(afterMinutes) ?? { afterMinutes, channels: [...CHANNELS] };
  const lists = {
    people: [...(step.people ?? []), ...people],
    schedules: [...(step.schedules ?? []), ...idsOf('schedule').map((id) => moved.key(id))],
    next: [...(step.next ?? []), ...idsOf('next').map((id) => moved.key(id))],
    teams: [...(step.teams ?? []), ...idsOf('team').flatMap((id) => moved.teamKey(id) ?? [])],
  };
  byMinute.set(afterMinutes, {
    ...step,
    ...Object.fromEntries(
      Object.entries(lists).flatMap(([name, keys]) => (keys.length > 0 ? [[name, [...new Set(keys)]]] : [])),
    ),
  });
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
