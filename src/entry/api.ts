import { cutBuffersFromSmallPieces } from '#entry/buffer_pool.ts';
import { compose } from '#entry/compose.ts';
import { requireStores } from '#entry/running_config.ts';
import { ensureFirstRun } from '#entry/first_run.ts';
import { buildApp } from '#entry/http/app.ts';
import { createLogger } from '#entry/logger.ts';
import { onStop } from '#entry/stop.ts';
import { untilAvailable } from '#entry/until_available.ts';
import { loadConfig } from '#kernel/config.ts';

/** The API process: takes requests, writes the truth, enqueues the rest. */
cutBuffersFromSmallPieces();
const config = requireStores(loadConfig());
const log = createLogger(config, 'api');
const house = await compose(config, { log });
await untilAvailable(log, () => ensureFirstRun(house));
const app = await buildApp(house);
await app.listen({ host: config.host, port: config.port });
log.info({ host: config.host, port: config.port }, 'the API listens');
process.send?.({ ready: true, url: config.baseUrl });

onStop(log, [
  { name: 'requests', stop: async () => app.close() },
  { name: 'connections to the stores', stop: () => house.close() },
]);
