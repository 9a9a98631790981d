import type { House } from '#entry/compose.ts';
import { type Id, newId } from '#kernel/ids.ts';
import { type JobWorkers, startJobWorkers } from '#storage/queue/job_workers.ts';
import { startPeriodic } from '#workers/periodic.ts';
import { handlersFor, periodicWorkFor } from '#workers/registry.ts';
import { crewRuntime, type CrewRuntime } from '#workers/crew_runtime.ts';
import { sweepDue } from '#workers/sweep_due.ts';
import { startTicker, type Ticker } from '#workers/ticker.ts';

/** Everything a worker process does. */
export interface Crew {
  readonly runtime: CrewRuntime;
  /** Lets what runs finish and takes no more. */
  stop(): Promise<void>;
}

const SWEEP_MS = 2_000;
/** What a process that died has left behind: what lives publishes at once. */
const OUTBOX_MS = 2_000;
const KEPT_MS = 4_000;

/** Starts consuming jobs, sweeping what is overdue, publishing the outbox, and doing periodic work. */
export function startCrew(house: House): Crew {
  const runtime = crewRuntime(house);
  const jobs = startJobs(house, runtime);
  const tickers = startTickers(house, runtime);
  return {
    runtime,
    async stop() {
      await Promise.all(tickers.map((ticker) => ticker.stop()));
      await jobs.close();
    },
  };
}

export function startJobs(house: House, runtime: CrewRuntime): JobWorkers {
  return startJobWorkers(house.connectWorkers, handlersFor(runtime), house.log);
}

function startTickers(house: House, runtime: CrewRuntime): Ticker[] {
  const holder: Id<'job'> = newId('job');
  const { log } = house;
  const guarded = (name: string, work: () => Promise<unknown>) => async (): Promise<void> => {
    try {
      await work();
    } catch (error) {
      log.warn({ tick: name, err: error }, 'a tick failed; the next one tries again');
    }
  };
  return [
    startTicker(
      SWEEP_MS,
      guarded('sweep', () => sweepDue(runtime)),
    ),
    startTicker(
      KEPT_MS,
      guarded('kept', () => house.queue.addForgotten()),
    ),
    startTicker(
      OUTBOX_MS,
      guarded('outbox', () => house.outbox.publishAll()),
    ),
    startPeriodic({ ...house, holder }, periodicWorkFor(runtime)),
  ];
}
