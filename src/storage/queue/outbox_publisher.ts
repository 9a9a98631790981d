import { findJob } from '#jobs/registry.ts';
import type { Log } from '#kernel/log.ts';
import type { Clock } from '#kernel/time.ts';
import type { Database } from '#storage/postgres/database.ts';
import { OutboxStore } from '#storage/postgres/outbox_store.ts';
import { ALARM_HORIZON_MS, type JobQueue, type PendingJob } from '#storage/queue/job_queue.ts';

const BATCH = 200;

/** Moves committed outbox entries into the queue. */
export interface OutboxPublisher {
  /** Publishes soon, in the background; a fault is left to the next sweep. */
  wake(): void;
  /** Publishes until nothing is left; resolves to how many entries left the outbox. */
  publishAll(): Promise<number>;
  /** Resolves once no background publishing is under way. */
  settled(): Promise<void>;
}

/**
 * An entry is deleted in the transaction that locked it, after the queue has taken its job: a crash in between
 * publishes it twice, which job handlers do not mind, and never loses it.
 */
export function createOutboxPublisher(db: Database, queue: JobQueue, clock: Clock, log: Log): OutboxPublisher {
  let running: Promise<void> | null = null;
  let isWanted = false;

  const publishBatch = (): Promise<number> =>
    db.transaction(async (session) => {
      const outbox = new OutboxStore(session);
      const entries = await outbox.claim(BATCH);
      const now = clock.now().epochMilliseconds;
      const jobs = entries.flatMap((entry): PendingJob[] => {
        const job = findJob(entry.jobName);
        const delayMs = Math.max(0, (entry.runAt?.epochMilliseconds ?? now) - now);
        if (job === null) log.error({ job: entry.jobName }, 'outbox entry of an unknown job dropped');
        return job === null || delayMs > ALARM_HORIZON_MS ? [] : [{ job, payload: entry.payload, delayMs }];
      });
      await queue.add(jobs);
      await outbox.remove(entries.map(({ id }) => id));
      return entries.length;
    });

  const publishAll = async (): Promise<number> => {
    let total = 0;
    for (;;) {
      const published = await publishBatch();
      total += published;
      if (published < BATCH) return total;
    }
  };

  const runWhileWanted = async (): Promise<void> => {
    while (isWanted) {
      isWanted = false;
      try {
        await publishAll();
      } catch (error) {
        log.warn({ err: error }, 'the outbox could not be published; the next sweep tries again');
      }
    }
    running = null;
  };

  return {
    wake() {
      isWanted = true;
      running ??= runWhileWanted();
    },
    publishAll,
    async settled() {
      await running;
    },
  };
}
