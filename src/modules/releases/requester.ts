import type { Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import type { AuditEntry } from '#modules/audit/store/audit_store.ts';
import type { Stores } from '#modules/stores.ts';
import type { UnitOfWorkRuntime } from '#modules/unit_of_work.ts';
import type { ReleaseRow } from '#modules/releases/store/release_store.ts';

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
