import { findJob } from '#storage/queue/jobs.ts';
import { isKnown } from '#kernel/job.ts';
import type { Log } from '#kernel/log.ts';
import type { Clock } from '#kernel/time.ts';
import type { Database } from '#storage/postgres/database.ts';
import { type OutboxEntry, OutboxStore } from '#storage/postgres/outbox_store.ts';
import { ALARM_HORIZON_MS, type JobQueue, type PendingJob } from '#storage/queue/job_queue.ts';

const BATCH = 200;
/** An entry that the queue refuses is retried for so long; the sweeps of the workers find the rows that it was about. */
const REFUSED_FOR_MS = 60 * 60 * 1000;
/** An upgrade is over by then. */
const LEFT_FOR_MS = 7 * 24 * 60 * 60 * 1000;

export interface OutboxPublisher {
  /** Publishes soon, in the background; after a failure the next sweep tries again. */
  wake(): void;
  /** Publishes all entries but those that the queue refuses or a newer release has written; resolves to how many left the outbox. */
  publishAll(): Promise<number>;
  /** Resolves once nothing is being published in the background. */
  settled(): Promise<void>;
}

type Destination = Pick<JobQueue, 'add' | 'ping'>;

interface Ready {
  readonly entry: OutboxEntry;
  readonly job: PendingJob;
}

interface Refusal {
  readonly entry: OutboxEntry;
  readonly error: unknown;
}

/**
 * An entry is deleted in the transaction that locked it, after the queue has taken its job: a crash in between
 * publishes it twice, which does no harm to job handlers, and never loses it. What is due first leaves first, and an entry
 * that the queue refuses does not delay others.
 */
export function createOutboxPublisher(db: Database, queue: Destination, clock: Clock, log: Log): OutboxPublisher {
  let running: Promise<void> | null = null;
  let isWanted = false;

  /** Returns how many entries it has read, and adds to `refused` those that stay. */
  const publishBatch = (refused: Set<number>): Promise<number> =>
    db.transaction(async (session) => {
      const outbox = new OutboxStore(session);
      const entries = await outbox.claim(BATCH, [...refused]);
      const now = clock.now().epochMilliseconds;
      const [known, unknown] = [entries.filter(isKnownEntry), entries.filter((entry) => !isKnownEntry(entry))];
      const refusals = await addInParts(queue, readyAmong(known, now));
      const staying = new Set([
        ...refusals.filter((refusal) => mayStay(refusal, now, log)).map(({ entry }) => entry.id),
        ...unknown.filter((entry) => isLeft(entry, now, log)).map(({ id }) => id),
      ]);
      await outbox.remove(entries.map(({ id }) => id).filter((id) => !staying.has(id)));
      for (const id of staying) refused.add(id);
      return entries.length;
    });

  const publishAll = async (): Promise<number> => {
    if (!(await new OutboxStore(db.session()).hasAny())) return 0;
    const refused = new Set<number>();
    let seen = 0;
    for (;;) {
      const batch = await publishBatch(refused);
      seen += batch;
      if (batch < BATCH) return seen - refused.size;
    }
  };

  const runWhileWanted = async (): Promise<void> => {
    while (isWanted) {
      isWanted = false;
      try {
        await publishAll();
      } catch (error) {
        log.warn({ err: error }, 'failed to publish the outbox; the next sweep tries again');
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

/** The jobs to add now. What is due beyond the horizon is found by a sweep when it is due. */
function readyAmong(entries: readonly OutboxEntry[], now: number): Ready[] {
  return entries.flatMap((entry): Ready[] => {
    const job = findJob(entry.jobName);
    const delayMs = Math.max(0, (entry.runAt?.epochMilliseconds ?? now) - now);
    return job === null || delayMs > ALARM_HORIZON_MS ? [] : [{ entry, job: { job, payload: entry.payload, delayMs } }];
  });
}

function isKnownEntry({ jobName, payload }: OutboxEntry): boolean {
  return isKnown(findJob(jobName) ?? undefined, payload);
}

/** A process of a newer release has written it, and publishes it. */
function isLeft({ id, jobName, createdAt }: OutboxEntry, now: number, log: Log): boolean {
  const isOver = now - createdAt.epochMilliseconds > LEFT_FOR_MS;
  const fields = { job: jobName, outboxId: id };
  if (isOver) log.error(fields, 'dropped an outbox entry of a job that no process knew for a week');
  else log.warn(fields, 'an outbox entry of another release is left to a process that knows its job');
  return !isOver;
}

/** Adds in smaller and smaller parts, to find the jobs that the queue refuses. Throws when the queue does not answer. */
async function addInParts(queue: Destination, ready: readonly Ready[]): Promise<Refusal[]> {
  if (ready.length === 0) return [];
  try {
    await queue.add(ready.map(({ job }) => job));
    return [];
  } catch (error) {
    await queue.ping();
    const [first] = ready;
    if (first !== undefined && ready.length === 1) return [{ entry: first.entry, error }];
    const middle = Math.ceil(ready.length / 2);
    return [...(await addInParts(queue, ready.slice(0, middle))), ...(await addInParts(queue, ready.slice(middle)))];
  }
}

function mayStay({ entry, error }: Refusal, now: number, log: Log): boolean {
  const isOver = now - entry.createdAt.epochMilliseconds > REFUSED_FOR_MS;
  const fields = { job: entry.jobName, outboxId: entry.id, err: error };
  if (isOver) log.error(fields, 'dropped an outbox entry that the queue has refused for an hour');
  else log.warn(fields, 'the queue refuses an outbox entry');
  return !isOver;
}
