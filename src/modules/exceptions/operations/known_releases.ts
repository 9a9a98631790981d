import type { ActionContext } from '#actions/action_context.ts';
import type { KnownRelease } from '#modules/exceptions/decide/fix.ts';
import type { Id } from '#kernel/ids.ts';

const RELEASES_MAX = 1_000;

/** Lists releases that events within the retention, deploys or builds named; once for each that named it. */
export async function listKnownReleases(
  serviceId: Id<'service'>,
  { caller, stores, releases, now }: ActionContext,
): Promise<KnownRelease[]> {
  const { retentionExceptions } = await stores.services.get(caller.orgId, serviceId);
  const [seen, deployed] = await Promise.all([
    releases.list(serviceId, now.subtract({ hours: 24 * retentionExceptions }), RELEASES_MAX),
    stores.releases.list(caller.orgId, [serviceId], { limit: RELEASES_MAX, offset: 0 }),
  ]);
  return [
    ...seen.map(({ release, events, users, firstSeenAt }) => ({
      release,
      since: firstSeenAt.epochMilliseconds,
      // Clients that name no user cannot be told apart.
      isConfirmed: users > 1 || (users === 0 && events > 1),
    })),
    ...deployed.map(({ version, createdAt }) => ({
      release: version,
      since: createdAt.epochMilliseconds,
      isConfirmed: true,
    })),
  ];
}

/** Lists the known releases of each service that has one of these groups. Read before groups are locked. */
export async function knownReleasesOfGroups(
  groupIds: readonly string[],
  context: ActionContext,
): Promise<Map<string, readonly KnownRelease[]>> {
  const services = await context.stores.exceptionGroups.findServices(context.caller.orgId, groupIds);
  const releasesByService = new Map<Id<'service'>, readonly KnownRelease[]>();
  for (const serviceId of new Set(services.values()))
    releasesByService.set(serviceId, await listKnownReleases(serviceId, context));
  return new Map([...services].map(([groupId, serviceId]) => [groupId, releasesByService.get(serviceId) ?? []]));
}
