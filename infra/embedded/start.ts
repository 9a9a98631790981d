/**
 * Program of `npm start`: it starts everything this machine needs in order, keeps it running, and stops it in reverse.
 */
import path from 'node:path';

import { releaseMemoryWhenIdle } from '#entry/memory/idle_memory.ts';
import { exitCodeFor } from '#entry/program.ts';
import { refreshConsole } from '#infra/console/refresh.ts';
import { refuseArguments } from '#infra/usage.ts';
import { type Config, linksFault, loadConfig } from '#entry/config.ts';
import { ConfigError } from '#kernel/config.ts';

import { Banner } from './banner.ts';
import { DiskReserve } from './disk_reserve.ts';
import { findFreePort } from './free_port.ts';
import { Installation } from './installation.ts';
import { checkSettings, lockDataFolder } from './data_folder.ts';

/** After this the process exits, and the machine ends what is left: every engine survives that. */
const STOP_DEADLINE_MS = 5_000;
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

refuseArguments(
  `npm start: runs all of Tocsin on this machine, with embedded stores where none are configured. Settings are environment
variables, such as PORT, HOST, BASE_URL, DATA_DIR; README.md lists them. Ctrl-C stops it. Other commands: npm run tocsin -- --help`,
);
const began = performance.now();
// The reader of our output may end before us.
process.stdout.on('error', () => {});
const banner = new Banner(process.stdout);
try {
  await run();
} catch (error) {
  banner.failed(error);
  process.exit(exitCodeFor(error));
}

async function run(): Promise<void> {
  const config = await readConfig();
  const lock = lockDataFolder(config.dataDir);
  process.once('exit', () => lock.release());
  await checkSettings(config, process.env);
  const installation = new Installation(config, process.env, (progress) => banner.progress(progress));
  const reserve =
    config.databaseUrl === undefined
      ? new DiskReserve({ dataDir: path.resolve(config.dataDir), report: (text) => banner.note(text) })
      : null;
  const stopped = stopOnSignal(installation);
  try {
    const facts = await installation.start();
    banner.running(facts, performance.now() - began);
    reserve?.enable();
    releaseMemoryWhenIdle();
    void refreshConsole(stopped.signal, (outcome) => banner.note(outcome));
  } catch (error) {
    if (stopped.isAsked) return;
    await installation.stop();
    throw error;
  }
}

/** Port 0 means any free one. It must be known before links contain it. */
async function readConfig(): Promise<Config> {
  const config = loadConfig(process.env);
  const fault = linksFault(process.env);
  if (fault !== null) throw new ConfigError([fault]);
  if (config.port !== 0) return config;
  return loadConfig({ ...process.env, PORT: String(await findFreePort(0)) });
}

/** The first signal stops everything in order, a second one kills. */
function stopOnSignal(installation: Installation): { readonly isAsked: boolean; readonly signal: AbortSignal } {
  const asked = new AbortController();
  const stop = async (signal: string): Promise<void> => {
    const isUrgent = asked.signal.aborted;
    asked.abort();
    if (!isUrgent) banner.stopping(signal);
    setTimeout(() => process.exit(1), STOP_DEADLINE_MS).unref();
    await installation.stop({ isUrgent });
    process.exit(0);
  };
  for (const signal of SIGNALS) process.on(signal, () => void stop(signal));
  return {
    signal: asked.signal,
    get isAsked() {
      return asked.signal.aborted;
    },
  };
}
