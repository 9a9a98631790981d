import { cutBuffersFromSmallPieces } from '#entry/buffer_pool.ts';
import { compose, requireStores } from '#entry/compose.ts';
import { createLogger } from '#entry/logger.ts';
import { onStop } from '#entry/stop.ts';
import { loadConfig } from '#kernel/config.ts';
import { startCrew } from '#workers/crew.ts';

/** A worker process: any number of them may run. */
cutBuffersFromSmallPieces();
const config = requireStores(loadConfig());
const log = createLogger(config, 'worker');
const house = await compose(config, { log });
const crew = startCrew(house);
log.info({}, 'the worker works');
process.send?.({ ready: true });

onStop(log, [
  { name: 'jobs and periodic work', stop: () => crew.stop() },
  { name: 'connections to the stores', stop: () => house.close() },
]);
