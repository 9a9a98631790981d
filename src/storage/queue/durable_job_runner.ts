import pLimit from 'p-limit';

import { type Capacity, scheduleFairly } from '#storage/queue/fair_turns.ts';
import { isUnavailable } from '#kernel/errors.ts';
import type { DurableJobContract } from '#kernel/job.ts';
import type { Log } from '#kernel/log.ts';
import type { Database, Session } from '#storage/postgres/database.ts';
import {
  type BegunJob,
  type ClaimedJob,
  DurableJobStore,
  READY_OF_SERVICE_MAX,
  type ReadyJob,
} from '#storage/postgres/durable_job_store.ts';
import { newId } from '#kernel/ids.ts';
import { WakeUpCoalescer } from '#storage/queue/durable_queue.ts';
import { QuarantinedJobStore } from '#storage/postgres/quarantined_job_store.ts';
import { PoisonJobIsolation } from '#storage/queue/isolation.ts';
import { BusyPoller } from '#storage/queue/busy_poller.ts';
import {
  backoffMs,
  CRASH_SCORE,
  handleJob,
  type JobHandler,
  type JobRun,
  QUARANTINE_MS,
  SUSPECTS_MAX,
} from '#storage/queue/job_workers.ts';

/** Handler of a durable job. It may run twice, and at the same time as others of its kind. */
export interface DurableJobHandler {
  readonly job: DurableJobContract;
  readonly capacity: Capacity;
  run(bytes: Buffer, run: JobRun): Promise<void>;
}

/**
 * Other workers take over the jobs of a worker that died after so long, and sooner if they knew it (`freeLapsed`); a
 * living one extends its leases three times as often.
 */
const LEASE_MS = 9_000;
const EXTEND_MS = 3_000;
/** A job that failed by its own fault is retried alone and not in a batch, which costs the stores more. */
const CONCURRENT_RETRIES = 4;
/**
 * Times a job may meet an unavailable store before that counts as its fault: its data may be what brings the store
 * down.
 */
const OUTAGES_MAX = 3;
/** Jobs of which it is remembered. */
const OUTAGES_REMEMBERED_MAX = 10_000;
/**
 * Shortest time between two wake-ups by a process that has no room for all that is ready. One is enough: whoever wakes takes
 * jobs as long as any are ready, and wakes others in turn. Where there is no other process, it wakes itself.
 */
const WAKE_OTHERS_MS = 1_000;
/** Jobs that are read to decide whose turn it is. */
const READY_MAX = 500;

/**
 * Makes handlers of durable jobs: the job in the queue only wakes this process, which then runs jobs in a fair order for as
 * long as any is ready, and deletes each once it has run. Of the wake-ups of one kind of job only the first waits for the
 * end: if jobs come without end, the places of the queue are left to other kinds. After a job, the process looks for the next
 * ones by itself for a while (`BusyPoller`). `wake` wakes a process, which may be another one.
 *
 * Jobs whose worker died run apart from others (`CRASH_SCORE`). `holder` is the process, by which others tell whether its
 * worker is alive.
 */
export function runDurableJobs(
  db: Database,
  wake: (job: DurableJobContract) => void,
  holder: string = newId('job'),
): (handler: DurableJobHandler) => JobHandler {
  const isolation = new PoisonJobIsolation();
  return (handler) => {
    const runner = new DurableJobRunner(db, handler, isolation, () => wake(handler.job), holder);
    return {
      ...handleJob(handler.job, async (_wakeUp, { log }) => await runner.drain(log)),
      start: (log) => runner.start(log),
      stop: () => runner.stop(),
      giveBack: () => runner.giveBack(),
    };
  };
}

type RunningJob = ReadyJob & ClaimedJob & BegunJob;

interface Choice {
  readonly jobs: readonly ReadyJob[];
  readonly isApart: boolean;
}

class DurableJobRunner {
  readonly #db: Database;
  readonly #handler: DurableJobHandler;
  readonly #store: DurableJobStore;
  readonly #isolation: PoisonJobIsolation;
  readonly #others: WakeUpCoalescer<string>;
  /** Process for which jobs are claimed. */
  readonly #holder: string;
  readonly #watch: BusyPoller;
  readonly #running = new Set<RunningJob>();
  readonly #limitRetries = pLimit(CONCURRENT_RETRIES);
  /** Number of times each job has met a store that was away. */
  readonly #outages = new Map<string, number>();
  #done: RunningJob[] = [];
  /** Jobs whose run has ended while the database could not be told. */
  #untold: RunningJob[] = [];
  #onFree = (): void => {};
  #draining: Promise<void> | null = null;
  /** Whether the process takes jobs. Before that, the runner looks for jobs only when it is asked to. */
  #isStarted = false;
  #isStopped = false;
  /** Resolves when there may be another job to run. */
  #changed = Promise.withResolvers<void>();
  /** Whether `drain` was called while it was looking for jobs. */
  #isRequested = false;

