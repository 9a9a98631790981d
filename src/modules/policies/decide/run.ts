import type { EscalationStep } from '#modules/policies/decide/escalation.ts';
import { LEVELS } from '#modules/exceptions/decide/level.ts';
import type { Id } from '#kernel/ids.ts';
import { addMinutesSaturating, type Temporal } from '#kernel/time.ts';

import type { LastTurn } from '#modules/policies/decide/audience.ts';
import { isWithin } from '#modules/policies/decide/hours.ts';
import type { PolicyDetails, Repetition, SnapshotDetails } from '#modules/policies/decide/policy_details.ts';

type Instant = Temporal.Instant;

export interface PolicyPlan {
  readonly id: Id<'policy'>;
  readonly name: string;
  readonly teamId: Id<'team'>;
  readonly steps: readonly EscalationStep[];
  readonly details: PolicyDetails | null;
  /** Last turn of its round robin; absent or null before the first. */
  readonly lastTurn?: LastTurn | null;
}

/** Steps that an incident runs, and the policy that they are of. */
export interface Run {
  readonly policyId: Id<'policy'>;
  readonly teamId: Id<'team'>;
  /** Steps without those that stand for another policy: the steps of that policy take their place. */
  readonly steps: readonly EscalationStep[];
  readonly repeat: Repetition | null;
}

/** Returns a policy of the organization; undefined when there is none. */
export type FindPolicy = (policyId: Id<'policy'>) => PolicyPlan | undefined;

/** Limit on the steps of one run: those of a policy with those of the policies that its steps stand for. */
export const RUN_STEPS_MAX = 200;

/** Whether a policy says nothing that needs other policies, or the time, to be decided. */
export function isPlain({ steps, details }: Pick<PolicyPlan, 'steps' | 'details'>): boolean {
  return details === null && steps.every(({ policyId }) => policyId === undefined);
}

/** Returns the policies that this one may run or take steps of. */
export function policiesNamedBy({ steps, details }: Pick<PolicyPlan, 'steps' | 'details'>): Id<'policy'>[] {
  const outside = details?.hours?.outside;
  const named = steps.flatMap(({ policyId }) => (policyId === undefined ? [] : [policyId]));
  return [...new Set([...named, ...(typeof outside === 'object' ? [outside.policyId] : [])])];
}

/**
 * Returns the steps that an incident of this severity runs by the policy when it begins to page at `at`. A policy that
 * is gone, and one that would run itself again, is passed over: its step pages the people on call instead.
 */
export function runOf(policy: PolicyPlan, find: FindPolicy, at: Instant, severity: string): Run {
  const running = runningPolicy(policy, find, at, severity);
  const steps = stepsOf(running, { find, severity, startsAt: at, running: running.id }, 0, [policy.id, running.id]);
  return {
    policyId: running.id,
    teamId: running.teamId,
    steps: steps.slice(0, RUN_STEPS_MAX),
    repeat: running.details?.repeat ?? null,
  };
}

interface Expansion {
  readonly find: FindPolicy;
  readonly severity: string;
  readonly startsAt: Instant;
  readonly running: Id<'policy'>;
}

function stepsOf(
  policy: PolicyPlan,
  expansion: Expansion,
  offset: number,
  path: readonly Id<'policy'>[],
  held?: SnapshotDetails['hours'],
): EscalationStep[] {
  const holding = holdsFor(policy, expansion.severity);
  const hours =
    holding === null ? held : { timezone: holding.timezone, windows: holding.windows, afterMinutes: offset };
  const origin = policy.id === expansion.running ? undefined : { policyId: policy.id, teamId: policy.teamId };
  const steps: EscalationStep[] = [];
  for (const { policyId, ...step } of policy.steps) {
    if (steps.length >= RUN_STEPS_MAX) break;
    const afterMinutes = Math.min(offset + step.afterMinutes, Number.MAX_SAFE_INTEGER);
    const other = policyId === undefined ? undefined : findOther(policyId, expansion, afterMinutes, path);
    if (other !== undefined) steps.push(...stepsOf(other, expansion, afterMinutes, [...path, other.id], hours));
    else {
      steps.push({
        ...step,
        afterMinutes,
        // A step for a policy that cannot run must not page nobody.
        useSchedule: step.useSchedule || policyId !== undefined,
        ...(origin && { origin }),
        ...(hours && { hours }),
      });
    }
  }
  return steps;
}

function findOther(
  policyId: Id<'policy'>,
  { find, severity, startsAt }: Expansion,
  afterMinutes: number,
  path: readonly Id<'policy'>[],
): PolicyPlan | undefined {
  const named = find(policyId);
  if (named === undefined || path.includes(policyId)) return undefined;
  const other = runningPolicy(named, find, addMinutesSaturating(startsAt, afterMinutes), severity);
  return path.includes(other.id) || other.steps.length === 0 ? undefined : other;
}

/** Returns the policy itself, or the one that runs outside its hours. */
function runningPolicy(policy: PolicyPlan, find: FindPolicy, at: Instant, severity: string): PolicyPlan {
  const passed = new Set<string>();
  let running = policy;
  for (;;) {
    passed.add(running.id);
    const hours = running.details?.hours;
    if (hours === undefined || hours.outside === 'hold' || isExempt(hours.exemptFrom, severity)) return running;
    const other = find(hours.outside.policyId);
    if (other === undefined || passed.has(other.id) || isWithin(hours, at)) return running;
    running = other;
  }
}

/** Returns the hours outside which steps of the policy wait; null when they do not wait. */
function holdsFor({ details }: PolicyPlan, severity: string) {
  const hours = details?.hours;
  return hours?.outside !== 'hold' || isExempt(hours.exemptFrom, severity) ? null : hours;
}

function isExempt(exemptFrom: string | null, severity: string): boolean {
  if (exemptFrom === null) return false;
  const levels: readonly string[] = LEVELS;
  return levels.indexOf(severity) >= levels.indexOf(exemptFrom);
}

/** Returns the policies to which this one leads by its steps and hours, and to which those lead; not itself. */
export function policiesReachedBy(start: Pick<PolicyPlan, 'id' | 'steps' | 'details'>, find: FindPolicy): PolicyPlan[] {
  const reached = new Map<string, PolicyPlan>();
  const waiting = policiesNamedBy(start);
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    const policy = id === start.id || reached.has(id) ? undefined : find(id);
    if (policy === undefined) continue;
    reached.set(id, policy);
    waiting.push(...policiesNamedBy(policy));
  }
  return [...reached.values()];
}

/** Returns the policies of a cycle that the given one is in, itself first and last; null when there is none. */
export function findCycle(start: PolicyPlan, find: FindPolicy): Id<'policy'>[] | null {
  const seen = new Set<string>();
  const walk = (policy: PolicyPlan, path: readonly Id<'policy'>[]): Id<'policy'>[] | null => {
    for (const id of policiesNamedBy(policy)) {
      if (id === start.id) return [...path, id];
      const next = seen.has(id) ? undefined : find(id);
      seen.add(id);
      const cycle = next === undefined ? null : walk(next, [...path, id]);
      if (cycle !== null) return cycle;
    }
    return null;
  };
  return walk(start, [start.id]);
}
