import type { Id } from '#kernel/ids.ts';
import type { Database } from '#storage/postgres/database.ts';
import { storesOf } from '#storage/postgres/stores.ts';

/**
 * Deletes again what was just stored for services that were deleted while it was under way. Called after the store has
 * taken it: a service that is there now is purged later than this, and with it what was stored.
 */
export async function takeBack(
  db: Database,
  serviceIds: readonly Id<'service'>[],
  deleteService: (serviceId: Id<'service'>) => Promise<void>,
): Promise<void> {
  const gone = await storesOf(db.session()).services.listGone(serviceIds);
  for (const serviceId of gone) await deleteService(serviceId);
}