  constructor(
    db: Database,
    handler: DurableJobHandler,
    isolation: PoisonJobIsolation,
    wake: () => void,
    holder: string,
  ) {
    this.#db = db;
    this.#holder = holder;
    this.#isolation = isolation;
    this.#handler = handler;
    this.#store = new DurableJobStore(db.session());
    this.#others = new WakeUpCoalescer(wake, WAKE_OTHERS_MS);
    const { name } = handler.job;
    const watcher = newId('job');
    this.#watch = new BusyPoller({
      promise: (forMs) => this.#store.watch(name, watcher, forMs),
      release: async () => {
        await this.#store.endWatch(name, watcher);
        wake();
      },
      hasReady: () => this.#store.hasReady(name),
      begin: (log) => this.#look(log),
      isBusy: () => this.#draining !== null,
    });
  }

  /** Runs what waits since before this process: who added it may have relied on one that has died. */
  start(log: Log): void {
    this.#isStarted = true;
    this.#onFree = () => this.#look(log);
    this.#look(log);
  }

  /**
   * Resolves once no job is ready, or the runner is stopped, and all jobs that were begun have ended. While an earlier call
   * has not resolved, it looks for jobs again, and this one resolves at once.
   */
  async drain(log: Log): Promise<void> {
    this.#isRequested = true;
    this.#changed.resolve();
    if (this.#draining !== null) return;
    this.#draining = this.#drain(log).finally(() => (this.#draining = null));
    await this.#draining;
  }

  /** Begins no more jobs, and resolves once all that were begun have ended. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#changed.resolve();
    await this.#watch.stop();
    await this.#draining?.catch(() => {});
  }

  /** Lets other workers begin at once what has not ended here. To end twice does no harm. */
  async giveBack(): Promise<void> {
    const running = [...this.#running];
    this.#running.clear();
    await this.#store.giveBack(running).catch(() => {});
  }

  async #drain(log: Log): Promise<void> {
    const extending = setInterval(() => this.#extend(log), EXTEND_MS);
    try {
      for (;;) {
        this.#changed = Promise.withResolvers();
        const isRequested = this.#isRequested;
        this.#isRequested = false;
        await this.#deleteDone(log);
        const mayBeMore = !this.#isStopped && (await this.#begin(isRequested, log));
        if (mayBeMore || (this.#isRequested && !this.#isStopped)) continue;
        if (this.#running.size === 0) return;
        await this.#changed.promise;
      }
    } finally {
      clearInterval(extending);
    }
  }

  /** Begins jobs in a fair order; whether there may be more to begin at once. Asks first if nobody has said that there are any. */
  async #begin(isRequested: boolean, log: Log): Promise<boolean> {
    const running = [...this.#running];
    const isFull = scheduleFairly([SMALLEST], running, this.#handler.capacity).length === 0;
    if (isFull) {
      if (isRequested) this.#others.request(this.#handler.job.name);
      return false;
    }
    const claim = async (): Promise<RunningJob[]> =>
      isRequested || (await this.#store.hasReady(this.#handler.job.name)) ? await this.#claim(running, log) : [];
    const claimed = await claim().catch((error: unknown) => {
      if (running.length === 0) throw error;
      log.warn({ err: error }, 'failed to begin more jobs; trying again when one has ended');
      return [];
    });
    for (const job of claimed) {
      this.#running.add(job);
      void this.#run(job, log);
    }
    if (claimed.length > 0 && this.#isStarted) this.#watch.noteWork(log);
    return claimed.length >= READY_OF_SERVICE_MAX;
  }

  /** Holds a lock while it chooses, so that no two processes choose the same jobs. */
  async #claim(running: readonly RunningJob[], log: Log): Promise<RunningJob[]> {
    const { job, capacity } = this.#handler;
    let entered = 0;
    let claimed: RunningJob[] = [];
    try {
      await this.#db.transaction(async (session) => {
        const store = new DurableJobStore(session);
        await store.holdTurns(job.name);
        const listed = await store.listReady(job.name, READY_MAX);
        const [deadly, ready] = partition(listed, ({ crashScore }) => crashScore >= CRASH_SCORE.quarantine);
        if (deadly.length > 0) await this.#quarantine(session, deadly, log);
        const choice = chooseJobs(ready, running, capacity);
        if (choice.jobs.length < ready.length) this.#others.request(job.name);
        if (!this.#enter(choice)) return;
        entered = choice.jobs.length;
        const byId = new Map(choice.jobs.map((job) => [job.jobId, job]));
        const raised = choice.isApart && entered === 1 ? CRASH_SCORE.ofAlone : CRASH_SCORE.ofMany;
        const claim = { leaseMs: LEASE_MS, raised, holder: this.#holder };
        claimed = (await store.claim(choice.jobs, claim)).flatMap((job): RunningJob[] => {
          const ready = byId.get(job.jobId);
          return ready === undefined ? [] : [{ ...ready, ...job, raised }];
        });
      });
    } catch (error) {
      claimed = [];
      this.#isolation.cancel(this.#onFree);
      throw error;
    } finally {
      this.#isolation.leave(entered - claimed.length);
    }
    return claimed;
  }

  #enter({ jobs, isApart }: Choice): boolean {
    if (isApart) return this.#isolation.enterApart(jobs.length, this.#onFree);
    if (jobs.length > 0) return this.#isolation.enter(jobs.length, this.#onFree);
    this.#isolation.cancel(this.#onFree);
    return false;
  }

  async #quarantine(session: Session, deadly: readonly ReadyJob[], log: Log): Promise<void> {
    await new QuarantinedJobStore(session).add(deadly, QUARANTINE_MS, CRASH_SCORE.whenBack);
    for (const { jobId, serviceId, items } of deadly) {
      log.error({ jobId, serviceId, items }, 'job quarantined: workers crashed while they ran it');
    }
  }

  async #run(runningJob: RunningJob, parentLog: Log): Promise<void> {
    const { job } = this.#handler;
    const { jobId, attempt, bytes } = runningJob;
    const log = parentLog.child({ jobId });
    try {
      const run = (): Promise<void> => this.#handler.run(bytes, { jobId, attempt, log });
      await (attempt === 1 ? run() : this.#limitRetries(run));
      this.#outages.delete(runningJob.jobId);
      this.#done.push(runningJob);
    } catch (error) {
      log.warn({ attempt, err: error }, 'the job failed and will be retried');
      const waitMs = backoffMs(attempt, job);
      // If this fails as well, the lease ends by itself.
      const isAttempt = !isUnavailable(error) || this.#noteOutage(runningJob) > OUTAGES_MAX;
      await this.#store.putBack(runningJob, waitMs, { isAttempt }).catch(() => this.#untold.push(runningJob));
      this.#running.delete(runningJob);
      this.#isolation.leave();
      this.#lookAgainIn(waitMs, parentLog);
    }
    this.#changed.resolve();
  }

  #noteOutage(runningJob: RunningJob): number {
    const outages = (this.#outages.get(runningJob.jobId) ?? 0) + 1;
    if (this.#outages.size >= OUTAGES_REMEMBERED_MAX) this.#outages.clear();
    this.#outages.set(runningJob.jobId, outages);
    return outages;
  }

  #look(log: Log): void {
    this.drain(log).catch((error: unknown) => log.warn({ err: error }, 'failed to look for jobs'));
  }

  #lookAgainIn(waitMs: number, log: Log): void {
    if (this.#isStarted && !this.#isStopped) setTimeout(() => this.#look(log), waitMs).unref();
  }

  /** Deletes in one statement all that have ended. A job that cannot be deleted runs again when its lease has ended. */
  async #deleteDone(log: Log): Promise<void> {
    const done = this.#done;
    this.#done = [];
    await this.#recordEnds();
    if (done.length === 0) return;
    try {
      await this.#store.remove(done);
    } catch (error) {
      log.warn({ err: error }, 'failed to delete jobs that have run; they will run again');
      this.#untold.push(...done);
    }
    for (const job of done) this.#running.delete(job);
    // Only now: a worker that dies before would be blamed on them.
    this.#isolation.leave(done.length);
  }

  /**
   * Records the ends of runs that are not recorded yet, so that a database outage makes no job look as if its worker
   * had died.
   */
  async #recordEnds(): Promise<void> {
    const untold = this.#untold;
    if (untold.length === 0) return;
    this.#untold = [];
    await this.#store.recordEnds(untold).catch(() => this.#untold.push(...untold));
  }

  #extend(log: Log): void {
    this.#store.extend([...this.#running], LEASE_MS).catch((error: unknown) => {
      log.warn({ err: error }, 'failed to extend the leases of jobs');
    });
  }
}

const SMALLEST = { orgId: '', serviceId: '', items: 0 };

/** Jobs that may have killed a worker come first: while they wait, so does all else that they might be blamed with. */
function chooseJobs(ready: readonly ReadyJob[], running: readonly RunningJob[], capacity: Capacity): Choice {
  const suspects = ready.filter(({ crashScore }) => crashScore > 0);
  if (suspects.length === 0) return { jobs: scheduleFairly(ready, running, capacity), isApart: false };
  const [group, single] = partition(suspects, ({ crashScore }) => crashScore <= CRASH_SCORE.ofMany);
  const jobs = group.length > 0 ? scheduleFairly(group, [], capacity).slice(0, SUSPECTS_MAX) : single.slice(0, 1);
  return { jobs, isApart: true };
}

function partition<Item>(items: readonly Item[], isFirst: (item: Item) => boolean): [Item[], Item[]] {
  return [items.filter((item) => isFirst(item)), items.filter((item) => !isFirst(item))];
}
