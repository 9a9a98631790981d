import pLimit from 'p-limit';

import { type Capacity, takeTurns } from '#core/queue/fair_turns.ts';
import type { KeptJobContract } from '#kernel/job.ts';
import type { Log } from '#kernel/log.ts';
import type { Database } from '#storage/postgres/database.ts';
import { type ClaimedJob, KeptJobStore, type ReadyJob } from '#storage/postgres/kept_job_store.ts';
import { backoffMs, handleJob, type JobHandler, type JobRun } from '#storage/queue/job_workers.ts';

/** What is done for a kept job. Runs safely twice, and beside others of its kind. */
export interface KeptHandler {
  readonly job: KeptJobContract;
  readonly capacity: Capacity;
  run(bytes: Buffer, run: JobRun): Promise<void>;
}

/** A worker that died loses its jobs to others after so long; one that lives says so three times as often. */
const LEASE_MS = 9_000;
const EXTEND_MS = 3_000;
/** What failed is done by itself and not with others, which costs the stores more. */
const AGAIN_AT_ONCE = 4;
/** Looked at to find whose turn it is. */
const READY_MAX = 500;

/**
 * Makes handlers run by turns: the job in the queue only wakes this process, which then begins whatever is fair, as long
 * as anything is ready, and lets go of it once it has run.
 */
export function fetchKept(db: Database): (handler: KeptHandler) => JobHandler {
  return (handler) => {
    const lane = new KeptLane(db, handler);
    return {
      ...handleJob(handler.job, async (_wakeUp, { log }) => await lane.drain(log)),
      stop: () => lane.stop(),
    };
  };
}

type UnderWay = ReadyJob & ClaimedJob;

class KeptLane {
  readonly #db: Database;
  readonly #handler: KeptHandler;
  readonly #store: KeptJobStore;
  readonly #underWay = new Set<UnderWay>();
  readonly #again = pLimit(AGAIN_AT_ONCE);
  #done: UnderWay[] = [];
  #draining: Promise<void> | null = null;
  #isStopped = false;
  /** Resolves when something happens that makes another look worth it. */
  #news = Promise.withResolvers<void>();
  /** Whether somebody asked for a look while one was under way. */
  #isAsked = false;

  constructor(db: Database, handler: KeptHandler) {
    this.#db = db;
    this.#handler = handler;
    this.#store = new KeptJobStore(db);
  }

  /** Resolves once nothing is ready any more, or nothing more is to be begun, and all that was begun has ended. */
  async drain(log: Log): Promise<void> {
    this.#isAsked = true;
    this.#news.resolve();
    this.#draining ??= this.#drain(log).finally(() => (this.#draining = null));
    await this.#draining;
  }

  stop(): void {
    this.#isStopped = true;
    this.#news.resolve();
  }

  async #drain(log: Log): Promise<void> {
    const extending = setInterval(() => this.#extend(log), EXTEND_MS);
    try {
      for (;;) {
        this.#news = Promise.withResolvers();
        this.#isAsked = false;
        await this.#letGo(log);
        const begun = this.#isStopped ? 0 : await this.#begin(log);
        if (begun > 0 || (this.#isAsked && !this.#isStopped)) continue;
        if (this.#underWay.size === 0) return;
        await this.#news.promise;
      }
    } finally {
      clearInterval(extending);
    }
  }

  /** Begins what is fair; returns how many jobs. */
  async #begin(log: Log): Promise<number> {
    const underWay = [...this.#underWay];
    const isFull = takeTurns([SMALLEST], underWay, this.#handler.capacity).length === 0;
    if (isFull) return 0;
    const claimed = await this.#claim(underWay).catch((error: unknown) => {
      if (underWay.length === 0) throw error;
      log.warn({ err: error }, 'no further jobs could be begun; it is tried again when one has ended');
      return [];
    });
    for (const one of claimed) {
      this.#underWay.add(one);
      void this.#run(one, log);
    }
    return claimed.length;
  }

  /** Whoever looks for jobs holds the turns meanwhile, so that no two processes choose the same. */
  async #claim(underWay: readonly UnderWay[]): Promise<UnderWay[]> {
    const { job, capacity } = this.#handler;
    return await this.#db.transaction(async ({ sql }) => {
      const store = new KeptJobStore({ sql });
      await store.holdTurns(job.name);
      const ready = await store.listReady(job.name, READY_MAX);
      const taken = takeTurns(ready, underWay, capacity);
      if (taken.length === 0) return [];
      const places = new Map(taken.map((one) => [placeOf(one), one]));
      return (await store.claim(taken, LEASE_MS)).flatMap((one): UnderWay[] => {
        const ready = places.get(placeOf(one));
        return ready === undefined ? [] : [{ ...ready, ...one }];
      });
    });
  }

  async #run(one: UnderWay, parentLog: Log): Promise<void> {
    const { job } = this.#handler;
    const { keptId, attempt, bytes } = one;
    const log = parentLog.child({ jobId: keptId });
    try {
      const run = (): Promise<void> => this.#handler.run(bytes, { jobId: keptId, attempt, log });
      await (attempt === 1 ? run() : this.#again(run));
      this.#done.push(one);
    } catch (error) {
      log.warn({ attempt, err: error }, 'job failed, will be tried again');
      const waitMs = backoffMs(attempt, job);
      // When this fails as well, the lease ends by itself.
      await this.#store.putBack(one, waitMs).catch(() => {});
      this.#underWay.delete(one);
      this.#lookAgainIn(waitMs, parentLog);
    }
    this.#news.resolve();
  }

  #lookAgainIn(waitMs: number, log: Log): void {
    const look = (): void => {
      this.drain(log).catch((error: unknown) => log.warn({ err: error }, 'jobs could not be looked for'));
    };
    if (!this.#isStopped) setTimeout(look, waitMs).unref();
  }

  /** Those that ended together are let go of together. One that cannot be runs again when its lease has ended. */
  async #letGo(log: Log): Promise<void> {
    const done = this.#done;
    this.#done = [];
    if (done.length === 0) return;
    try {
      await this.#store.remove(done);
    } catch (error) {
      log.warn({ err: error }, 'jobs that are done could not be removed; they run again');
    }
    for (const one of done) this.#underWay.delete(one);
  }

  #extend(log: Log): void {
    this.#store.prolong([...this.#underWay], LEASE_MS).catch((error: unknown) => {
      log.warn({ err: error }, 'leases of jobs could not be prolonged');
    });
  }
}

const SMALLEST = { orgId: '', serviceId: '', items: 0 };

function placeOf({ keptId, number }: Pick<ReadyJob, 'keptId' | 'number'>): string {
  return `${keptId} ${number}`;
}
