import type { Id } from '#kernel/ids.ts';
import { recordOf } from '#kernel/records.ts';
import type { Temporal } from '#kernel/time.ts';
import { CHANNEL_PREFERENCES } from '#modules/contacts/decide/channel.ts';
import type { InvitationRow } from '#modules/organizations/store.ts';
import type { Stores } from '#modules/stores.ts';

/**
 * Ends a membership: from the next request on the person is no longer a member, no longer on call, and is not paged.
 * Places in teams, keys, connections, calendar addresses and links to answer with end with it; schedules and policies
 * pass over them, and exception groups are nobody's. Returns the keys that ended. The caller holds the lock on memberships.
 */
export async function endMembership(
  { apiKeys, groupAssignments, people }: Pick<Stores, 'apiKeys' | 'groupAssignments' | 'people'>,
  orgId: Id<'org'>,
  userId: Id<'user'>,
  now: Temporal.Instant,
): Promise<Id<'apikey'>[]> {
  const revokedKeys = await apiKeys.revokeAllOf(orgId, userId, now);
  await groupAssignments.releaseMember(orgId, userId);
  await people.removeMembership(orgId, userId);
  return revokedKeys;
}

/** Puts a person who accepts an invitation into the teams that it names and that are still there. */
export async function joinInvitedTeams(
  { teams }: Pick<Stores, 'teams'>,
  { orgId, teamIds }: Pick<InvitationRow, 'orgId' | 'teamIds'>,
  userId: Id<'user'>,
  now: Temporal.Instant,
): Promise<void> {
  const members = new Set((await teams.listPlacesOf(orgId, userId)).map(({ teamId }) => teamId));
  for (const { id } of await teams.findAll(orgId, teamIds)) {
    if (members.has(id)) continue;
    const team = await teams.lock(orgId, id);
    await teams.insertMember(team, userId, { phone: null, ...recordOf(CHANNEL_PREFERENCES, () => true) }, now);
  }
}
