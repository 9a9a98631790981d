import type { Foundation } from '#entry/foundation.ts';
import type { Id } from '#kernel/ids.ts';
import { type JobHandler, startJobWorkers } from '#storage/queue/job_workers.ts';
import type { ProbedStores } from '#workers/probes.ts';
import { type Periodic, startPeriodic } from '#workers/periodic.ts';
import { type SharedWork, startSharing } from '#workers/shared_work.ts';
import { startTicker, type Ticker } from '#workers/ticker.ts';

/** Background work of one kind of process. Each queue is consumed by one role only. */
export interface Role {
  readonly name: 'worker' | 'pager';
  readonly handlers: readonly JobHandler[];
  /** Work run from time to time by the one process of the role that gets the lease. */
  readonly periodic: readonly Periodic[];
  /** Work shared by all processes of the role. */
  readonly shared: readonly SharedWork[];
  /** Work run repeatedly, in each period by one process of the role, in turn. */
  readonly ticks: readonly Tick[];
  /** Id of this process. */
  readonly holder: Id<'job'>;
  /** Called when what another process held is free, as it was silent for too long. */
  readonly onFreed?: () => void;
  /** Resolves once everything that ticks have started has ended. */
  readonly settled?: () => Promise<void>;
}

export interface Tick {
  readonly name: string;
  /** Time from the end of one run to the start of the next. */
  readonly everyMs: number;
  run(): Promise<unknown>;
}

/** A role that runs in this process. */
export interface RunningRole {
  /** Takes no new work, and resolves once the running work has ended. */
  stop(): Promise<void>;
}

/** A background process that has started. */
export interface StartedRole {
  readonly running: RunningRole;
  /** Stores that the role uses. */
  readonly stores: ProbedStores;
  /** Closes the connections to the stores. */
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
  const sharing = startSharing(runtime, role.name, role.shared, role.onFreed);
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
