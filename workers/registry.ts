import type { RunningConfig } from '#entry/running_config.ts';
import type { Log } from '#kernel/log.ts';
import type { StartedRole } from '#workers/run_role.ts';

interface RegisteredRole {
  readonly name: 'worker' | 'pager';
  /** Loads the code of this role only, so that a pager needs little memory. */
  load(): Promise<(config: RunningConfig, log: Log) => Promise<StartedRole>>;
}

/** The kinds of background processes. */
export const ROLES: readonly RegisteredRole[] = [
  { name: 'worker', load: async () => (await import('#workers/worker_role.ts')).startWorker },
  { name: 'pager', load: async () => (await import('#workers/pager_role.ts')).startPager },
];
