import { cutBuffersFromSmallPieces } from '#entry/buffer_pool.ts';
import { compose } from '#entry/compose.ts';
import { requireStores } from '#entry/running_config.ts';
import { createLogger } from '#entry/logger.ts';
import { awaitStores, runProgram } from '#entry/program.ts';
import { onStop } from '#entry/stop.ts';
import { loadConfig } from '#kernel/config.ts';
import { runRole } from '#workers/run_role.ts';
import { workerRole } from '#workers/worker_role.ts';

/** A worker process: any number of them may run. */
cutBuffersFromSmallPieces();
await runProgram(async () => {
  const config = requireStores(loadConfig());
  await awaitStores(config, { listens: false });
  const log = createLogger(config, 'worker');
  const house = await compose(config, { log });
  const running = runRole(house, workerRole(house));
  log.info({}, 'the worker works');
  process.send?.({ ready: true });

  onStop(log, [
    { name: 'jobs and periodic work', stop: () => running.stop() },
    { name: 'connections to the stores', stop: () => house.close() },
  ]);
});
