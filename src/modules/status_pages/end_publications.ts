import { recordSystemChanges } from '#modules/audit/system_change.ts';
import { inUnitOfWork, type UnitOfWorkRuntime } from '#modules/stores.ts';
import { announceStatusUpdate } from '#storage/queue/jobs.ts';

const BATCH = 200;

/** Text of the update that ends a publication whose incident was resolved. */
const RESOLVED = 'This incident is resolved.';

/**
 * Ends publications whose incident is resolved or gone, so that they keep their end after its retention. Returns how
 * many.
 */
export async function endPublications(runtime: UnitOfWorkRuntime): Promise<number> {
  return await inUnitOfWork(runtime, async (unit) => {
    const { stores, now, enqueue } = unit;
    const over = await stores.publications.lockOver(BATCH);
    for (const { id, orgId, incidentResolvedAt } of over) {
      await stores.publications.save(id, { endedAt: incidentResolvedAt ?? now }, now);
      const update = { orgId, publicationId: id, stage: 'resolved', body: RESOLVED } as const;
      enqueue(announceStatusUpdate, { updateId: await stores.publications.addUpdate(update, now) });
    }
    await recordSystemChanges(
      unit,
      over.map(({ id, orgId, incidentId, title }) => ({
        orgId,
        action: 'add_status_update',
        via: 'system' as const,
        target: incidentId ?? id,
        before: { publicationId: id, title },
        after: { publicationId: id, title, stage: 'resolved', text: RESOLVED },
      })),
    );
    return over.length;
  });
}
