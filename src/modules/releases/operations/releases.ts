import { Type } from 'typebox';

import { defineOperation } from '#actions/action_context.ts';
import { EnvironmentName, IdText, nullable, ReleaseName, StrictObject, Timestamp } from '#actions/fields.ts';
import { searchInput } from '#actions/list_page.ts';
import { invalidInput } from '#kernel/errors.ts';
import { Temporal, toTimestamp, toTimestampOrNull } from '#kernel/time.ts';
import { crashFreePercent } from '#modules/exceptions/decide/sessions.ts';
import { recordDeploy as recordDeployOf, type ReleaseChange } from '#modules/releases/deploys.ts';

/** Limit on the releases read, more than a service has within its retention; `total` tells if there are more. */
const RELEASES_MAX = 1_000;
const PAGE_MAX = 50;

/** Lists releases with the counts of their events, and the data that builds reported. */
export const listReleases = defineOperation({
  name: 'list_releases',
  summary:
    'List the releases of a service, the last seen or created first: when each was seen, its events, users and groups ' +
    'within the retention, how many groups began, came back and were resolved in it, and its newest deploy.',
  permission: 'exceptions:view',
  effect: 'read',
  input: StrictObject({
    serviceId: IdText,
    search: searchInput('part of the name'),
    offset: Type.Optional(Type.Integer({ minimum: 0, maximum: RELEASES_MAX })),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: PAGE_MAX })),
  }),
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
  example: { search: '2027', offset: 0, limit: 10 },
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

const GROUPS_MAX = 200;
const Release = Type.String({ minLength: 1, maxLength: 200 });

const GroupsView = Type.Object({
  newGroups: Type.Integer({ description: 'whose first event was of this release' }),
  regressedGroups: Type.Integer({ description: 'that came back in it after they were resolved' }),
  resolvedGroups: Type.Integer({
    description: 'that are resolved: said to be fixed in it, or resolved when it was their last release',
  }),
});

export const compareReleases = defineOperation({
  name: 'compare_releases',
  summary:
    'Compare two releases of a service: how many groups began, came back and were resolved in each, and the events of each ' +
    `group in both, those with most events of the later release first, at most ${GROUPS_MAX}, with how many there are.`,
  permission: 'exceptions:view',
  effect: 'read',
  input: StrictObject({ serviceId: IdText, before: Release, after: Release }),
  result: Type.Object({
    before: GroupsView,
    after: GroupsView,
    groups: Type.Array(
      Type.Object({
        groupId: IdText,
        title: Type.String(),
        before: Type.Integer(),
        after: Type.Integer(),
        news: nullable(
          Type.Enum(['new', 'regressed', 'resolved'], { description: 'what the later release was to it' }),
        ),
      }),
    ),
    groupsTotal: Type.Integer(),
  }),
  example: { before: '2027.5.0', after: '2027.5.1' },
  async handle({ serviceId, before, after }, { caller, stores, releases, now }) {
    const service = await stores.services.get(caller.orgId, serviceId);
    const since = now.subtract({ hours: 24 * service.retentionExceptions });
    const merged = await stores.groupMerges.listOfService(service.id);
    const [{ groups, groupsTotal }, counts] = await Promise.all([
      releases.compare(service.id, since, { before, after }, { limit: GROUPS_MAX, merged }),
      stores.groupReleases.countByRelease(service.id),
    ]);
    const ids = groups.map(({ groupId }) => groupId);
    const [titles, news] = await Promise.all([
      stores.releases.titlesOfGroups(caller.orgId, ids),
      stores.groupReleases.listNews(service.id, after, ids),
    ]);
    const countsOf = (release: string) => {
      const count = counts.find((row) => row.release === release);
      const { begun = 0, regressed = 0, resolved = 0 } = count ?? {};
      return { newGroups: begun, regressedGroups: regressed, resolvedGroups: resolved };
    };
    return {
      before: countsOf(before),
      after: countsOf(after),
      groups: groups.map((group) => ({
        ...group,
        title: titles.get(group.groupId) ?? 'deleted',
        news: news.get(group.groupId) ?? null,
      })),
      groupsTotal,
    };
  },
});

/** Records a deploy that no build reports. */
export const recordDeploy = defineOperation({
  name: 'record_deploy',
  summary: 'Record that a release of a service was deployed: charts and incidents show it.',
  permission: 'exceptions:edit',
  effect: 'write',
  input: StrictObject({
    serviceId: IdText,
    release: ReleaseName,
    environment: EnvironmentName,
    at: Type.Optional(Timestamp),
  }),
  result: Type.Object({ deployId: IdText, at: Timestamp }),
  example: { release: '2027.5.1', environment: 'production', at: '2027-05-01T12:00:00Z' },
  async handle({ serviceId, release, environment, at }, { caller, stores, now, record, installation: { limits } }) {
    const service = await stores.services.get(caller.orgId, serviceId);
    const deploy = { serviceIds: [service.id], release, environment, name: null, url: null, startedAt: null };
    const finishedAt = at === undefined ? null : timeOf(at);
    const author = {
      orgId: caller.orgId,
      note: async ({ target, before, after }: ReleaseChange) => record({ target, before, after }),
    };
    const [recorded] = await recordDeployOf(stores, author, { ...deploy, finishedAt }, { now, limits });
    if (recorded === undefined) throw new Error('no deploy was recorded');
    return { deployId: recorded.id, at: toTimestamp(recorded.finishedAt) };
  },
});

function timeOf(at: string): Temporal.Instant {
  try {
    return Temporal.Instant.from(at);
  } catch {
    throw invalidInput([{ path: 'at', message: 'is not a valid time' }]);
  }
}

export const RELEASE_OPERATIONS = [listReleases, compareReleases, recordDeploy] as const;
