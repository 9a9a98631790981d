import { inSlices, type Steps } from '#kernel/cooperative_task.ts';
import { type Static, Type } from 'typebox';

import type { ActionContext } from '#actions/action_context.ts';
import { EXAMPLE_IDS as IDS, IdText, Timestamp } from '#actions/fields.ts';
import { reasonOf } from '#modules/incidents/decide/reasons.ts';
import { contactsOf } from '#modules/contacts/decide/contact.ts';
import { peopleOnCall } from '#modules/schedules/decide/layered_shifts.ts';
import {
  DOUBLE_DUTY_DAYS,
  findWarnings,
  isAboutPolicy,
  isReachable,
  type ReachabilityWarning,
} from '#modules/contacts/decide/reachability.ts';
import type { DoubleOnCall } from '#modules/policies/decide/double_duty.ts';
import { asId, type Id } from '#kernel/ids.ts';
import { mayAnswer, type Role } from '#kernel/permissions.ts';
import { toTimestamp } from '#kernel/time.ts';
import type { ReachablePerson } from '#modules/accounts/store/people_store.ts';
import type { TeamOnCall } from '#modules/schedules/store/on_call_reader.ts';
import { policiesNamedBy, policiesReachedBy, type PolicyPlan } from '#modules/policies/decide/run.ts';
import { readPolicies } from '#modules/policies/read_run.ts';
import type { PolicyRow } from '#modules/policies/store.ts';
import type { TeamMemberWithPerson } from '#modules/teams/store.ts';

/** Field for the warnings of results that put people on call. */
export const OnCallWarnings = Type.Array(Type.String(), {
  description: 'who is put on call but may not answer or is reached by nothing, and what to do; none when all is well',
});

function cannotAnswerText(name: string, role: Role): string {
  return `${name} is paged, but the role ${role} may neither acknowledge nor resolve: give them the role responder, or take them out.`;
}

/** Sentence about somebody whom no channel reaches; `whom` may name the team, too. */
export function unreachedText(whom: string): string {
  return `Nothing reaches ${whom}: each channel is off, lacks an address, or is not set up on this server.`;
}

/** Returns a sentence for each of these people whose role does not let them answer a page. */
export async function readRoleWarnings(
  userIds: readonly string[],
  { caller, stores }: Pick<ActionContext, 'caller' | 'stores'>,
): Promise<string[]> {
  return roleWarnings(await stores.people.listReachable(caller.orgId, userIds));
}

function roleWarnings(people: ReadonlyMap<string, ReachablePerson>): string[] {
  return [...people.values()]
    .filter(({ role }) => !mayAnswer(role))
    .map(({ name, role }) => cannotAnswerText(name, role));
}

/** Returns a sentence for each of these people whom the team puts on call and who may not answer, or whom nothing reaches. */
export async function readOnCallWarnings(
  userIds: readonly string[],
  teamId: Id<'team'>,
  context: Pick<ActionContext, 'caller' | 'stores' | 'configuredChannels'>,
): Promise<string[]> {
  const { caller, stores, configuredChannels } = context;
  const people = await stores.people.listReachable(caller.orgId, userIds);
  const accounts = [...people.values()];
  const subscribers = await stores.pushSubscriptions.listSubscribers(
    caller.orgId,
    accounts.map(({ userId }) => userId),
  );
  const contacts = contactsOf(accounts, subscribers, await stores.teams.listMembers(caller.orgId, [teamId]));
  const unreached = accounts.filter(({ userId }) => {
    const contact = contacts.get(userId);
    return contact === undefined || !isReachable(contact, configuredChannels);
  });
  return [...roleWarnings(people), ...unreached.map(({ name }) => unreachedText(name))];
}

/** Returns the warnings of `readOnCallWarnings` for a new member of a team, if a policy pages all of its members. */
export async function readMembershipWarnings(
  { userId, teamId }: { readonly userId: Id<'user'>; readonly teamId: Id<'team'> },
  context: Pick<ActionContext, 'caller' | 'stores' | 'configuredChannels'>,
): Promise<string[]> {
  const naming = await context.stores.policies.listNamingAny(context.caller.orgId, [teamId]);
  const isPaged = naming.some(({ steps }) => steps.some(({ members }) => members?.teamId === teamId));
  return isPaged ? await readOnCallWarnings([userId], teamId, context) : [];
}

