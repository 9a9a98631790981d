import { type Commit, slugOf } from '#modules/releases/decide/release.ts';
import {
  type JsonObject,
  listOfTexts,
  objectOf,
  optionalLink,
  optionalText,
  optionalTime,
  requiredText,
} from '#entry/http/ingest/sentry_api/bodies.ts';
import type { AddEndpoint, Call, SentryApi } from '#entry/http/ingest/sentry_api/scope.ts';
import { AppError, invalidInput } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import { type Temporal, toTimestamp } from '#kernel/time.ts';
import { findServices } from '#modules/releases/find_services.ts';
import { authorOf, deleteRelease, recordDeploy, saveRelease } from '#modules/releases/deploys.ts';
import type { DeployRow, ReleaseFields, ReleaseRow } from '#modules/releases/store/release_store.ts';
import { inUnitOfWork } from '#modules/stores.ts';

const VERSION_LENGTH_MAX = 200;
const PROJECTS_MAX = 50;
const COMMITS_SENT_MAX = 5_000;
const COMMITS_KEPT_MAX = 100;
const LISTED_MAX = 100;

/** Mounts releases, their commits and their deploys, of the organization or of one of its projects. */
export function mountReleases(add: AddEndpoint, { runtime }: SentryApi): void {
  /** Creates or changes the release for the services of the call. */
  const save = async (call: Call, version: string, services: readonly Id<'service'>[]): Promise<ReleaseRow[]> => {
    const body = objectOf(call.body);
    return await inUnitOfWork(runtime, async ({ stores, now }) => {
      const rows: ReleaseRow[] = [];
      for (const serviceId of services) {
        const fields = fieldsOf(body, now);
        rows.push(
          await saveRelease(stores, authorOf(stores, call.requester, now), { serviceId, version }, fields, now),
        );
      }
      return rows;
    });
  };
  const answer = async (call: Call, rows: readonly ReleaseRow[]): Promise<unknown> => {
    const services = await call.stores.services.list(call.requester.orgId, 10_000);
    return releaseAnswer(rows, services);
  };
  const releasesOf = async (call: Call): Promise<ReleaseRow[]> => {
    const version = versionOf(call);
    const rows = await call.stores.releases.listOfVersion(call.requester.orgId, version);
    const services = await servicesOf(call);
    const shown = services.length === 0 ? rows : rows.filter(({ serviceId }) => services.includes(serviceId));
    if (shown.length > 0) return shown;
    throw new AppError('not_found', `no release ${version} is known; create it first: releases new ${version}`);
  };

  for (const base of ['/organizations/:org', '/projects/:org/:project']) {
    const releases = `${base}/releases`;
    const releasePath = `${releases}/:version`;
    add({
      method: 'POST',
      path: releases,
      permission: 'exceptions:edit',
      change: 'create_release',
      status: 201,
      handle: async (call) => {
        const version = checkedVersion(requiredText(objectOf(call.body), 'version', VERSION_LENGTH_MAX));
        const services = await servicesOf(call);
        if (services.length === 0) {
          throw invalidInput([{ path: 'projects', message: 'name the projects of the release (--project)' }]);
        }
        return await answer(call, await save(call, version, services));
      },
    });
    add({
      method: 'GET',
      path: releases,
      permission: 'exceptions:view',
      handle: async (call) => {
        const { orgId } = call.requester;
        const services = await servicesOf(call);
        const all =
          services.length > 0 ? services : (await call.stores.services.list(orgId, 10_000)).map(({ id }) => id);
        const rows = await call.stores.releases.list(orgId, all, { limit: LISTED_MAX, offset: 0 });
        const byVersion = Map.groupBy(rows, ({ version }) => version);
        return await Promise.all([...byVersion.values()].map((ofVersion) => answer(call, ofVersion)));
      },
    });
    add({
      method: 'GET',
      path: releasePath,
      permission: 'exceptions:view',
      handle: async (call) => await answer(call, await releasesOf(call)),
    });
    add({
      method: 'PUT',
      path: releasePath,
      permission: 'exceptions:edit',
      change: 'update_release',
      handle: async (call) => {
        const version = versionOf(call);
        const named = await servicesOf(call);
        const services = named.length > 0 ? named : (await releasesOf(call)).map(({ serviceId }) => serviceId);
        return await answer(call, await save(call, version, services));
      },
    });
    add({
      method: 'DELETE',
      path: releasePath,
      permission: 'exceptions:edit',
      change: 'delete_release',
      handle: async (call) => {
        const rows = await releasesOf(call);
        await inUnitOfWork(runtime, async ({ stores, now }) => {
          for (const row of rows) await deleteRelease(stores, authorOf(stores, call.requester, now), row);
        });
      },
    });
    add({
      method: 'GET',
      path: `${releasePath}/previous-with-commits`,
      permission: 'exceptions:view',
      handle: async () => ({}),
    });
    add({
      method: 'GET',
      path: `${releasePath}/deploys`,
      permission: 'exceptions:view',
      handle: async (call) => {
        const release = versionOf(call);
        const deploys = await call.stores.releases.listDeploys(call.requester.orgId, { release }, LISTED_MAX);
        return deploys.map(deployAnswer);
      },
    });
    add({
      method: 'POST',
      path: `${releasePath}/deploys`,
      permission: 'exceptions:edit',
      change: 'record_deploy',
      status: 201,
      handle: async (call) => {
        const body = objectOf(call.body);
        const release = versionOf(call);
        const named = await servicesOf(call);
        const serviceIds = named.length > 0 ? named : (await releasesOf(call)).map(({ serviceId }) => serviceId);
        const [deploy] = await inUnitOfWork(runtime, async ({ stores, now }) =>
          recordDeploy(
            stores,
            authorOf(stores, call.requester, now),
            {
              serviceIds,
              release,
              environment: requiredText(body, 'environment', 64),
              name: optionalText(body, 'name', VERSION_LENGTH_MAX),
              url: optionalLink(body, 'url'),
              startedAt: optionalTime(body, 'dateStarted'),
              finishedAt: optionalTime(body, 'dateFinished'),
            },
            { now, limits: runtime.installation.limits },
          ),
        );
        return deploy === undefined ? {} : deployAnswer(deploy);
      },
    });
  }
}

