import { UnrecoverableError } from 'bullmq';

import { newId } from '#kernel/ids.ts';
import { isKnown, QUEUE_NAMES, type QueueName } from '#kernel/job.ts';
import { silentLog } from '#kernel/log.ts';
import type { Clock } from '#kernel/time.ts';
import type { JobQueue, PendingJob, QueueDepth } from '#storage/queue/job_queue.ts';
import { backoffMs, type JobHandler } from '#storage/queue/job_workers.ts';

/** A queue whose jobs run only when the test says so. */
export interface DrivenQueue extends JobQueue {
  hasDue(): boolean;
  /** Forgets every job. */
  clear(): void;
  /**
   * Runs every job that is due, in order of time, until none is; returns how many ran. A job that fails is due again after
   * the pause of its contract, by the clock; its error is thrown once the other jobs have run.
   */
  runDue(handlers: readonly JobHandler[]): Promise<number>;
}

interface WaitingJob extends PendingJob {
  readonly jobId: string;
  readonly key: string | null;
  readonly attempt: number;
  readonly dueMs: number;
}

/** Holds jobs in the test's process, and merges those of one id or key as the real queue does. */
export function drivenQueue(clock: Clock): DrivenQueue {
  const jobs = new Set<WaitingJob>();
  const nowMs = (): number => clock.now().epochMilliseconds;
  const nextDue = (): WaitingJob | undefined =>
    [...jobs].filter(({ dueMs }) => dueMs <= nowMs()).sort((a, b) => a.dueMs - b.dueMs)[0];

  const add = (pending: PendingJob): void => {
    const { id, job, payload, delayMs } = pending;
    // Durable jobs are rows: what wakes a worker for them is of no use here.
    if (job.queue === 'ingest') return;
    const name = job.key?.(payload as never);
    const key = name === undefined ? null : `${job.name}-${name}`;
    const isWaiting = [...jobs].some((other) => other.jobId === id || (key !== null && other.key === key));
    if (isWaiting) return;
    jobs.add({ ...pending, jobId: id ?? newId('job'), key, attempt: 1, dueMs: nowMs() + Math.round(delayMs) });
  };

  const run = async (waiting: WaitingJob, handlers: readonly JobHandler[]): Promise<void> => {
    const { job, payload, jobId, attempt } = waiting;
    const handler = handlers.find((candidate) => candidate.job.name === job.name);
    if (handler === undefined || !isKnown(handler.job, payload)) throw new Error(`no handler knows ${job.name}`);
    await handler.run(payload, { jobId, attempt, log: silentLog });
  };

  return {
    engine: 'postgres',
    hasDue: () => nextDue() !== undefined,
    clear: () => jobs.clear(),
    async runDue(handlers) {
      const errors: unknown[] = [];
      let ran = 0;
      for (let next = nextDue(); next !== undefined; next = nextDue()) {
        ran += 1;
        try {
          // The key of a job that runs still keeps out others.
          await run(next, handlers);
          jobs.delete(next);
        } catch (error) {
          errors.push(error);
          jobs.delete(next);
          const { job, attempt } = next;
          const mayRetry = attempt < job.attempts && !(error instanceof UnrecoverableError);
          if (mayRetry) jobs.add({ ...next, attempt: attempt + 1, dueMs: nowMs() + backoffMs(attempt, job) });
        }
      }
      if (errors.length > 0) throw errors.length === 1 ? errors[0] : new AggregateError(errors, 'jobs failed');
      return ran;
    },
    async add(added) {
      for (const pending of added) add(pending);
    },
    async ping() {},
    async depths() {
      const depths = QUEUE_NAMES.map((name): [QueueName, QueueDepth] => {
        const ownJobs = [...jobs].filter(({ job }) => job.queue === name);
        const ready = ownJobs.filter(({ dueMs }) => dueMs <= nowMs()).length;
        return [name, { ready, delayed: ownJobs.length - ready }];
      });
      return Object.fromEntries(depths) as Record<QueueName, QueueDepth>;
    },
    async close() {
      jobs.clear();
    },
  };
}
