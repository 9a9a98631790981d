import { DelayedError, type Job, UnrecoverableError, Worker } from 'bullmq';
import type { Static, TObject } from 'typebox';
import { Check } from 'typebox/value';

import { isKnown, type JobContract, type QueueName } from '#kernel/job.ts';
import type { Log } from '#kernel/log.ts';
import { withTimeout } from '#kernel/promises.ts';
import type { QueueConnection } from '#storage/queue/connection.ts';

/**
 * Queues whose jobs are quarantined when workers die over them. Jobs of `ingest` only wake a worker: durable jobs count
 * their own crashes. Jobs of `paging` are never quarantined: a page must not wait for hours, and the sweep would find the
 * row anyway.
 */
const QUARANTINING_QUEUES: ReadonlySet<QueueName> = new Set(['upkeep', 'uploads']);

function crashesWorkers(job: Job, queue: QueueName): boolean {
  return QUARANTINING_QUEUES.has(queue) && job.stalledCounter - forgivenStallsOf(job) >= CRASHES_MAX;
}

/** Delays the job for hours. Then it is run once more, and quarantined again if another worker dies over it. */
async function quarantine(job: Job, token: string | undefined, log: Log): Promise<never> {
  const deaths = job.stalledCounter - forgivenStallsOf(job);
  await job.updateProgress(job.stalledCounter - (CRASHES_MAX - 1));
  await job.moveToDelayed(Date.now() + QUARANTINE_MS, token);
  log.error({ job: job.name, jobId: job.id, deaths }, 'job quarantined: workers crashed while they ran it');
  throw new DelayedError();
}

/** The job stalls because its worker stops in good order before it has ended; that is no death. */
async function forgiveStall(job: Job): Promise<void> {
  await job.updateProgress(forgivenStallsOf(job) + 1).catch(() => {});
}

/**
 * Returns how often the job has stalled without its counting as a death. BullMQ keeps one value for us with each job:
 * its progress.
 */
function forgivenStallsOf({ progress }: Job): number {
  return typeof progress === 'number' ? progress : 0;
}

/** Facts about the job itself for its handler. */
export interface JobRun {
  /** Id that is the same for every attempt: a store recognizes a retried batch by it. */
  readonly jobId: string;
  readonly attempt: number;
  readonly log: Log;
}

/** A contract and what is done for it. Handlers run safely twice. */
export interface JobHandler {
  readonly job: JobContract;
  run(payload: unknown, run: JobRun): Promise<void>;
  /** Called once the process takes jobs. */
  start?(log: Log): void;
  /** Called when no more jobs may begin; resolves once those that run have ended. */
  stop?(): Promise<void>;
  /** Called when those that run have not ended in time: other workers may run them at once. */
  giveBack?(): Promise<void>;
}

export function handleJob<Payload extends TObject>(
  job: JobContract<Payload>,
  run: (payload: Static<Payload>, run: JobRun) => Promise<void>,
): JobHandler {
  return {
    job: job,
    async run(payload, context) {
      if (!Check(job.payload, payload))
        throw new UnrecoverableError(`payload of ${job.name} does not match its contract`);
      await run(payload, context);
    },
  };
}

/**
 * Retry of a running job whose store does not answer. Were it to fail at once, every job of the queue would fail, be
 * delayed, and come back in a crowd long after the store did.
 */
export const OUTAGE_RETRY = { pauseMs: 250, timeoutMs: 5_000 };

/** The consuming side. `close` takes no new jobs and waits for running ones, but not for ever; idempotent. */
export interface JobWorkers {
  close(): Promise<void>;
}

interface JobWorkersOptions {
  /** Prefix of the names of the queues. */
  readonly prefix?: string;
  readonly closeWithinMs?: number;
}

/** Jobs of each queue that one process runs at once. Those of ingestion only wake the process (`durable_job_runner.ts`). */
const CONCURRENCY: Record<QueueName, number> = { ingest: 4, paging: 16, upkeep: 2, uploads: 3 };

/** A job needs a connection only when it begins and ends. */
const CONNECTIONS_MAX = 8;
/** New jobs are announced; how often an idle queue is asked all the same. */
const ASK_ANYWAY_SECONDS = 10;

/** Longer than a job may take. A queue whose store went away and came back may never drain. */
const CLOSE_WITHIN_MS = 12_000;
const GIVE_BACK_WITHIN_MS = 1_000;

/** Connections of each queue beside those of its jobs: one listens for new jobs, one asks for them. */
const WAITING_CONNECTIONS = 2;

/**
 * Starts consuming. A killed worker's jobs run again after `lockDuration` plus `stalledInterval`; `maxStalledCount`
 * is far above the default of 1, with which two kills would lose a job for good. Instead, a job over which workers have died
 * is quarantined.
 */