/** Returns the services that the path or the body names; none if neither does. */
async function servicesOf({ params, body, query, stores, requester }: Call): Promise<Id<'service'>[]> {
  const { project } = params;
  const named = typeof body === 'object' && body !== null && 'projects' in body ? body.projects : query['project'];
  const projects = project === undefined ? listOfTexts(named, 'projects', PROJECTS_MAX) : [project];
  return (await findServices(stores, requester.orgId, projects)).map(({ id }) => id);
}

function versionOf({ params }: Call): string {
  return checkedVersion(params['version'] ?? '');
}

function checkedVersion(version: string): string {
  const isBad = version.trim() !== version || version === '' || version === '.' || version === '..';
  if (isBad || version.length > VERSION_LENGTH_MAX || /[\n\r\t\0]/.test(version)) {
    throw invalidInput([
      { path: 'version', message: `is a text on one line of at most ${VERSION_LENGTH_MAX} characters` },
    ]);
  }
  return version.toWellFormed();
}

/** Returns the fields that the body sets; the others are kept. */
function fieldsOf(body: JsonObject, now: Temporal.Instant): ReleaseFields {
  const commits = commitsOf(body);
  const [archived] = [optionalText(body, 'status', 20)];
  return {
    ...('url' in body ? { url: optionalLink(body, 'url') } : {}),
    ...('ref' in body ? { ref: optionalText(body, 'ref', VERSION_LENGTH_MAX) } : {}),
    ...('dateReleased' in body ? { releasedAt: optionalTime(body, 'dateReleased') } : {}),
    ...(archived === 'archived' ? { archivedAt: now } : {}),
    ...(archived === 'open' ? { archivedAt: null } : {}),
    ...(commits === null ? {} : { commits: commits.slice(0, COMMITS_KEPT_MAX), commitCount: commits.length }),
  };
}

/** Returns the commits in the body: `commits` are whole; `refs` name the newest commit of each repository. */
function commitsOf(body: JsonObject): Commit[] | null {
  const { commits, refs } = body;
  if (Array.isArray(commits) && commits.length > 0) {
    if (commits.length > COMMITS_SENT_MAX) {
      throw invalidInput([{ path: 'commits', message: `send at most ${COMMITS_SENT_MAX} commits` }]);
    }
    return commits.map((commit: unknown) => {
      const sent = objectOf(commit);
      const at = optionalTime(sent, 'timestamp');
      return {
        id: requiredText(sent, 'id', 64),
        author: optionalText(sent, 'author_name', 128),
        message: typeof sent['message'] === 'string' ? sent['message'].slice(0, 300).toWellFormed() : null,
        at: at === null ? null : toTimestamp(at),
      };
    });
  }
  if (!Array.isArray(refs) || refs.length === 0 || refs.length > PROJECTS_MAX) return null;
  return refs.map((ref: unknown) => {
    const sent = objectOf(ref);
    return {
      id: requiredText(sent, 'commit', 64),
      author: null,
      message: optionalText(sent, 'repository', 200),
      at: null,
    };
  });
}

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
function releaseAnswer(rows: readonly ReleaseRow[], services: readonly NamedService[]): object {
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

function deployAnswer({ id, environment, name, url, startedAt, finishedAt }: DeployRow): object {
  const dateStarted = startedAt && toTimestamp(startedAt);
  return { id, environment, name, url, dateStarted, dateFinished: toTimestamp(finishedAt) };
}
