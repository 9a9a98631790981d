import { type Contact, contactsOf } from '#modules/contacts/decide/contact.ts';
import type { Id } from '#kernel/ids.ts';
import type { IncidentRow } from '#modules/incidents/store/incident_store.ts';
import type { Stores } from '#modules/stores.ts';

/** Returns how each person can be reached: by their settings in the incident's team, or by their own. */
export async function readContacts(
  stores: Pick<Stores, 'people' | 'pushSubscriptions' | 'teams'>,
  { orgId, teamId }: Pick<IncidentRow, 'orgId' | 'teamId'>,
  userIds: readonly Id<'user'>[],
): Promise<Map<Id<'user'>, Contact>> {
  const people = await stores.people.listReachable(orgId, userIds);
  const subscribers = await stores.pushSubscriptions.listSubscribers(userIds);
  const members = teamId === null ? [] : await stores.teams.listMembers(orgId, [teamId]);
  return contactsOf([...people.values()], subscribers, members);
}
