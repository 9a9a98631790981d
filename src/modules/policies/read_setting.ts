import type { ActionContext } from '#actions/action_context.ts';
import { contactsOf } from '#modules/contacts/decide/contact.ts';
import type { EscalationSetting, TeamSetting } from '#modules/policies/decide/simulate_escalation.ts';
import type { Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import { type FindPolicy, policiesNamedBy, type PolicyPlan, runOf } from '#modules/policies/decide/run.ts';
import { readPolicies } from '#modules/policies/read_run.ts';
import type { TeamOnCall } from '#modules/schedules/store/on_call_reader.ts';
import type { ReachablePerson } from '#modules/accounts/store/people_store.ts';

/** All that decides whom policies page. */
export interface PolicySettings {
  /** Returns the setting of one of the policies, for incidents of a severity. */
  settingOf(policy: PolicyPlan, severity: string): EscalationSetting;
  /** Returns the schedules of a team and the people in them. */
  teamOf(teamId: Id<'team'>): TeamOnCall;
  /** Everybody whom a step may page and who belongs to the organization. */
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
  const subscribers = await stores.pushSubscriptions.listSubscribers(reachable.map(({ userId }) => userId));
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
