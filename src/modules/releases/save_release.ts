import { AppError } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import type { AuditEntry } from '#modules/audit/store/audit_store.ts';
import type { ReleaseFields, ReleaseRow } from '#modules/releases/store/release_store.ts';
import type { Stores } from '#modules/stores.ts';
import type { UnitOfWorkRuntime } from '#modules/unit_of_work.ts';

/**
 * Limit on the releases of a service, so that a build that names each of its runs a release cannot fill the database.
 */
const RELEASES_OF_SERVICE_MAX = 20_000;

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
export interface Author {
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
