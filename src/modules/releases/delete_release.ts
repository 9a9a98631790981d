import type { Author } from '#modules/releases/requester.ts';
import type { ReleaseRow } from '#modules/releases/store/release_store.ts';
import type { Stores } from '#modules/stores.ts';

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
