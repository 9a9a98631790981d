import type { EscalationStep } from '#modules/policies/decide/escalation.ts';
import type { Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import type { Stores } from '#modules/stores.ts';

import {
  type FindPolicy,
  isPlain,
  policiesNamedBy,
  type PolicyPlan,
  type Run,
  runOf,
} from '#modules/policies/decide/run.ts';

/** Limit on the policies read for one: those it names, and those that these name. */
const POLICIES_READ_MAX = 100;

/** A policy by which something pages, with the steps that were read. */
export interface PolicyInUse {
  readonly escalationPolicyId: Id<'policy'> | null;
  readonly teamId: Id<'team'> | null;
  readonly steps: readonly EscalationStep[];
}

/** Run of a policy as an incident keeps it; without a policy, the incident pages nobody. */
export interface IncidentRun {
  readonly escalationPolicyId: Id<'policy'> | null;
  readonly teamId: Id<'team'> | null;
  readonly steps: readonly EscalationStep[];
  readonly repeat: Run['repeat'];
  /** Names of the policy outside whose hours the other one runs; null when it runs itself. */
  readonly insteadOf: { readonly policy: string; readonly runs: string } | null;
}

/** Reads these policies, and all that they name, in a query for each time that one names others. */
export async function readPolicies(
  { policies }: Pick<Stores, 'policies'>,
  orgId: Id<'org'>,
  policyIds: readonly Id<'policy'>[],
  loaded: readonly PolicyPlan[] = [],
): Promise<FindPolicy> {
  const plans = new Map(loaded.map((policy) => [policy.id, policy]));
  let wanted = [...policyIds, ...loaded.flatMap(policiesNamedBy)];
  const asked = new Set<Id<'policy'>>(plans.keys());
  while (asked.size < POLICIES_READ_MAX) {
    const ids = [...new Set(wanted)].filter((id) => !asked.has(id)).slice(0, POLICIES_READ_MAX - asked.size);
    if (ids.length === 0) break;
    for (const id of ids) asked.add(id);
    const rows = await policies.listAll(orgId, ids);
    for (const row of rows) plans.set(row.id, row);
    wanted = rows.flatMap(policiesNamedBy);
  }
  return (policyId) => plans.get(policyId);
}

/** Returns what an incident runs that begins to page by a policy at `at`: the steps as they were read, if it is plain. */
export function runOfPolicy(
  { escalationPolicyId, teamId, steps }: PolicyInUse,
  find: FindPolicy,
  at: Temporal.Instant,
  severity: string,
): IncidentRun {
  const policy = escalationPolicyId === null ? undefined : find(escalationPolicyId);
  if (policy === undefined || isPlain(policy)) {
    return { escalationPolicyId, teamId, steps, repeat: null, insteadOf: null };
  }
  const run = runOf(policy, find, at, severity);
  const running = find(run.policyId);
  return {
    escalationPolicyId: run.policyId,
    teamId: run.teamId,
    steps: run.steps,
    repeat: run.repeat,
    insteadOf: running === undefined || running === policy ? null : { policy: policy.name, runs: running.name },
  };
}
