import { slugOf } from '#modules/releases/decide/release.ts';
import { type Temporal, toTimestamp } from '#kernel/time.ts';
import type { DeployRow, ReleaseRow } from '#modules/releases/store/release_store.ts';

interface NamedService {
  readonly id: string;
  readonly name: string;
  readonly projectId: number;
}

interface NamedOrganization {
  readonly id: string;
  readonly name: string;
  readonly createdAt: Temporal.Instant;
  readonly secondFactorRequired: boolean;
}

/** Returns an organization as clients of the protocol expect it: `sentry-cli` requires every one of these fields. */
export function organizationAnswer({ id, name, createdAt, secondFactorRequired }: NamedOrganization): object {
  return {
    id,
    slug: slugOf(name) || id,
    name,
    dateCreated: toTimestamp(createdAt),
    status: { id: 'active' },
    isEarlyAdopter: false,
    require2FA: secondFactorRequired,
  };
}

/** Returns a service as clients of the protocol expect projects. */
export function projectAnswer({ name, projectId }: NamedService): object {
  return { id: String(projectId), slug: slugOf(name) || String(projectId), name, platform: null, status: 'active' };
}

/** Returns the answer for one release. The same release of several services is one to clients of the protocol. */
export function releaseAnswer(rows: readonly ReleaseRow[], services: readonly NamedService[]): object {
  const [first] = rows;
  if (first === undefined) return {};
  const { version, url, ref, commitCount, commits, createdAt, releasedAt, archivedAt } = first;
  const [last] = commits;
  const serviceIds = new Set<string>(rows.map(({ serviceId }) => serviceId));
  return {
    version,
    shortVersion: version,
    url,
    ref,
    status: archivedAt === null ? 'open' : 'archived',
    dateCreated: toTimestamp(createdAt),
    dateReleased: releasedAt && toTimestamp(releasedAt),
    commitCount,
    lastCommit: last === undefined ? null : { id: last.id },
    newGroups: 0,
    authors: [],
    projects: services.filter(({ id }) => serviceIds.has(id)).map(projectAnswer),
  };
}

export function deployAnswer({ id, environment, name, url, startedAt, finishedAt }: DeployRow): object {
  const dateStarted = startedAt && toTimestamp(startedAt);
  return { id, environment, name, url, dateStarted, dateFinished: toTimestamp(finishedAt) };
}
