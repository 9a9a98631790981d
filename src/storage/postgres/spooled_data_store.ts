import type { Temporal } from '#kernel/time.ts';
import { PostgresStore } from '#storage/postgres/store.ts';

/** Stores how long accepted data has been waiting on the disks of API processes, so that others know of it too. */
export class SpooledDataStore extends PostgresStore {
  /** Null when nothing waits in that folder. Reports of folders from before `dropBefore` are removed. */
  async report(
    folder: string,
    oldestAt: Temporal.Instant | null,
    times: { readonly now: Temporal.Instant; readonly dropBefore: Temporal.Instant },
  ): Promise<void> {
    const { db } = this;
    await db
      .deleteFrom('spooled_data')
      .where(({ eb, or }) =>
        or([eb('told_at', '<', times.dropBefore), ...(oldestAt === null ? [eb('folder', '=', folder)] : [])]),
      )
      .execute();
    if (oldestAt === null) return;
    await db
      .insertInto('spooled_data')
      .values({ folder, oldest_at: oldestAt, told_at: times.now })
      .onConflict((conflict) =>
        conflict
          .column('folder')
          .doUpdateSet((eb) => ({ oldest_at: eb.ref('excluded.oldest_at'), told_at: eb.ref('excluded.told_at') })),
      )
      .execute();
  }
}
