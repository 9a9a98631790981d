import { Type } from 'typebox';

import type { ActionContext } from '#actions/action_context.ts';
import { AppError } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import type { Limits } from '#kernel/limit_settings.ts';
import { Temporal } from '#kernel/time.ts';
import type { AuditEntry } from '#modules/audit/store/audit_store.ts';
import type { NewRelease } from '#modules/exceptions/store/exception_reader.ts';
import { type Deploy, deploysOf } from '#modules/releases/decide/deploys.ts';
import type { DeployRow, ReleaseFields, ReleaseRow } from '#modules/releases/store/release_store.ts';
import type { Stores, UnitOfWorkRuntime } from '#modules/stores.ts';

/**
 * Limit on the releases of a service, so that a build that names each of its runs a release cannot fill the database.
 */
const RELEASES_OF_SERVICE_MAX = 20_000;

/** A release that went live. */
interface NewDeploy {
  readonly serviceIds: readonly Id<'service'>[];
  readonly release: string;
  readonly environment: string;
  readonly name: string | null;
  readonly url: string | null;
  readonly startedAt: Temporal.Instant | null;
  /** Time at which it finished; null means now. */
  readonly finishedAt: Temporal.Instant | null;
}

const AHEAD_MAX = { minutes: 10 };

/**
 * Records a deploy for each service and makes the release known. The same deploy with the same time is recorded once.
 */
export async function recordDeploy(
  stores: Stores,
  author: Author,
  { serviceIds, ...deploy }: NewDeploy,
  {
    now,
    limits: { deploysPerDay },
  }: { readonly now: Temporal.Instant; readonly limits: Pick<Limits, 'deploysPerDay'> },
): Promise<DeployRow[]> {
  const { orgId } = author;
  const finishedAt = earlier(deploy.finishedAt ?? now, now.add(AHEAD_MAX));
  const recorded: DeployRow[] = [];
  for (const serviceId of serviceIds) {
    // It locks the release, so that one of two requests at the same time sees what the other has recorded.
    await saveRelease(stores, author, { serviceId, version: deploy.release }, {}, now);
    const wanted = { orgId, serviceId, ...deploy, finishedAt };
    const earlier = deploy.finishedAt === null ? null : await stores.releases.findDeploy(wanted);
    if (earlier !== null) {
      recorded.push(earlier);
      continue;
    }
    if ((await stores.releases.countDeploys(serviceId, now.subtract({ hours: 24 }))) >= deploysPerDay) {
      throw new AppError('rate_limited', `a service takes ${deploysPerDay} deploys a day`, {
        limit: 'deploysPerDay',
        retryAfterSeconds: 3_600,
      });
    }
    const row = await stores.releases.addDeploy({ ...wanted, createdAt: now });
    const { release, environment, name, url } = row;
    const after = { serviceId, release, environment, name, url, finishedAt: finishedAt.toString() };
    const change = { action: 'record_deploy', target: row.id, before: null, after };
    await author.note(change);
    recorded.push(row);
  }
  return recorded;
}

function earlier(a: Temporal.Instant, b: Temporal.Instant): Temporal.Instant {
  return Temporal.Instant.compare(a, b) < 0 ? a : b;
}

interface Period {
  readonly from: Temporal.Instant;
  readonly to: Temporal.Instant;
}

/**
 * Reads the deploys of a service in a period, the newest first. Throws `unavailable` when the store of exceptions,
 * which knows of releases that nobody has reported, cannot be asked. `firstSeen` are the new releases of the period, if
 * they are known.
 */
export async function readDeploys(
  serviceId: Id<'service'>,
  period: Period,
  limit: number,
  { caller, stores, exceptions }: Pick<ActionContext, 'caller' | 'stores' | 'exceptions'>,
  firstSeen?: readonly NewRelease[],
): Promise<Deploy[]> {
  const [recorded, seen] = await Promise.all([
    stores.releases.listDeploys(caller.orgId, { serviceIds: [serviceId], ...period }, limit),
    firstSeen ?? listNewReleases([serviceId], period, limit, { stores, exceptions }),
  ]);
  const releases = seen.map(({ release }) => release);
  const deployed = await stores.releases.listDeployed(serviceId, releases, period.to);
  return deploysOf(
    recorded.map(({ release, environment, finishedAt }) => ({ release, environment, at: finishedAt })),
    seen,
    deployed,
  ).slice(0, limit);
}

