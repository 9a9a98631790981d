import { type Static, Type } from 'typebox';

import { type ActionContext, defineOperation } from '#actions/action_context.ts';
import { EXAMPLE_IDS, IdText, nullable, StrictObject } from '#actions/fields.ts';
import { searchInput } from '#actions/list_page.ts';
import { AppError, invalidInput, notFound } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import { mayAnswer } from '#kernel/permissions.ts';
import { CHANNELS } from '#modules/contacts/decide/channel.ts';
import { lockIncident } from '#modules/incidents/change_status.ts';
import {
  INCIDENT_STATUSES,
  type IncidentActor,
  type IncidentStatus,
  toIncidentActor,
} from '#modules/incidents/decide/incident.ts';
import {
  type Assignee,
  INCIDENT_STEPS_MAX,
  planReassignment,
  replacedBy,
} from '#modules/incidents/decide/reassignment.ts';
import { readContacts } from '#modules/incidents/paging/read_contacts.ts';
import { withdrawStatusUpdates } from '#modules/incidents/paging/acknowledgement_timeout.ts';
import { scheduleSteps } from '#modules/incidents/paging/schedule_steps.ts';
import type { IncidentRow } from '#modules/incidents/store/incident_store.ts';
import { IncidentView, toIncidentView } from '#modules/incidents/view.ts';
import { type EscalationStep, stepCountOf } from '#modules/policies/decide/escalation.ts';
import { decideRecipients } from '#modules/policies/decide/recipients.ts';
import { type Repeats, repeatsOf } from '#modules/policies/decide/rounds.ts';
import { readSteps } from '#modules/policies/decide/stored_steps.ts';
import { readPolicies, runOfPolicy } from '#modules/policies/read_run.ts';
import { peopleOnCall } from '#modules/schedules/decide/layered_shifts.ts';
import type { TeamMemberOfTeam } from '#modules/teams/store.ts';
import type { UnitOfWork } from '#modules/stores.ts';

const To = StrictObject(
  { policyId: Type.Optional(IdText), userId: Type.Optional(IdText) },
  { description: 'exactly one of them' },
);

export const reassignIncident = defineOperation({
  name: 'reassign_incident',
  summary:
    'Hand an incident over to another escalation policy, whose steps begin now, or to a person, who is paged at once with the ' +
    'steps that are left behind them. An acknowledged incident waits for somebody again.',
  permission: 'oncall:edit',
  effect: 'write',
  input: StrictObject({
    incidentId: IdText,
    to: To,
    seen: StrictObject(
      {
        status: Type.Enum([...INCIDENT_STATUSES]),
        stepCount: Type.Integer({ minimum: 0, description: 'escalation.stepCount' }),
      },
      { description: 'the incident as the caller saw it: what has changed since is a conflict' },
    ),
  }),
  result: IncidentView,
  conflict:
    'the incident is resolved or not as it was seen, or nothing reaches the person, or their role cannot answer',
  example: { to: { userId: EXAMPLE_IDS.otherUserId }, seen: { status: 'triggered', stepCount: 2 } },
  async handle({ incidentId, to, seen }, context) {
    const { stores, caller, now } = context;
    const incident = await lockIncident(incidentId, context);
    const target = await readTarget(to, incident, context);
    await reassign(context, incident, toIncidentActor(caller.actor, caller.via), target, seen);
    const after = await stores.incidents.get(caller.orgId, incident.id, now);
    context.record({
      target: incident.id,
      before: { status: incident.status, escalationPolicyId: incident.escalationPolicyId },
      after: {
        status: after.status,
        escalationPolicyId: after.escalationPolicyId,
        assignedTo: target.kind === 'person' ? target.userId : target.policyId,
      },
    });
    return toIncidentView(after, await stores.stepTimers.listSteps([incident.id]));
  },
});

async function readTarget(
  { policyId, userId }: Static<typeof To>,
  incident: IncidentRow,
  context: ActionContext,
): Promise<Target> {
  if ((policyId === undefined) === (userId === undefined)) {
    throw invalidInput([{ path: 'to', message: 'must have either policyId or userId' }]);
  }
  if (policyId !== undefined) {
    const policy = await context.stores.policies.lock(context.caller.orgId, policyId, 'to.policyId');
    const { caller, stores, now } = context;
    const run = runOfPolicy(
      { escalationPolicyId: policy.id, teamId: policy.teamId, steps: readSteps(policy.steps) },
      await readPolicies(stores, caller.orgId, [policy.id]),
      now,
      incident.severity,
    );
    const { steps, escalationPolicyId, teamId } = run;
    if (steps.length === 0) throw new AppError('conflict', 'this policy has no steps: it would page nobody');
    return {
      kind: 'policy',
      policyId: escalationPolicyId ?? policy.id,
      teamId: teamId ?? policy.teamId,
      name: run.insteadOf?.runs ?? policy.name,
      steps,
      repeats: repeatsOf(run),
    };
  }
  const { orgId } = context.caller;
  const person = (await context.stores.people.listReachable(orgId, [userId ?? ''])).get(userId ?? '');
  if (person === undefined) throw notFound('to.userId', 'user');
  if (!mayAnswer(person.role)) {
    const message = `${person.name} may neither acknowledge nor resolve in the role ${person.role}; choose somebody else, or give them the role responder`;
    throw new AppError('conflict', message);
  }
  const step = { afterMinutes: 0, channels: CHANNELS, targetUserIds: [person.userId], useSchedule: false };
  const contacts = await readContacts(context.stores, incident, [person.userId]);
  const { pages, nobodyReached } = decideRecipients(step, [], contacts, context.configuredChannels);
  if (nobodyReached !== null) {
    const places = await context.stores.teams.listPlacesOf(orgId, person.userId);
    throw new AppError('conflict', whyUnreached(person, teamsWithNumber(places, incident)));
  }
  const channels = pages.filter(({ kind }) => kind === 'notify').map(({ channel }) => channel);
  return { kind: 'person', userId: person.userId, channels };
}

