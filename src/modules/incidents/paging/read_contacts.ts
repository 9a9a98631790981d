import { type Contact, contactsOf } from '#modules/contacts/decide/contact.ts';
import type { EscalationStep } from '#modules/policies/decide/escalation.ts';
import type { Id } from '#kernel/ids.ts';
import type { IncidentRow } from '#modules/incidents/store/incident_store.ts';
import type { Stores } from '#modules/stores.ts';

/**
 * Returns how each person can be reached: by their settings in the team of the policy, which is the incident's unless
 * the step came from another policy; else by those in the team that the step pages; else by their own.
 */
export async function readContacts(
  stores: Pick<Stores, 'people' | 'pushSubscriptions' | 'teams'>,
  incident: Pick<IncidentRow, 'orgId' | 'teamId'>,
  userIds: readonly Id<'user'>[],
  step: Pick<EscalationStep, 'origin' | 'members'> = {},
): Promise<Map<Id<'user'>, Contact>> {
  const { orgId } = incident;
  const people = await stores.people.listReachable(orgId, userIds);
  const subscribers = await stores.pushSubscriptions.listSubscribers(orgId, userIds);
  const teamId = teamOfStep(incident, step);
  const teamIds = [teamId, step.members?.teamId].filter((id) => id !== null && id !== undefined);
  const members = await stores.teams.listMembers(orgId, teamIds);
  // The last of a person counts.
  const ofTeam = members.filter((member) => member.teamId === teamId);
  return contactsOf([...people.values()], subscribers, [...members, ...ofTeam]);
}

/** Returns the team of the policy that a step came from; null when its incident has none. */
export function teamOfStep(
  { teamId }: Pick<IncidentRow, 'teamId'>,
  { origin }: Pick<EscalationStep, 'origin'>,
): Id<'team'> | null {
  return origin?.teamId ?? teamId;
}