export function startJobWorkers(
  connect: (poolMax: number) => QueueConnection,
  handlers: readonly JobHandler[],
  log: Log,
  { prefix = 'tocsin', closeWithinMs = CLOSE_WITHIN_MS }: JobWorkersOptions = {},
): JobWorkers {
  const byQueue = Map.groupBy(handlers, ({ job }) => job.queue);
  const connections = [...byQueue.keys()].map(
    (name) => Math.min(CONCURRENCY[name], CONNECTIONS_MAX) + WAITING_CONNECTIONS,
  );
  const connection = connect(connections.reduce((sum, count) => sum + count, 0));
  const running = new Set<Job>();
  // Each worker has the handlers of all queues: after an upgrade a queue may hold jobs that belong to another by now.
  const byName = new Map(handlers.map((handler) => [handler.job.name, handler]));
  const workers = [...byQueue.keys()].map((name) =>
    startWorker(name, byName, connection, log.child({ queue: name }), { prefix, running }),
  );
  for (const handler of handlers) handler.start?.(log.child({ job: handler.job.name }));
  let closing: Promise<void> | null = null;
  const close = async (): Promise<void> => {
    const stopped = handlers.map(async (handler) => await handler.stop?.());
    const closed = Promise.all([...stopped, ...workers.map((worker) => worker.close())]).then(() => true);
    if (await withTimeout(closed, closeWithinMs, () => false)) return await connection.close();
    log.warn({}, 'the queue did not drain in time; other workers run its jobs');
    const givenBack = Promise.all([
      ...handlers.map(async (handler) => await handler.giveBack?.()),
      ...[...running].map(async (job) => await forgiveStall(job)),
    ]);
    await withTimeout(givenBack, GIVE_BACK_WITHIN_MS, () => []);
    // Without a connection the jobs' locks end, and other workers take them over.
    connection.close().catch((error: unknown) => log.warn({ err: error }, 'failed to close the connection'));
  };
  return { close: () => (closing ??= close()) };
}

function startWorker(
  name: QueueName,
  handlers: ReadonlyMap<string, JobHandler>,
  connection: QueueConnection,
  log: Log,
  { prefix, running }: { readonly prefix: string; readonly running: Set<Job> },
): Worker {
  const process = async (job: Job, token?: string): Promise<void> => {
    const handler = handlers.get(job.name);
    if (handler === undefined || !isKnown(handler.job, job.data)) return await leaveToNewer(job, token, log);
    if (crashesWorkers(job, name)) await quarantine(job, token, log);
    const jobId = job.id ?? '';
    running.add(job);
    try {
      await handler.run(job.data, { jobId, attempt: job.attemptsMade + 1, log: log.child({ job: job.name, jobId }) });
    } finally {
      running.delete(job);
    }
  };
  const worker = new Worker(
    `${prefix}-${name}`,
    process,
    {
      ...connection.options,
      concurrency: CONCURRENCY[name],
      lockDuration: 4_000,
      stalledInterval: 2_000,
      maxStalledCount: 100,
      runRetryDelay: 1_000,
      drainDelay: ASK_ANYWAY_SECONDS,
      settings: {
        backoffStrategy: (attempt, _type, _error, job) => backoffMs(attempt, handlers.get(job?.name ?? '')?.job),
      },
    },
    connection.backend as never,
  );
  worker.on('error', (error: Error) => log.warn({ err: error }, 'the connection of the queue failed'));
  worker.on('failed', (job: Job | undefined, error: Error) => {
    const isLast = job !== undefined && job.attemptsMade >= (job.opts.attempts ?? 1);
    const fields = { job: job?.name, jobId: job?.id, attempt: job?.attemptsMade, err: error };
    if (isLast) log.error(fields, 'the job failed for the last time');
    else log.warn(fields, 'the job failed and will be retried');
  });
  return worker as Worker;
}

/** Limit on the age of a job that waits for a process that knows it, in days. */
const LEFT_DAYS_MAX = 7;
/**
 * Delay of a job that this process does not know, with jitter, so that in time it reaches each of the workers,
 * whichever is newer.
 */
const LEFT_FOR_MS = 4_000;

/**
 * During an upgrade, jobs of a newer release come to workers that do not know them: each goes back into the queue, and no
 * attempt is counted.
 */
async function leaveToNewer(job: Job, token: string | undefined, log: Log): Promise<never> {
  const fields = { job: job.name, jobId: job.id };
  if (Date.now() - job.timestamp > LEFT_DAYS_MAX * 86_400_000) {
    throw new UnrecoverableError(`no worker knew ${job.name} or its payload for ${LEFT_DAYS_MAX} days`);
  }
  log.warn(fields, 'a job of another release is left to a worker that knows it');
  await job.moveToDelayed(Date.now() + Math.round(LEFT_FOR_MS * (0.5 + Math.random())), token);
  throw new DelayedError();
}

/** Exponential, with up to a quarter of jitter, bounded by the contract. */
export function backoffMs(attempt: number, job: JobContract | undefined): number {
  const { firstDelayMs, maxDelayMs } = job?.backoff ?? { firstDelayMs: 1_000, maxDelayMs: 60_000 };
  const delay = Math.min(maxDelayMs, firstDelayMs * 2 ** Math.min(attempt - 1, 20));
  return Math.round(delay * (0.75 + Math.random() * 0.25));
}

/** A job over which so many workers have died is quarantined. */
const CRASHES_MAX = 2;

/**
 * Crash count that the death of a worker adds to a durable job that ran: one of many may have killed it, one that ran alone has.
 * A process runs hundreds at a time, and nearly all that ran when it died are innocent. So they run again in groups; those of
 * a group that has died, too, run alone; and one that ran alone when two workers died is quarantined. When it comes back, one
 * more is enough.
 */
export const CRASH_SCORE = { ofMany: 1, ofAlone: 2, quarantine: 5, whenBack: 3 } as const;

/** Enough that a worker which was killed for another reason costs seconds, few enough to run one by one afterwards. */
export const SUSPECTS_MAX = 32;

/**
 * Time for which a job that killed workers is quarantined, in milliseconds: what kills a worker now kills it in a minute,
 * but a later release may not die over it.
 */
export const QUARANTINE_MS = 6 * 3_600_000;