/**
 * Lists the releases of some services whose first exception was in a period, the newest first. The store of events is
 * asked only about services that have exceptions.
 */
export async function listNewReleases(
  serviceIds: readonly Id<'service'>[],
  period: Period,
  limit: number,
  { stores, exceptions }: Pick<ActionContext, 'stores' | 'exceptions'>,
): Promise<NewRelease[]> {
  const asked = await stores.exceptionGroups.listServicesWithGroups(serviceIds);
  return asked.length === 0 ? [] : await exceptions.listNewReleases(asked, period, limit);
}

/** Deploys of a day, which charts by day mark. */
export const DeployDayView = Type.Object({
  date: Type.String({ format: 'date' }),
  count: Type.Integer(),
  release: Type.String({ description: 'of the last of them' }),
});

/** Makes the release known for a service, or changes what is known of it. What stays equal is no change. */
export async function saveRelease(
  stores: Stores,
  author: Author,
  { serviceId, version }: { readonly serviceId: Id<'service'>; readonly version: string },
  fields: ReleaseFields,
  now: Temporal.Instant,
): Promise<ReleaseRow> {
  const { orgId } = author;
  const target = `${serviceId} ${version}`;
  const before = await stores.releases.lock(serviceId, version);
  if (before === null) {
    if ((await stores.releases.count(serviceId)) >= RELEASES_OF_SERVICE_MAX) {
      throw new AppError('conflict', `the service has ${RELEASES_OF_SERVICE_MAX} releases; delete some that are over`);
    }
    if (await stores.releases.insert({ orgId, serviceId, version }, fields, now)) {
      const change = { action: 'create_release', target, before: null, after: shown(fields) };
      await author.note(change);
    }
  } else if (hasNews(before, fields)) {
    await stores.releases.update(serviceId, version, fields, now);
    const change = { action: 'update_release', target, before: shown(before), after: shown(fields) };
    await author.note(change);
  }
  const saved = await stores.releases.lock(serviceId, version);
  if (saved === null) throw new Error(`release ${version} vanished while it was saved`);
  return saved;
}

function hasNews(before: ReleaseRow, fields: ReleaseFields): boolean {
  return JSON.stringify({ ...before, ...fields }) !== JSON.stringify(before);
}

/** Returns the fields for the audit log: the number of commits, not each of them. */
function shown({ url, ref, commitCount, releasedAt, archivedAt }: ReleaseFields): object {
  const times = { releasedAt: releasedAt?.toString(), archivedAt: archivedAt?.toString() };
  return JSON.parse(JSON.stringify({ url, ref, commitCount, ...times })) as object;
}

/** Deletes what is known of the release; its events, deploys and source maps stay. */
export async function deleteRelease(
  stores: Stores,
  author: Author,
  { serviceId, version }: Pick<ReleaseRow, 'serviceId' | 'version'>,
): Promise<void> {
  await stores.releases.remove(serviceId, version);
  const target = `${serviceId} ${version}`;
  const change = { action: 'delete_release', target, before: { version }, after: null };
  await author.note(change);
}

export type ReleaseRuntime = UnitOfWorkRuntime;

/** Requester of a change, for the audit log. */
export type Requester = Pick<AuditEntry, 'orgId' | 'actor' | 'via' | 'origin'>;

/** Change of a release or its deploys, for the audit log. */
export type ReleaseChange = Pick<AuditEntry, 'action' | 'before' | 'after'> & { readonly target: string };

/** Organization in which something is changed, and the way to note the change in the audit log. */
interface Author {
  readonly orgId: Id<'org'>;
  note(change: ReleaseChange): Promise<void>;
}

/** Returns the author for a request that is no action: its changes are noted in the same transaction. */
export function authorOf(stores: Pick<Stores, 'audit'>, requester: Requester, now: Temporal.Instant): Author {
  return {
    orgId: requester.orgId,
    note: async (change) => await stores.audit.append({ ...requester, ...change, result: 'done' }, now),
  };
}
