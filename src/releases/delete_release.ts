import type { Temporal } from '#kernel/time.ts';
import type { Requester } from '#releases/requester.ts';
import type { ReleaseRow } from '#storage/postgres/release_store.ts';
import type { Stores } from '#storage/postgres/stores.ts';

/** What is known of the release is gone; its events, deploys and source maps stay. */
export async function deleteRelease(
  stores: Stores,
  requester: Requester,
  { serviceId, version }: Pick<ReleaseRow, 'serviceId' | 'version'>,
  now: Temporal.Instant,
): Promise<void> {
  await stores.releases.remove(serviceId, version);
  const target = `${serviceId} ${version}`;
  const change = { action: 'delete_release', target, before: { version }, after: null, result: 'done' } as const;
  await stores.audit.append({ ...requester, ...change }, now);
}
