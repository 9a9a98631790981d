/**
 * The process that owns a data folder. Its parent sends the options over the channel; the process answers
 * `{ ready: true, url }`, and ends on SIGTERM or when the channel breaks.
 */
import { startChdbServer, type ChdbServer, type ChdbServerOptions } from './chdb_server.ts';

/** Acknowledged rows are on disk, so that ending by force loses nothing. */
const STOP_DEADLINE_MS = 1_800;

process.once('message', (options) => {
  run(options as ChdbServerOptions).catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    process.exit(1);
  });
});
process.once('disconnect', () => process.exit(1));
if (!process.connected) {
  console.error('This program is part of "npm start" and does not run by itself.');
  process.exitCode = 1;
}

async function run(options: ChdbServerOptions): Promise<void> {
  const server = await startChdbServer(options);
  stopOnRequest(server);
  process.send?.({ ready: true, url: server.url });
}

function stopOnRequest(server: ChdbServer): void {
  const stop = () => {
    setTimeout(() => process.kill(process.pid, 'SIGKILL'), STOP_DEADLINE_MS);
    void server.stop().finally(() => process.exit(0));
  };
  process.removeAllListeners('disconnect');
  for (const event of ['SIGTERM', 'SIGINT', 'disconnect'] as const) process.once(event, stop);
}
