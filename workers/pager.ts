import { requireStores } from '#entry/running_config.ts';
import { openFoundation } from '#entry/foundation.ts';
import { createLogger } from '#entry/logger.ts';
import { awaitStores, runProgram } from '#entry/program.ts';
import { onStop } from '#entry/stop.ts';
import { loadConfig } from '#kernel/config.ts';
import { PAGER_CONNECTIONS, pagerRole } from '#workers/pager_role.ts';
import { runRole } from '#workers/run_role.ts';

/** A pager process: any number of them may run. Whatever data arrives, it is not this process that reads it. */
await runProgram(async () => {
  const config = requireStores(loadConfig());
  await awaitStores(config, { listens: false });
  const log = createLogger(config, 'pager');
  const foundation = await openFoundation(config, { log, connections: PAGER_CONNECTIONS });
  const running = runRole(foundation, pagerRole(foundation));
  log.info({}, 'the pager works');
  process.send?.({ ready: true });

  onStop(log, [
    { name: 'pages and periodic work', stop: () => running.stop() },
    { name: 'connections to the stores', stop: () => foundation.close() },
  ]);
});
