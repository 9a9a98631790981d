import { Queue } from 'bullmq';
import type { Static, TObject } from 'typebox';

import { AppError } from '#kernel/errors.ts';
import { type JobContract, QUEUE_NAMES, type QueueName, toStored } from '#kernel/job.ts';
import type { Log } from '#kernel/log.ts';
import { toDiskFull } from '#storage/postgres/faults.ts';
import type { QueueConnection } from '#storage/queue/connection.ts';

export interface PendingJob {
  /** While the queue has a job of this id, it takes no other; absent, the job gets an id of its own. */
  readonly id?: string;
  readonly job: JobContract;
  readonly payload: unknown;
  /** Milliseconds until it is to run; 0 is at once. */
  readonly delayMs: number;
}

/** Longest delay of a job: the sweep finds the row when it is due later. */
export const ALARM_HORIZON_MS = 24 * 60 * 60 * 1000;

export interface QueueDepth {
  readonly ready: number;
  readonly delayed: number;
}

/** The producing side of the queues. */
export interface JobQueue {
  readonly engine: QueueConnection['engine'];
  /** Returns once the jobs are stored. Throws `unavailable` when the queue's store is down. */
  add(jobs: readonly PendingJob[]): Promise<void>;
  ping(): Promise<void>;
  /** Jobs by queue: those that wait or run, and those that are delayed. */
  depths(): Promise<Record<QueueName, QueueDepth>>;
  close(): Promise<void>;
}

/** A pending job of a known contract, with its payload checked by the compiler. */
export function pending<Payload extends TObject>(
  job: JobContract<Payload>,
  payload: Static<Payload>,
  delayMs = 0,
): PendingJob {
  return { job: job, payload: toStored(job, payload), delayMs };
}

export function openJobQueue(connection: QueueConnection, log: Log, prefix = 'tocsin'): JobQueue {
  const queues = new Map(QUEUE_NAMES.map((name) => [name, openQueue(name, connection, log, prefix)]));
  const queueOf = (name: QueueName): Queue => {
    const queue = queues.get(name);
    if (queue === undefined) throw new Error(`no queue ${name}`);
    return queue;
  };
  return {
    engine: connection.engine,
    async add(jobs) {
      for (const [name, group] of Map.groupBy(jobs, ({ job }) => job.queue)) {
        try {
          await addAll(queueOf(name), group.map(toBulkJob));
        } catch (error) {
          throw (
            toDiskFull(error) ??
            new AppError('unavailable', 'the queue does not answer; send again shortly', {
              cause: error,
              retryAfterSeconds: 5,
            })
          );
        }
      }
    },
    ping: () => connection.ping(),
    async depths() {
      const counts = await Promise.all(
        QUEUE_NAMES.map(async (name) => {
          const counts = await queueOf(name).getJobCounts('waiting', 'active', 'delayed', 'prioritized');
          const { delayed = 0, ...ready } = counts;
          return [name, { ready: Object.values(ready).reduce((sum, count) => sum + count, 0), delayed }] as const;
        }),
      );
      return Object.fromEntries(counts) as Record<QueueName, QueueDepth>;
    },
    async close() {
      await Promise.all([...queues.values()].map((queue) => queue.close()));
      await connection.close();
    },
  };
}

function openQueue(name: QueueName, connection: QueueConnection, log: Log, prefix: string): Queue {
  const queue = new Queue(`${prefix}-${name}`, connection.options, connection.backend as never);
  queue.on('error', (error: Error) => log.warn({ queue: name, err: error }, 'the connection of the queue failed'));
  return queue;
}

/** Adds jobs. For one job, `add` costs PostgreSQL a sixth of `addBulk`, which uses temporary tables. */
async function addAll(queue: Queue, jobs: readonly ReturnType<typeof toBulkJob>[]): Promise<void> {
  const [job, ...others] = jobs;
  if (job !== undefined && others.length === 0) await queue.add(job.name, job.data, job.opts);
  else await queue.addBulk([...jobs]);
}

/** Number of completed jobs the queue keeps, to see what ran; those of ingestion hold data and are not kept. */
const KEEP_COMPLETED: Record<QueueName, number> = { ingest: 0, paging: 100, upkeep: 100, uploads: 100 };
const KEEP_FAILED = 1_000;

function toBulkJob({ id, job, payload, delayMs }: PendingJob) {
  const key = job.key?.(payload as never);
  return {
    name: job.name,
    data: payload,
    opts: {
      attempts: job.attempts,
      backoff: { type: 'contract', delay: job.backoff.firstDelayMs },
      removeOnComplete: { count: KEEP_COMPLETED[job.queue] },
      removeOnFail: { count: KEEP_FAILED },
      // A job without a priority goes before any with one.
      ...(job.yields === true ? { priority: 1 } : {}),
      ...(delayMs > 0 ? { delay: Math.round(Math.min(delayMs, ALARM_HORIZON_MS)) } : {}),
      ...(id === undefined ? {} : { jobId: id }),
      ...(key === undefined ? {} : { deduplication: { id: `${job.name}-${key}` } }),
    },
  };
}
