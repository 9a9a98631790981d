import type { Id } from '#kernel/ids.ts';
import type { Database } from '#storage/postgres/database.ts';
import { storesOf } from '#modules/stores.ts';

/**
 * Deletes data that was stored for services which were deleted at the same time. Call it after storing: a service that
 * still exists now is purged later, and this data with it.
 */
export async function deleteOrphans(
  db: Database,
  serviceIds: readonly Id<'service'>[],
  deleteService: (serviceId: Id<'service'>) => Promise<void>,
): Promise<void> {
  const gone = await storesOf(db.session()).services.listGone(serviceIds);
  for (const serviceId of gone) await deleteService(serviceId);
}
