import { setTimeout as delay } from 'node:timers/promises';

import type { Foundation } from '#entry/foundation.ts';
import { messageOf } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import type { Log } from '#kernel/log.ts';
import type { Clock, Temporal } from '#kernel/time.ts';
import type { Database } from '#storage/postgres/database.ts';
import { takeLease, whileHolding } from '#storage/postgres/held_lease.ts';
import { LeaseStore } from '#storage/postgres/lease_store.ts';
import { type JobHandler, startJobWorkers } from '#storage/queue/job_workers.ts';
import type { ProbedStores } from '#workers/probes.ts';
import { type ShardedJob, type RoleMembership, startShardedJobs } from '#workers/sharded_jobs.ts';
import { startTicker, type Ticker } from '#workers/ticker.ts';

/** Background work of one kind of process. Each queue is consumed by one role only. */
export interface Role {
  readonly name: 'worker' | 'pager';
  readonly handlers: readonly JobHandler[];
  /** Work run from time to time by the one process of the role that gets the lease. */
  readonly periodic: readonly Periodic[];
  /** Work shared by all processes of the role. */
  readonly shared: readonly ShardedJob[];
  /** Work run repeatedly, in each period by one process of the role, in turn. */
  readonly ticks: readonly Tick[];
  readonly holder: Id<'job'>;
  /** Called when what another process held is free, as it was silent for too long. */
  readonly onFreed?: () => void;
  /** Resolves once everything that ticks have started has ended. */
  readonly settled?: () => Promise<void>;
}

interface Tick {
  readonly name: string;
  /** Time from the end of one run to the start of the next. */
  readonly everyMs: number;
  run(): Promise<unknown>;
}

interface RunningRole {
  /** Takes no new work, and resolves once the running work has ended. */
  stop(): Promise<void>;
}

export interface StartedRole {
  readonly running: RunningRole;
  readonly stores: ProbedStores;
  close(): Promise<void>;
}

/**
 * Share of the time for stopping that is spent on draining; the rest is for giving back unfinished work, and for
 * closing connections.
 */
const DRAIN_SHARE = 0.8;

/** Ticks that came at once would each need a connection, which is idle afterwards. */
const TICKS_APART_MS = 150;

export function runRole(foundation: Foundation, role: Role): RunningRole {
  const log = foundation.log.child({ role: role.name });
  const closeWithinMs = foundation.config.stopSeconds * 1_000 * DRAIN_SHARE;
  const jobs = startJobWorkers(foundation.connectWorkers, role.handlers, log, { closeWithinMs });
  const runtime = { ...foundation, log, holder: role.holder };
  const sharing = startShardedJobs(runtime, role.name, role.shared, role.onFreed);
  const tickers: Ticker[] = role.ticks.map(({ name, everyMs, run }, place) => {
    const tick = async (): Promise<void> => {
      try {
        if (sharing.isLeader(everyMs)) await run();
      } catch (error) {
        log.warn({ tick: name, err: error }, 'a tick failed; the next one tries again');
      }
    };
    return startTicker(everyMs, tick, (place + 1) * TICKS_APART_MS);
  });
  tickers.push(startPeriodic({ ...runtime, sharing }, role.periodic));
  return {
    async stop() {
      await Promise.all(tickers.map((ticker) => ticker.stop()));
      await sharing.stop();
      await Promise.all([jobs.close(), role.settled?.()]);
    },
  };
}

/** Work that one of all processes of a role does from time to time. */
interface Periodic {
  readonly name: string;
  readonly everySeconds: number;
  run(): Promise<void>;
}

interface PeriodicRuntime {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly holder: Id<'job'>;
  /** Decides which process checks for due work. */
  readonly sharing: Pick<RoleMembership, 'isLeader'>;
}

const CHECK_MS = 1_000;
/** Works of equal periods are due at once; begun at once, each would open a connection that is idle afterwards. */
const APART_MS = 40;

/**
 * Checks what is due and runs it, unless another process does: every second the process whose turn it is. Works do not
 * wait for each other.
 */
export function startPeriodic(runtime: PeriodicRuntime, works: readonly Periodic[]): Ticker {
  const running = new Map<string, Promise<void>>();
  const checking = startTicker(CHECK_MS, async () => {
    if (!runtime.sharing.isLeader(CHECK_MS)) return;
    const idle = works.filter(({ name }) => !running.has(name));
    for (const [place, work] of (await listDue(runtime, idle)).entries()) {
      const begun = delay(place * APART_MS).then(() => runIfDue(runtime, work));
      const done = begun.finally(() => running.delete(work.name));
      running.set(work.name, done);
    }
  });
  return {
    async stop() {
      await checking.stop();
      await Promise.all(running.values());
    },
  };
}

/** Lists the due work, with one query for all of it. Empty while the database is unavailable. */
async function listDue({ db, clock, log }: PeriodicRuntime, works: readonly Periodic[]): Promise<Periodic[]> {
  const now = clock.now();
  const wanted = works.map((work) => ({ name: work.name, notSince: notSince(work, now) }));
  try {
    const due = new Set(await new LeaseStore(db.session()).listDue(wanted, now));
    return works.filter(({ name }) => due.has(name));
  } catch (error) {
    log.warn({ err: messageOf(error) }, 'failed to find out which periodic work is due');
    return [];
  }
}

/**
 * Returns the time since which the work must not have run, to be due. Half a second is subtracted from the period:
 * otherwise checking once a second would make every period a second longer.
 */
function notSince({ everySeconds }: Periodic, now: Temporal.Instant): Temporal.Instant {
  return now.subtract({ milliseconds: everySeconds * 1000 - 500 });
}

/**
 * Runs the work if it is due and no other process runs it. Work that fails stays due, and the next check of any process
 * tries again: so a failed evaluation of rules never counts as one that found nothing.
 */
async function runIfDue(runtime: PeriodicRuntime, work: Periodic): Promise<void> {
  const { db, clock, log, holder } = runtime;
  const lease = { name: work.name, holder };
  const now = clock.now();
  try {
    if (!(await takeLease(runtime, lease, notSince(work, now)))) return;
  } catch (error) {
    log.warn({ work: work.name, err: messageOf(error) }, 'failed to take the lease');
    return;
  }
  const startedAt = performance.now();
  let doneAt: Temporal.Instant | null = null;
  try {
    await whileHolding(runtime, lease, () => work.run());
    doneAt = now;
  } catch (error) {
    log.error({ work: work.name, err: error }, 'periodic work failed and will be tried again');
  }
  log.debug({ work: work.name, elapsedMs: Math.round(performance.now() - startedAt) }, 'periodic work finished');
  await new LeaseStore(db.session()).release(work.name, holder, doneAt).catch((error: unknown) => {
    log.warn({ work: work.name, err: messageOf(error) }, 'failed to release the lease');
  });
}
