import { Queue } from 'bullmq';

import { findJob } from '#storage/queue/jobs.ts';
import type { QueueName } from '#kernel/job.ts';
import { fromEpochMilliseconds, type Temporal } from '#kernel/time.ts';
import type { QueueConnection } from '#storage/queue/connection.ts';

/** A job that has not run yet, as an outbox entry would have it. */
export interface WaitingJob {
  readonly jobName: string;
  readonly payload: unknown;
  /** Null for one that may run now. */
  readonly runAt: Temporal.Instant | null;
}

/** The jobs of the other queues only wake workers for rows of PostgreSQL, which a sweep finds without them. */
const QUEUES: readonly QueueName[] = ['upkeep', 'uploads'];

export async function listWaitingJobs(connection: QueueConnection, prefix = 'tocsin'): Promise<WaitingJob[]> {
  const waiting: WaitingJob[] = [];
  for (const name of QUEUES) waiting.push(...(await listWaitingIn(connection, `${prefix}-${name}`)));
  return waiting;
}

async function listWaitingIn({ options, backend }: QueueConnection, name: string): Promise<WaitingJob[]> {
  const queue = new Queue(name, options, backend as never);
  queue.on('error', () => {});
  try {
    const jobs = await queue.getJobs(['waiting', 'active', 'delayed', 'prioritized']);
    return jobs.flatMap((job): WaitingJob[] => {
      // A job that ended while the list was read is missing.
      if (job == null || findJob(job.name) === null) return [];
      const runAt = job.delay > 0 ? fromEpochMilliseconds(job.timestamp + job.delay) : null;
      return [{ jobName: job.name, payload: job.data, runAt }];
    });
  } finally {
    await queue.close();
  }
}