/** Returns the names of the other teams that have a number of the person: it counts for their incidents only. */
function teamsWithNumber(
  places: readonly Pick<TeamMemberOfTeam, 'teamId' | 'teamName' | 'phone'>[],
  { teamId }: Pick<IncidentRow, 'teamId'>,
): string[] {
  return places.filter((place) => place.phone !== null && place.teamId !== teamId).map(({ teamName }) => teamName);
}

/** Says why a person cannot be paged about an incident, and what to do. `teams`: others that have a number of theirs. */
function whyUnreached({ name }: { readonly name: string }, teams: readonly string[]): string {
  const where = 'as their own number on the page Me, where it counts in every team';
  if (teams.length === 0) {
    return `${name} cannot be paged: every channel is off, has no address or is not set up on this server; let ${name} enter a phone number ${where}, or choose somebody else`;
  }
  const theirs = teams.length === 1 ? 'that team' : 'those teams';
  return `${name} cannot be paged: their number in ${teams.join(' and ')} counts for incidents of ${theirs} only; let ${name} enter it ${where}, or choose somebody else`;
}

/** A policy with its team, or a person with the channels that reach them. */
type Target =
  | {
      readonly kind: 'policy';
      readonly policyId: Id<'policy'>;
      readonly teamId: Id<'team'>;
      readonly name: string;
      readonly steps: readonly EscalationStep[];
      /** Repetition of the steps; null for none. */
      readonly repeats: Repeats | null;
    }
  | Extract<Assignee, { kind: 'person' }>;

/** State of the incident as the person saw it when deciding. */
interface SeenIncident {
  readonly status: IncidentStatus;
  readonly stepCount: number;
}

/**
 * Gives an incident, which the caller has locked, to other people, who are paged at once; it is triggered again if it was
 * acknowledged. An earlier step that is just firing has fired, or no longer fires. Throws `conflict` when
 * the incident is resolved, or is not as the person saw it: two people who reassign at once do not page two policies.
 */
async function reassign(
  unit: UnitOfWork,
  incident: IncidentRow,
  by: IncidentActor,
  target: Target,
  seen: SeenIncident,
): Promise<void> {
  const { stores, now } = unit;
  requireAsSeen(incident, seen);
  const timers = await stores.stepTimers.listSteps([incident.id]);
  const plan = planReassignment({ ...incident, timers }, target, now);
  if (plan.steps.length > INCIDENT_STEPS_MAX) {
    throw new AppError(
      'conflict',
      `too many people are about to be paged, one after the other (${plan.steps.length}): hand it over to an escalation policy`,
    );
  }
  await stores.stepTimers.supersedeSteps(incident.id, now);
  await stores.notifications.supersedeCancelled(incident.id, now);
  const notified = incident.status === 'acknowledged' ? await cancelAcknowledgement(unit, incident, by) : [];
  const { policyId, teamId } =
    target.kind === 'policy' ? target : { policyId: incident.escalationPolicyId, teamId: incident.teamId };
  const steps = replacedBy(incident.steps, plan.steps);
  const repeats = target.kind === 'policy' ? target.repeats : incident.repeats;
  await stores.incidents.reassign(
    { id: incident.id, steps, escalationPolicyId: policyId, teamId, repeats },
    plan.timers,
    now,
  );
  const to = target.kind === 'policy' ? { policy: target.name } : { userId: target.userId };
  const stepsLeft = target.kind === 'policy' ? 0 : plan.steps.length - 1;
  await stores.timeline.record(incident.id, 'reassigned', { by, ...to, stepsLeft, told: notified }, now);
  scheduleSteps(unit, incident.id, plan.timers);
}

function requireAsSeen({ status, steps }: IncidentRow, seen: SeenIncident): void {
  if (status === 'resolved') throw new AppError('conflict', 'this incident is resolved; reopen it if it is not over');
  if (stepCountOf(steps) !== seen.stepCount) {
    throw new AppError('conflict', 'somebody else has handed this incident over meanwhile; look who is paged now');
  }
  if (status !== seen.status) {
    throw new AppError(
      'conflict',
      `this incident is ${status} by now; hand it over again if it still needs somebody else`,
    );
  }
}

