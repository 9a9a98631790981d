import type { Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
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
