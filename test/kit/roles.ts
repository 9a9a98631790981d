import type { AppContext } from '#entry/compose.ts';
import { type JobWorkers, startJobWorkers } from '#storage/queue/job_workers.ts';
import { type PagerRuntime, pagerRole, pagerRuntime } from '#workers/pager_role.ts';
import { runRole } from '#workers/run_role.ts';
import { type WorkerRuntime, workerRole, workerRuntime } from '#workers/worker_role.ts';

/** What both background processes run on. */
export type RolesRuntime = WorkerRuntime & PagerRuntime;

export function rolesRuntime(context: AppContext): RolesRuntime {
  return { ...workerRuntime(context), ...pagerRuntime(context) };
}

/** Consumes the jobs of both roles in this process; nothing is swept, and nothing is done from time to time. */
export function startJobs(context: AppContext, runtime = rolesRuntime(context)): JobWorkers {
  const handlers = [...workerRole(context, runtime).handlers, ...pagerRole(context, runtime).handlers];
  return startJobWorkers(context.connectWorkers, handlers, context.log);
}

/** All that a worker and a pager do, in this process. */
export function startRoles(context: AppContext): { readonly runtime: RolesRuntime; stop(): Promise<void> } {
  const runtime = rolesRuntime(context);
  const running = [workerRole(context, runtime), pagerRole(context, runtime)].map((role) => runRole(context, role));
  return {
    runtime,
    async stop() {
      await Promise.all(running.map((role) => role.stop()));
    },
  };
}