export const WarningView = Type.Object(
  {
    kind: Type.Enum([
      'policy_unreadable',
      'step_reaches_nobody',
      'schedule_unreadable',
      'schedule_gap',
      'schedule_pages_nobody',
      'on_call_twice',
      'member_unreachable',
      'cannot_answer',
    ]),
    message: Type.String({ description: 'what is wrong, as a sentence' }),
    policyId: Type.Optional(IdText),
    step: Type.Optional(Type.Integer({ description: 'index of the step, from 0' })),
    scheduleId: Type.Optional(IdText),
    gaps: Type.Optional(
      Type.Array(Type.Object({ since: Timestamp, until: Timestamp }), {
        description: 'when nobody is on call, of the next 30 days; at most 20',
      }),
    ),
    scheduleIds: Type.Optional(
      Type.Array(IdText, {
        description:
          'those that put the person on call; two by which the same person is at once: of the earlier step, and of the step',
      }),
    ),
    memberId: Type.Optional(IdText),
    userId: Type.Optional(IdText),
  },
  { description: 'why a page might reach nobody; with the ids of what it is about' },
);

/** Example of a warning: the other person of the examples is in no team, and so has no number to call. */
export const WARNING_EXAMPLE: Static<typeof WarningView> = {
  kind: 'step_reaches_nobody',
  message: 'Step 2 of the policy "Wake somebody" would reach nobody now: every channel is off or has no address.',
  policyId: IDS.policyId,
  step: 1,
};

const GAPS_SHOWN_MAX = 20;
/** People whom a sentence names. */
const NAMED_MAX = 5;

export interface TeamParts {
  readonly members: readonly TeamMemberWithPerson[];
  readonly policies: readonly PolicyRow[];
  readonly onCall: TeamOnCall;
}

type Context = Pick<ActionContext, 'caller' | 'stores' | 'configuredChannels' | 'now'>;

/**
 * Reads why pages of these teams might reach nobody, team by team, those by policies of other teams to which theirs lead
 * included; in a few queries, however many teams there are.
 */
export async function readWarnings(
  teams: readonly TeamParts[],
  context: Context,
): Promise<Static<typeof WarningView>[][]> {
  const { reachedBy, parts } = await readReached(teams, context);
  const warnings = await readOwnWarnings([...teams, ...parts], context);
  const ofParts = warnings.slice(teams.length);
  const membersOf = await readMembersPaged(
    parts.flatMap(({ policies }) => policies),
    context,
  );
  return teams.map((team, index) => {
    const listed = new Set(team.policies.map(({ id }) => id));
    const further = team.policies.flatMap((policy) =>
      reachedBy(policy)
        .filter(({ id }) => !listed.has(id))
        .flatMap((reached) => {
          const place = parts.findIndex(({ policies }) => policies.some(({ id }) => id === reached.id));
          return (ofParts[place] ?? [])
            .filter((warning) => isAboutPolicy(warning, reached, membersOf))
            .map((warning) => ({ ...warning, message: `${warning.message} The policy "${policy.name}" goes there.` }));
        }),
    );
    const byMessage = new Map(further.map((warning) => [warning.message, warning]));
    return [...(warnings[index] ?? []), ...byMessage.values()];
  });
}

/** Reads the policies to which those of the teams lead and which are not among them, with the teams that they are of. */
async function readReached(teams: readonly TeamParts[], { caller, stores, now }: Context) {
  const policies = teams.flatMap((team) => team.policies);
  const reachedBy = await readReachedBy(policies, stores, caller.orgId);
  const reached = new Set(
    teams.flatMap((team) => {
      const listed = new Set(team.policies.map(({ id }) => id));
      return team.policies.flatMap((policy) => reachedBy(policy).flatMap(({ id }) => (listed.has(id) ? [] : [id])));
    }),
  );
  if (reached.size === 0) return { reachedBy, parts: [] };
  const byTeam = Map.groupBy(await stores.policies.listAll(caller.orgId, [...reached]), ({ teamId }) => teamId);
  const [members, onCallOf] = await Promise.all([
    stores.teams.listMembers(caller.orgId, [...byTeam.keys()]),
    stores.onCall.ofTeams(caller.orgId, [...byTeam.keys()], now),
  ]);
  const parts = [...byTeam].map(([teamId, ofTeam]): TeamParts => ({
    members: members.filter((member) => member.teamId === teamId),
    policies: ofTeam,
    onCall: onCallOf(teamId),
  }));
  return { reachedBy, parts };
}

async function readReachedBy(
  policies: readonly PolicyRow[],
  stores: Context['stores'],
  orgId: Id<'org'>,
): Promise<(policy: PolicyRow) => PolicyPlan[]> {
  if (policies.every((policy) => policiesNamedBy(policy).length === 0)) return () => [];
  const find = await readPolicies(stores, orgId, [], policies);
  return (policy) => policiesReachedBy(policy, find);
}

