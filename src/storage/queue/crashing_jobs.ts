import { DelayedError, type Job } from 'bullmq';

import type { QueueName } from '#kernel/job.ts';
import type { Log } from '#kernel/log.ts';
import { CRASHES_MAX, SET_ASIDE_MS } from '#storage/queue/crash_limits.ts';

/**
 * Jobs of the queue during which workers died. Jobs of `ingest` only wake a worker; what is done then is counted by the
 * durable jobs. Jobs of `paging` are never set aside: they only say that a row is due, which the sweep would find without
 * them, and no page is to wait for hours.
 */
const COUNTED: ReadonlySet<QueueName> = new Set(['upkeep', 'uploads']);

export function crashesWorkers(job: Job, queue: QueueName): boolean {
  return COUNTED.has(queue) && job.stalledCounter - forgivenStallsOf(job) >= CRASHES_MAX;
}

/** Delays the job for hours. Then it is run once more, and set aside again if another worker dies over it. */
export async function setAside(job: Job, token: string | undefined, log: Log): Promise<never> {
  const deaths = job.stalledCounter - forgivenStallsOf(job);
  await job.updateProgress(job.stalledCounter - (CRASHES_MAX - 1));
  await job.moveToDelayed(Date.now() + SET_ASIDE_MS, token);
  log.error({ job: job.name, jobId: job.id, deaths }, 'job set aside: workers crashed while they ran it');
  throw new DelayedError();
}

/** The job stalls because its worker stops in good order before it has ended; that is no death. */
export async function forgiveStall(job: Job): Promise<void> {
  await job.updateProgress(forgivenStallsOf(job) + 1).catch(() => {});
}

/**
 * Returns how often the job has stalled without its counting as a death. BullMQ keeps one value for us with each job:
 * its progress.
 */
function forgivenStallsOf({ progress }: Job): number {
  return typeof progress === 'number' ? progress : 0;
}
