import type { AppContext } from '#entry/compose.ts';
import { type JobHandler, type JobWorkers, startJobWorkers } from '#storage/queue/job_workers.ts';
import { type PagerRuntime, pagerRole, pagerRuntime } from '#workers/pager_role.ts';
import { runRole } from '#workers/run_role.ts';
import { type WorkerRuntime, workerRole, workerRuntime } from '#workers/worker_role.ts';

/** The runtimes of both background processes. */
export type RolesRuntime = WorkerRuntime & PagerRuntime;

export function rolesRuntime(context: AppContext): RolesRuntime {
  return { ...workerRuntime(context), ...pagerRuntime(context) };
}

/** Returns what is done for the jobs of both roles. */
export function handlersOfRoles(context: AppContext, runtime = rolesRuntime(context)): readonly JobHandler[] {
  return [...workerRole(context, runtime).handlers, ...pagerRole(context, runtime).handlers];
}

/** Consumes the jobs of both roles in this process, without their periodic work. */
export function startJobs(context: AppContext, runtime = rolesRuntime(context)): JobWorkers {
  return startJobWorkers(context.connectWorkers, handlersOfRoles(context, runtime), context.log);
}

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