/** Reads which warnings are about pages by a policy, or by one to which it leads. */
export async function readAboutPolicies(
  policies: readonly PolicyRow[],
  { caller, stores }: Pick<Context, 'caller' | 'stores'>,
): Promise<(warning: Static<typeof WarningView>, policy: PolicyRow) => boolean> {
  const reachedBy = await readReachedBy(policies, stores, caller.orgId);
  const all = policies.flatMap((policy) => [policy, ...reachedBy(policy)]);
  const membersOf = await readMembersPaged(all, { caller, stores });
  return (warning, policy) =>
    [policy, ...reachedBy(policy)].some((reached) => isAboutPolicy(warning, reached, membersOf));
}

async function readOwnWarnings(
  teams: readonly TeamParts[],
  { caller, stores, configuredChannels, now }: Context,
): Promise<Static<typeof WarningView>[][]> {
  const pagedTeams = teams.flatMap(({ policies }) => teamsPagedBy(policies));
  const paged = pagedTeams.length === 0 ? [] : await stores.teams.listMembers(caller.orgId, pagedTeams);
  const pagedBy = Map.groupBy(paged, ({ teamId }) => teamId);
  const userIds = teams.flatMap(({ members, policies, onCall }) => [
    ...paged.map(({ userId }) => userId),
    ...members.map(({ userId }) => userId),
    ...policies.flatMap(({ steps }) => steps.flatMap(({ targetUserIds }) => targetUserIds)),
    ...peopleOnCall(onCall.schedules.map((schedule) => schedule.onCall)),
    ...[...onCall.people.keys()].map((userId) => asId('user', userId)),
  ]);
  const people = await stores.people.listReachable(caller.orgId, userIds);
  const subscribers = await stores.pushSubscriptions.listSubscribers(caller.orgId, userIds);
  return await inSlices(warningsOfAll());

  function* warningsOfAll(): Steps<Static<typeof WarningView>[][]> {
    const warnings: Static<typeof WarningView>[][] = [];
    for (const team of teams) {
      const { schedules } = team.onCall;
      const ownIds = new Set(team.members.map(({ userId }) => userId));
      const others = (members: readonly TeamMemberWithPerson[]) => members.filter(({ userId }) => !ownIds.has(userId));
      const reach = {
        ...team,
        // Members of other teams whom the policies page as a whole are reached like its own.
        members: [
          ...team.members,
          ...[...new Set(teamsPagedBy(team.policies))].flatMap((teamId) => others(pagedBy.get(teamId) ?? [])),
        ],
        schedules: schedules.map(({ schedule: { id, isUnreadable }, layered }) => ({ id, layered, isUnreadable })),
        onCallNow: schedules.map(({ schedule, onCall }) => ({ id: schedule.id, onCall })),
        membersOf: (teamId: Id<'team'>) => (pagedBy.get(teamId) ?? []).map(({ userId }) => userId),
        contacts: contactsOf([...people.values()], subscribers, [...team.members, ...others(paged)]),
        isPresent: (userId: string) => team.onCall.people.has(userId),
        mayAnswer: (userId: string) => mayAnswer(people.get(userId)?.role ?? 'viewer'),
      };
      const teamWarnings = yield* findWarnings(reach, configuredChannels, now);
      warnings.push(teamWarnings.map((warning) => toWarningView(warning, team, people)));
      yield;
    }
    return warnings;
  }
}

/** Reads who is in the teams whose members these policies page. */
async function readMembersPaged(
  policies: readonly Pick<PolicyPlan, 'steps'>[],
  { caller, stores }: Pick<ActionContext, 'caller' | 'stores'>,
): Promise<(teamId: Id<'team'>) => readonly Id<'user'>[]> {
  const teamIds = teamsPagedBy(policies);
  const members = teamIds.length === 0 ? [] : await stores.teams.listMembers(caller.orgId, teamIds);
  const byTeam = Map.groupBy(members, ({ teamId }) => teamId);
  return (teamId) => (byTeam.get(teamId) ?? []).map(({ userId }) => userId);
}

function teamsPagedBy(policies: readonly Pick<PolicyPlan, 'steps'>[]): Id<'team'>[] {
  return policies.flatMap(({ steps }) =>
    steps.flatMap(({ members }) => (members === undefined ? [] : [members.teamId])),
  );
}