/** Reverts an acknowledgement to triggered. People who were told that it was acknowledged are told that it is not. */
async function cancelAcknowledgement(unit: UnitOfWork, incident: IncidentRow, by: IncidentActor): Promise<string[]> {
  await unit.stores.incidents.reopen(incident.id, 'triggered', unit.now);
  return await withdrawStatusUpdates(unit, incident, 'acknowledged', by);
}

/** Reads who is on call now in the schedules of the team whose policy pages about the incident. */
async function readOnCall({ orgId, teamId }: IncidentRow, stores: UnitOfWork['stores'], now: UnitOfWork['now']) {
  if (teamId === null) return [];
  const onCallOf = await stores.onCall.ofTeams(orgId, [teamId], now);
  return peopleOnCall(onCallOf(teamId).schedules.map(({ onCall }) => onCall));
}

/** Limit on the results; others are found by a part of their name. */
const SHOWN_MAX = 50;

export const listAssignees = defineOperation({
  name: 'list_assignees',
  summary:
    'Find the escalation policies and the people that an incident can be given to, by name, with the channels by ' +
    'which each person would be paged now; who may not answer is left out.',
  permission: 'oncall:view',
  effect: 'read',
  input: StrictObject({
    incidentId: IdText,
    text: searchInput('part of the name of a policy, or of a name or mail address'),
  }),
  result: Type.Object({
    policies: Type.Array(
      Type.Object({ policyId: IdText, name: Type.String(), teamName: Type.String(), stepCount: Type.Integer() }),
      { description: `at most ${SHOWN_MAX}` },
    ),
    furtherPolicies: Type.Integer({ description: 'how many others match' }),
    people: Type.Array(
      Type.Object({
        userId: IdText,
        name: Type.String(),
        channels: Type.Array(Type.Enum([...CHANNELS])),
        isOnCall: Type.Boolean({ description: 'now, in a schedule of the team whose policy pages' }),
        memberId: nullable(Type.String({ description: 'of their place in that team; null: they are not in it' })),
        refusal: nullable(
          Type.String({ description: 'why nothing reaches them, and what to do; null where something does' }),
        ),
      }),
      { description: `whoever is on call first; at most ${SHOWN_MAX} others` },
    ),
    furtherPeople: Type.Integer({ description: 'how many others match' }),
    team: nullable(Type.Object({ teamId: IdText, name: Type.String() })),
  }),
  example: { text: 'ann' },
  async handle({ incidentId, text }, { caller, stores, now, configuredChannels }) {
    const incident = await stores.incidents.get(caller.orgId, incidentId, now);
    const wanted = { text: text?.trim(), teamId: undefined };
    const first = { after: null, limit: SHOWN_MAX };
    const policies = await stores.policies.search(caller.orgId, wanted, first);
    const rows = await stores.teams.findAll(caller.orgId, [...new Set(policies.map(({ teamId }) => teamId))]);
    const teams = new Map(rows.map((team) => [team.id, team.name]));
    const onCallIds = new Set(await readOnCall(incident, stores, now));
    const answering = { text: wanted.text, mayAnswer: true };
    const search = (userIds?: readonly Id<'user'>[]) =>
      stores.people.search(caller.orgId, { ...answering, ...(userIds !== undefined && { userIds }) }, first);
    const matching = [...(onCallIds.size === 0 ? [] : await search([...onCallIds])), ...(await search())];
    const members = [...new Map(matching.map((member) => [member.userId, member])).values()];
    const userIds = members.map(({ userId }) => userId);
    const contacts = await readContacts(stores, incident, userIds);
    const places = Map.groupBy(await stores.teams.listPlacesOfAll(caller.orgId, userIds), ({ userId }) => userId);
    const [team] = incident.teamId === null ? [] : await stores.teams.findAll(caller.orgId, [incident.teamId]);
    return {
      team: team === undefined ? null : { teamId: team.id, name: team.name },
      furtherPolicies: (await stores.policies.count(caller.orgId, wanted)) - policies.length,
      furtherPeople: Math.max(0, (await stores.people.count(caller.orgId, answering)) - members.length),
      policies: policies
        .filter(({ steps }) => steps.length > 0)
        .map(({ id, name, teamId, steps }) => ({
          policyId: id,
          name,
          teamName: teams.get(teamId) ?? '',
          stepCount: steps.length,
        })),
      people: members.map(({ userId, name }) => {
        const step = { afterMinutes: 0, channels: CHANNELS, targetUserIds: [userId], useSchedule: false };
        const { pages, nobodyReached } = decideRecipients(step, [], contacts, configuredChannels);
        const refusal =
          nobodyReached === null ? null : whyUnreached({ name }, teamsWithNumber(places.get(userId) ?? [], incident));
        const channels = pages.filter(({ kind }) => kind === 'notify').map(({ channel }) => channel);
        const place = places.get(userId)?.find(({ teamId }) => teamId === incident.teamId);
        return { userId, name, channels, isOnCall: onCallIds.has(userId), memberId: place?.id ?? null, refusal };
      }),
    };
  },
});
