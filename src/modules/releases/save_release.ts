import { AppError } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import type { Author } from '#modules/releases/requester.ts';
import type { ReleaseFields, ReleaseRow } from '#modules/releases/store/release_store.ts';
import type { Stores } from '#modules/stores.ts';

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
