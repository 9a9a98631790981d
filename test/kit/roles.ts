import type { AppContext } from '#entry/compose.ts';
import { type JobWorkers, startJobWorkers } from '#storage/queue/job_workers.ts';
import { type PagerRuntime, pagerRole, pagerRuntime } from '#workers/pager_role.ts';
import { runRole } from '#workers/run_role.ts';
import { type WorkerRuntime, workerRole, workerRuntime } from '#workers/worker_role.ts';

/** What both background processes run on. */
export type RolesRuntime = WorkerRuntime & PagerRuntime;

export function rolesRuntime(house: AppContext): RolesRuntime {
  return { ...workerRuntime(house), ...pagerRuntime(house) };
}

/** Consumes the jobs of both roles in this process; nothing is swept, and nothing is done from time to time. */
export function startJobs(house: AppContext, runtime = rolesRuntime(house)): JobWorkers {
  const handlers = [...workerRole(house, runtime).handlers, ...pagerRole(house, runtime).handlers];
  return startJobWorkers(house.connectWorkers, handlers, house.log);
}

/** All that a worker and a pager do, in this process. */
export function startRoles(house: AppContext): { readonly runtime: RolesRuntime; stop(): Promise<void> } {
  const runtime = rolesRuntime(house);
  const running = [workerRole(house, runtime), pagerRole(house, runtime)].map((role) => runRole(house, role));
  return {
    runtime,
    async stop() {
      await Promise.all(running.map((role) => role.stop()));
    },
  };
}
