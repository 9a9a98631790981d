import type { EntityManager } from '@mikro-orm/postgresql';

import type { Temporal } from '#kernel/time.ts';

/** Writes the changed fields of a loaded row, and only those; an untouched row keeps its `updatedAt`. */
export async function saveChanged(
  em: EntityManager,
  row: { updatedAt: Temporal.Instant },
  now: Temporal.Instant,
): Promise<void> {
  const unitOfWork = em.getUnitOfWork();
  unitOfWork.computeChangeSets();
  if (unitOfWork.getChangeSets().length === 0) return;
  row.updatedAt = now;
  await em.flush();
}
