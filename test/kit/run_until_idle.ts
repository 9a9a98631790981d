import type { Phone } from '@tocsin/phone-simulator';
import type { AppContext } from '#entry/compose.ts';
import { newId } from '#kernel/ids.ts';
import { silentLog } from '#kernel/log.ts';
import type { JobHandler } from '#storage/queue/job_workers.ts';
import type { DrivenQueue } from '#test/kit/driven_queue.ts';
import { handlersOfRoles, type RolesRuntime } from '#test/kit/roles.ts';
import { sweepDue } from '#workers/pager_role.ts';
import { tellPlaces } from '#workers/tell_places.ts';

const STATE = `select (select count(*)::int from outbox) as outbox, (select count(*)::int from durable_jobs) as durable,
  exists (select from places) as "hasPlaces"`;
/** Work that makes work without end would keep a test for ever. */
const ROUNDS_MAX = 1_000;

interface State {
  /** Rows of the outbox. */
  readonly outbox: number;
  readonly durable: number;
  readonly hasPlaces: boolean;
}

interface DrivenWork {
  readonly context: AppContext;
  readonly runtime: RolesRuntime;
  readonly queue: DrivenQueue;
  readonly phone: Phone;
  /** No job is ever run. */
  readonly areJobsLost: boolean;
}

/**
 * Returns what does in this process all work that is due by the test's clock, and resolves once a whole round finds none: it
 * publishes the outbox, runs the jobs, takes the ingestion log, and lets the phone's call-backs be answered. It sweeps when
 * time has passed: what is due at once needs its job. Rejects with the error of a job that failed; its retry is due by the
 * clock.
 */
export function runnerUntilIdle({ context, runtime, queue, phone, areJobsLost }: DrivenWork): () => Promise<void> {
  const handlers = handlersOfRoles(context, runtime);
  const durable = handlers.filter(({ job }) => job.queue === 'ingest');
  const read = async (): Promise<State> => (await context.db.sql.row<State>(STATE))!;
  let sweptAt = context.clock.now();
  return async () => {
    const hasTimePassed = areJobsLost || !context.clock.now().equals(sweptAt);
    sweptAt = context.clock.now();
    for (let round = 0; round < ROUNDS_MAX; round += 1) {
      await context.outbox.settled();
      await context.outbox.publishAll();
      if (areJobsLost) queue.clear();
      else await queue.runDue(handlers);
      const { durable: waitingDurable, hasPlaces } = await read();
      if (waitingDurable > 0) {
        await drain(durable);
        if ((await read()).durable > 0) throw new Error('jobs of ingestion failed, or another process runs them');
      }
      if (hasTimePassed) await sweep(runtime);
      // A place hears only of what happens after it was made.
      const hasToldPlaces = hasPlaces && (await tellPlaces(runtime));
      await phone.settled();
      await context.outbox.settled();
      const waiting = await read();
      if (waiting.outbox === 0 && waiting.durable === 0 && !queue.hasDue() && !hasToldPlaces) return;
    }
    throw new Error(`work is still due after ${ROUNDS_MAX} rounds`);
  };
}

/** Throws what the sweep only logs. */
async function sweep(runtime: RolesRuntime): Promise<void> {
  const failures: string[] = [];
  const log = { ...silentLog, error: (fields: object) => void failures.push(JSON.stringify(fields)) };
  await sweepDue({ ...runtime, log }, 0);
  if (failures.length > 0) throw new Error(`overdue work failed: ${failures.join(', ')}`);
}

async function drain(handlers: readonly JobHandler[]): Promise<void> {
  for (const handler of handlers) {
    await handler.run({}, { jobId: newId('job'), attempt: 1, log: silentLog });
  }
}
