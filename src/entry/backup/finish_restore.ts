import type { Manifest } from '#entry/backup/archive.ts';
import { CLEAR_RESTORE_MARKER } from '#entry/backup/restore_marker.ts';
import { groupExceptions } from '#storage/queue/jobs.ts';
import { newId } from '#kernel/ids.ts';
import { systemClock, Temporal } from '#kernel/time.ts';
import { type DatabaseAddress, directUrlOf, openDatabase } from '#storage/postgres/database.ts';
import { recordSystemChange } from '#modules/audit/system_change.ts';
import { inUnitOfWork } from '#modules/unit_of_work.ts';
import type { NewDurableJob } from '#storage/queue/durable_queue.ts';
import type { WaitingJob } from '#storage/queue/pending_jobs.ts';

interface Restored {
  readonly manifest: Manifest;
  readonly snapshotAt: string;
  readonly jobs: readonly WaitingJob[];
  readonly spooled: readonly NewDurableJob[];
}

/**
 * Completes the restore in one last transaction: requeues the jobs saved outside the rows, records the restoration so
 * that pagers know the age of their timers, adds an audit entry to every organization, and lets processes start.
 */
export async function finishRestore(address: DatabaseAddress, restored: Restored): Promise<void> {
  const db = await openDatabase({ url: directUrlOf(address), poolMax: 2 });
  try {
    await inUnitOfWork({ db, clock: systemClock, onOutbox: () => {} }, async (unit, session) => {
      const { stores, now } = unit;
      const { manifest, snapshotAt, jobs, spooled } = restored;
      await stores.outbox.insert(jobs, now);
      const events = spooled.map((job) => ({ jobId: newId('job'), ...job }));
      if (events.length > 0) await stores.durableJobs.insert(groupExceptions.name, events, now);
      await stores.restorations.insert(manifest.id, Temporal.Instant.from(snapshotAt), now);
      for (const { id: orgId } of await stores.people.listOrganizations()) {
        const after = { backup: manifest.id, snapshotAt };
        const change = { action: 'restore_backup', via: 'system', target: manifest.id, before: null, after } as const;
        await recordSystemChange(unit, { orgId, ...change });
      }
      await session.sql.run(CLEAR_RESTORE_MARKER);
    });
  } finally {
    await db.close();
  }
}
