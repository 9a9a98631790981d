import { nextTurn } from '#kernel/cooperative_task.ts';
import { inUnitOfWork, storesOf, type UnitOfWorkRuntime } from '#modules/stores.ts';
import { UNREADABLE_KIND_NAMES } from '#modules/unreadable_rows/decide/unreadable_kinds.ts';
import { sendUnreadableNotice } from '#storage/queue/jobs.ts';

const BATCH = 500;
/** Owners are told once of each row, and of all that are noted within so many hours together. */
const HOURS_BETWEEN = 1;

/** Notes stored rows that cannot be read, forgets those that can again, and tells owners of new ones. */
export async function notifyOfUnreadableRows(runtime: UnitOfWorkRuntime): Promise<void> {
  const { db, clock } = runtime;
  const now = clock.now();
  const { unreadableRows } = storesOf(db.session());
  for (const kind of UNREADABLE_KIND_NAMES) {
    let after: string | null = '';
    while (after !== null) {
      const rows = await unreadableRows.scan(kind, after, BATCH);
      await unreadableRows.note(
        kind,
        rows.filter(({ isReadable }) => !isReadable),
        now,
      );
      after = rows.length < BATCH ? null : (rows.at(-1)?.rowId ?? null);
      await nextTurn();
    }
    await unreadableRows.forget(kind, now);
  }
  await inUnitOfWork(runtime, async ({ stores, enqueue }) => {
    const orgIds = await stores.unreadableRows.listToTell(now.subtract({ hours: HOURS_BETWEEN }));
    if (orgIds.length === 0) return;
    for (const orgId of orgIds) {
      for (const { userId, role } of await stores.people.listPlaces(orgId)) {
        if (role === 'owner') enqueue(sendUnreadableNotice, { orgId, userId });
      }
    }
    await stores.unreadableRows.setTold(orgIds, now);
  });
}
