import { Type } from 'typebox';

import { searchInput } from '#actions/list_page.ts';
import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { STRICT, IdText, nullable, Timestamp } from '#actions/fields.ts';
import { crashFreePercent } from '#modules/exceptions/decide/sessions.ts';
import { Temporal, toTimestamp, toTimestampOrNull } from '#kernel/time.ts';

/** Limit on the releases read, more than a service has within its retention; `total` tells if there are more. */
const RELEASES_MAX = 1_000;
const PAGE_MAX = 50;

/** Lists releases with the counts of their events, and the data that builds reported. */
export const listReleases = defineAction({
  name: 'list_releases',
  consoleOnly: true,
  summary:
    'List the releases of a service, the last seen or created first: when each was seen, its events, users and groups ' +
    'within the retention, how many groups began, came back and were resolved in it, and its newest deploy.',
  permission: 'exceptions:view',
  effect: 'read',
  input: Type.Object(
    {
      serviceId: IdText,
      search: searchInput('part of the name'),
      offset: Type.Optional(Type.Integer({ minimum: 0, maximum: RELEASES_MAX })),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: PAGE_MAX })),
    },
    STRICT,
  ),
  result: Type.Object({
    releases: Type.Array(
      Type.Object({
        release: Type.String(),
        events: Type.Integer(),
        users: Type.Integer(),
        groups: Type.Integer(),
        newGroups: Type.Integer({ description: 'whose first event was of this release' }),
        regressedGroups: Type.Integer({ description: 'that came back in it after they were resolved' }),
        resolvedGroups: Type.Integer({
          description: 'that are resolved: said to be fixed in it, or resolved when it was their last release',
        }),
        firstSeenAt: nullable(Timestamp),
        lastSeenAt: nullable(Timestamp),
        createdAt: nullable(Timestamp),
        releasedAt: nullable(Timestamp),
        commitCount: Type.Integer(),
        crashFreePercent: nullable(Type.Number({ description: 'of its sessions; null without sessions' })),
        deploy: nullable(Type.Object({ environment: Type.String(), at: Timestamp })),
      }),
    ),
    total: Type.Integer(),
  }),
  example: { serviceId: EXAMPLE_IDS.serviceId, search: '2027', offset: 0, limit: 10 },
  async handle({ serviceId, search = '', offset = 0, limit = 10 }, { caller, stores, releases: reader, now }) {
    const service = await stores.services.get(caller.orgId, serviceId);
    const since = now.subtract({ hours: 24 * service.retentionExceptions });
    const [seen, deployed, groups, deploys, health] = await Promise.all([
      reader.list(service.id, since, RELEASES_MAX, await stores.groupMerges.listOfService(service.id)),
      stores.releases.list(caller.orgId, [service.id], { limit: RELEASES_MAX, offset: 0 }),
      stores.groupReleases.countByRelease(service.id),
      stores.releases.listDeploys(caller.orgId, { serviceIds: [service.id] }, RELEASES_MAX),
      stores.sentItems.listReleases(service.id, since, RELEASES_MAX),
    ]);
    const [seenBy, toldBy, groupsBy] = [
      new Map(seen.map((row) => [row.release, row])),
      new Map(deployed.map((row) => [row.version, row])),
      new Map(groups.map((row) => [row.release, row])),
    ];
    const healthBy = new Map(health.map((row) => [row.release, row]));
    // Keeps the newest deploy of each release, which comes first in the list.
    const deployBy = new Map(deploys.toReversed().map((row) => [row.release, row]));
    const newestAt = (release: string): Temporal.Instant => {
      const times = [seenBy.get(release)?.lastSeenAt, toldBy.get(release)?.createdAt].filter((at) => at !== undefined);
      return times.toSorted(Temporal.Instant.compare).at(-1) ?? now;
    };
    const names = [...new Set([...seenBy.keys(), ...toldBy.keys()])]
      .filter((release) => release.toLowerCase().includes(search.toLowerCase()))
      .map((release) => [release, newestAt(release)] as const)
      .toSorted(([a, atA], [b, atB]) => Temporal.Instant.compare(atB, atA) || (a < b ? -1 : 1));
    return {
      releases: names.slice(offset, offset + limit).map(([release]) => {
        const sessions = healthBy.get(release);
        const [totals, row, counts, deploy] = [
          seenBy.get(release),
          toldBy.get(release),
          groupsBy.get(release),
          deployBy.get(release),
        ];
        return {
          release,
          events: totals?.events ?? 0,
          users: totals?.users ?? 0,
          groups: totals?.groups ?? 0,
          newGroups: counts?.begun ?? 0,
          regressedGroups: counts?.regressed ?? 0,
          resolvedGroups: counts?.resolved ?? 0,
          firstSeenAt: toTimestampOrNull(totals?.firstSeenAt ?? null),
          lastSeenAt: toTimestampOrNull(totals?.lastSeenAt ?? null),
          createdAt: toTimestampOrNull(row?.createdAt ?? null),
          releasedAt: toTimestampOrNull(row?.releasedAt ?? null),
          commitCount: row?.commitCount ?? 0,
          crashFreePercent: sessions === undefined ? null : crashFreePercent(sessions),
          deploy: deploy === undefined ? null : { environment: deploy.environment, at: toTimestamp(deploy.finishedAt) },
        };
      }),
      total: names.length,
    };
  },
});
