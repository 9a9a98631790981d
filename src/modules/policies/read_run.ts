import type { ActionContext } from '#actions/action_context.ts';
import type { Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import type { ReachablePerson } from '#modules/accounts/store/people_store.ts';
import { contactsOf } from '#modules/contacts/decide/contact.ts';
import type { EscalationStep } from '#modules/policies/decide/escalation.ts';
import {
  type FindPolicy,
  isPlain,
  policiesNamedBy,
  type PolicyPlan,
  type Run,
  runOf,
} from '#modules/policies/decide/run.ts';
import type { EscalationSetting, TeamSetting } from '#modules/policies/decide/simulate_escalation.ts';
import type { TeamOnCall } from '#modules/schedules/store/on_call_reader.ts';
import type { Stores } from '#modules/stores.ts';

/** Limit on the policies read for one: those it names, and those that these name. */
const POLICIES_READ_MAX = 100;

/** A policy by which something pages, with the steps that were read. */
interface PolicyInUse {
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
  /** The policy outside whose hours the other one runs, and the names of both; null when it runs itself. */
  readonly insteadOf: { readonly policyId: Id<'policy'>; readonly policy: string; readonly runs: string } | null;
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
    insteadOf:
      running === undefined || running === policy
        ? null
        : { policyId: policy.id, policy: policy.name, runs: running.name },
  };
}

/** All that decides whom policies page. */
interface PolicySettings {
  /** Returns the setting of one of the policies, for incidents of a severity. */
  settingOf(policy: PolicyPlan, severity: string): EscalationSetting;
  /** Returns the schedules of a team and the people in them. */
  teamOf(teamId: Id<'team'>): TeamOnCall;
  /** People of the organization whom a step may page. */
  readonly people: ReadonlyMap<string, ReachablePerson>;
}

/**
 * Reads whom these policies page, with all policies and teams that they name, in a few queries however many there are.
 * Schedules are as they are from `at` on.
 */
export async function readPolicySettings(
  policies: readonly PolicyPlan[],
  at: Temporal.Instant,
  { caller: { orgId }, stores, configuredChannels }: Pick<ActionContext, 'caller' | 'stores' | 'configuredChannels'>,
): Promise<PolicySettings> {
  const find = await readPolicies(stores, orgId, [], policies);
  const all = reachedFrom(policies, find);
  const steps = all.flatMap((policy) => policy.steps);
  const pagedTeams = steps.flatMap(({ members }) => (members === undefined ? [] : [members.teamId]));
  const teamIds = [...new Set([...all.map(({ teamId }) => teamId), ...pagedTeams])];
  const onCallOf = await stores.onCall.ofTeams(orgId, teamIds, at);
  const members = Map.groupBy(await stores.teams.listMembers(orgId, teamIds), ({ teamId }) => teamId);
  const people = await stores.people.listReachable(orgId, [
    ...steps.flatMap(({ targetUserIds }) => targetUserIds),
    ...teamIds.flatMap((teamId) => [...onCallOf(teamId).people.values()].map(({ userId }) => userId)),
    ...pagedTeams.flatMap((teamId) => (members.get(teamId) ?? []).map(({ userId }) => userId)),
  ]);
  const reachable = [...people.values()];
  const subscribers = await stores.pushSubscriptions.listSubscribers(
    orgId,
    reachable.map(({ userId }) => userId),
  );
  const teams = new Map(
    teamIds.map((teamId): [string, TeamSetting] => {
      const teamMembers = members.get(teamId) ?? [];
      const schedules = onCallOf(teamId).schedules.map(({ schedule, layered }) => ({ id: schedule.id, layered }));
      const contacts = contactsOf(reachable, subscribers, teamMembers);
      return [teamId, { schedules, contacts, memberIds: teamMembers.map(({ userId }) => userId) }];
    }),
  );
  const lastTurns = new Map(all.flatMap(({ id, lastTurn }) => (lastTurn == null ? [] : [[id, lastTurn] as const])));
  return {
    people,
    teamOf: onCallOf,
    settingOf: (policy, severity) => ({
      ...(teams.get(policy.teamId) ?? { schedules: [], contacts: new Map() }),
      steps: policy.steps,
      runAt: (then) => runOf(policy, find, then, severity),
      teams,
      lastTurns,
      configured: configuredChannels,
      isPresent: (userId) => people.has(userId),
    }),
  };
}

/** Returns the policies with those that they name, and so on, each once. */
function reachedFrom(policies: readonly PolicyPlan[], find: FindPolicy): PolicyPlan[] {
  const reached = new Map<string, PolicyPlan>();
  let wanted = [...policies];
  while (wanted.length > 0) {
    for (const policy of wanted) reached.set(policy.id, policy);
    wanted = wanted
      .flatMap(policiesNamedBy)
      .flatMap((id) => find(id) ?? [])
      .filter(({ id }) => !reached.has(id));
  }
  return [...reached.values()];
}