/** Returns who is first and second on call at once, and when. */
export function doubleDutyText(
  { scheduleIds, times }: DoubleOnCall,
  schedules: TeamOnCall['schedules'],
  nameOf: (userId: string) => string,
): string {
  const names = scheduleIds.map((id) => `"${schedules.find(({ schedule }) => schedule.id === id)?.schedule.name}"`);
  const [first, ...others] = times;
  if (first === undefined) return '';
  const further = [...new Set(others.map(({ userId }) => userId))].filter((userId) => userId !== first.userId);
  const count = `${others.length} more ${others.length === 1 ? 'time' : 'times'} within ${DOUBLE_DUTY_DAYS} days`;
  const whom = further.length === 0 ? '' : ` (also ${further.slice(0, NAMED_MAX).map(nameOf).join(', ')})`;
  const more = others.length === 0 ? '' : `, and ${count}${whom}`;
  return `${nameOf(first.userId)} is on call in ${names.join(' and ')} at once from ${toTimestamp(first.since)} to ${toTimestamp(first.until)}${more}.`;
}

function toWarningView(
  warning: ReachabilityWarning,
  team: TeamParts,
  people: ReadonlyMap<string, ReachablePerson>,
): Static<typeof WarningView> {
  switch (warning.kind) {
    case 'step_reaches_nobody': {
      const { kind, policyId, stepIndex, reason } = warning;
      const name = team.policies.find(({ id }) => id === policyId)?.name;
      const message = `Step ${stepIndex + 1} of the policy "${name}" would reach nobody now: ${reasonOf(reason)}.`;
      return { kind, message, policyId, step: stepIndex };
    }
    case 'policy_unreadable': {
      const { kind, policyId } = warning;
      const name = team.policies.find(({ id }) => id === policyId)?.name;
      const message = `The policy "${name}" cannot be read: it pages whoever is on call, at once and by every channel. Save its steps again.`;
      return { kind, message, policyId };
    }
    case 'schedule_unreadable': {
      const { kind, scheduleId } = warning;
      const name = team.onCall.schedules.find(({ schedule }) => schedule.id === scheduleId)?.schedule.name;
      const message = `The schedule "${name}" cannot be read: it puts nobody on call. Save its rotation again.`;
      return { kind, message, scheduleId };
    }
    case 'schedule_gap': {
      const { kind, scheduleId } = warning;
      const name = team.onCall.schedules.find(({ schedule }) => schedule.id === scheduleId)?.schedule.name;
      const gaps = warning.gaps.slice(0, GAPS_SHOWN_MAX).map(({ since, until }) => {
        return { since: toTimestamp(since), until: toTimestamp(until) };
      });
      const others = warning.gaps.length - 1;
      const more = others === 0 ? '' : `, and ${others} more ${others === 1 ? 'time' : 'times'} within 30 days`;
      const message = `Nobody is on call in the schedule "${name}" from ${gaps[0]?.since} to ${gaps[0]?.until}${more}.`;
      return { kind, message, scheduleId, gaps };
    }
    case 'schedule_pages_nobody': {
      const { kind, scheduleId } = warning;
      const name = team.onCall.schedules.find(({ schedule }) => schedule.id === scheduleId)?.schedule.name;
      const what = team.policies.length === 0 ? 'the team has no escalation policy' : 'no escalation policy asks it';
      const message = `Nobody is paged by the schedule "${name}" yet: ${what}.`;
      return { kind, message, scheduleId };
    }
    case 'on_call_twice': {
      const { kind, policyId, stepIndex, scheduleIds, times } = warning;
      const name = team.policies.find(({ id }) => id === policyId)?.name;
      const nameOf = (userId: string) => people.get(userId)?.name ?? team.onCall.people.get(userId)?.name ?? '';
      const message = doubleDutyText(warning, team.onCall.schedules, nameOf);
      const [first] = times;
      return {
        kind,
        message: `${message} The policy "${name}" asks one after the other.`,
        policyId,
        step: stepIndex,
        scheduleIds: [...scheduleIds],
        ...(first && { userId: first.userId }),
      };
    }
    case 'member_unreachable': {
      const { kind, memberId, userId, scheduleIds } = warning;
      const message = unreachedText(people.get(userId)?.name ?? '');
      return { kind, message, memberId, userId, ...(scheduleIds.length > 0 && { scheduleIds: [...scheduleIds] }) };
    }
    case 'cannot_answer': {
      const { kind, userId, scheduleIds } = warning;
      const person = people.get(userId);
      const message = cannotAnswerText(person?.name ?? '', person?.role ?? 'viewer');
      return { kind, message, userId, ...(scheduleIds.length > 0 && { scheduleIds: [...scheduleIds] }) };
    }
  }
}
