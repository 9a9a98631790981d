import type { Channel } from '#modules/contacts/decide/channel.ts';
import { type Contact, contactsOf } from '#modules/contacts/decide/contact.ts';
import type { EscalationStep } from '#modules/policies/decide/escalation.ts';
import { chooseInTurn } from '#modules/policies/decide/recipients.ts';
import type { Id } from '#kernel/ids.ts';
import { audienceOf, inTurn } from '#modules/policies/decide/audience.ts';
import type { IncidentRow } from '#modules/incidents/store/incident_store.ts';
import type { UnitOfWork } from '#modules/unit_of_work.ts';

/** People whom a step pages, and how each can be reached. */
interface Audience {
  readonly userIds: readonly Id<'user'>[];
  readonly contacts: ReadonlyMap<Id<'user'>, Contact>;
}

/**
 * Reads whom a step of a locked incident pages now, besides the people it names. A round robin takes its turn in the
 * caller's transaction, so that a step which fires counts once.
 */
export async function readAudience(
  { stores, now }: UnitOfWork,
  incident: IncidentRow,
  step: EscalationStep,
  configured: ReadonlySet<Channel>,
): Promise<Audience> {
  const { orgId } = incident;
  const teamId = step.origin?.teamId ?? incident.teamId;
  const onCall =
    step.useSchedule && teamId !== null ? await stores.onCall.ofTeam(orgId, teamId, now) : { schedules: [] };
  const schedules = onCall.schedules.map(({ schedule, onCall: then }) => ({ id: schedule.id, onCall: then }));
  const paged = step.members === undefined ? [] : await stores.teams.listMembers(orgId, [step.members.teamId]);
  const memberIds = paged.map(({ userId }) => userId);
  const userIds = audienceOf(step, { schedules, memberIds });
  const people = await stores.people.listReachable(orgId, [...step.targetUserIds, ...userIds]);
  const subscribers = await stores.pushSubscriptions.listSubscribers(
    [...people.values()].map((person) => person.userId),
  );
  const teamMembers = teamId === null ? [] : await stores.teams.listMembers(orgId, [teamId]);
  // The settings in the policy's team come before those in the team that is paged.
  const ownIds = new Set(teamMembers.map(({ userId }) => userId));
  const members = [...teamMembers, ...paged.filter(({ userId }) => !ownIds.has(userId))];
  const contacts = contactsOf([...people.values()], subscribers, members);
  if (step.members?.inTurn !== true) return { userIds, contacts };
  const policyId = step.origin?.policyId ?? incident.escalationPolicyId;
  const last = policyId === null ? null : await stores.policies.lockTurn(policyId);
  const userId = chooseInTurn(inTurn(memberIds, last), step, contacts, configured);
  if (userId !== null && policyId !== null) {
    await stores.policies.setTurn(policyId, { userId, position: memberIds.indexOf(userId) });
  }
  return { userIds: audienceOf(step, { schedules, memberIds: userId === null ? [] : [userId] }), contacts };
}
