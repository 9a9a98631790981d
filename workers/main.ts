import { releaseMemoryWhenIdle } from '#entry/memory/idle_memory.ts';
import { createLogger } from '#entry/logger.ts';
import { awaitStores, runProgram } from '#entry/program.ts';
import { loadConfig, requireStores, type RunningConfig } from '#entry/config.ts';
import { openTracing } from '#entry/tracing.ts';
import { onStop } from '#entry/stop.ts';
import { ConfigError } from '#kernel/config.ts';
import type { Log } from '#kernel/log.ts';
import type { StartedRole } from '#workers/run_role.ts';

interface RegisteredRole {
  readonly name: 'worker' | 'pager';
  /** Loads the code of this role only, so that a pager needs little memory. */
  load(): Promise<(config: RunningConfig, log: Log) => Promise<StartedRole>>;
}

/** The kinds of background processes. */
const ROLES: readonly RegisteredRole[] = [
  { name: 'worker', load: async () => (await import('#workers/worker_role.ts')).startWorker },
  { name: 'pager', load: async () => (await import('#workers/pager_role.ts')).startPager },
];

/** A background process: `node workers/main.ts worker` or `node workers/main.ts pager`. Any number of each may run. */
const role = ROLES.find(({ name }) => name === process.argv[2]);
// Loaded at once, because a supervisor starts this process before the stores are ready.
const start = await role?.load();
await runProgram(async () => {
  if (role === undefined || start === undefined) {
    throw new ConfigError([`say which process to run: ${ROLES.map(({ name }) => name).join(' or ')}`]);
  }
  const config = requireStores(loadConfig());
  await awaitStores(config, { listens: false, needsClickHouse: false });
  const log = createLogger(config, role.name);
  const tracing = await openTracing(role.name, log);
  const { running, stores, close } = await start(config, log);
  const probes = config.metricsPort === 0 ? null : await (await import('#workers/probes.ts')).openProbes(stores);
  log.info({}, `the ${role.name} has started`);
  process.send?.({ ready: true });
  releaseMemoryWhenIdle();
  const stoppables = [
    {
      name: 'jobs and periodic work',
      stop: async () => {
        probes?.drain();
        await running.stop();
      },
    },
    { name: 'probes', stop: async () => probes?.close() },
    { name: 'connections to the stores', stop: close },
    { name: 'traces', stop: () => tracing.close() },
  ];
  onStop(log, stoppables, config.stopSeconds * 1_000);
});
