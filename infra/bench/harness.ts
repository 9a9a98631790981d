import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { compose, type AppContext } from '#entry/compose.ts';
import { type Config, loadConfig, requireStores } from '#entry/config.ts';
import { ensureFirstRun, type FirstRun } from '#entry/first_run.ts';
import { createLogger } from '#entry/logger.ts';
import { migrate } from '#entry/migrate.ts';
import { startClickHouse } from '#infra/embedded/clickhouse.ts';
import { findFreePort } from '#infra/embedded/free_port.ts';
import { Installation, type Progress } from '#infra/embedded/installation.ts';
import { startPostgres } from '#infra/embedded/postgres.ts';
import { BACK_OFF, type BackOff } from '#infra/embedded/supervisor.ts';

import { tableOf } from './figures.ts';

/** One member of `npm run bench`: prints its inputs and its figures, and does not fail on a figure. */
export interface Bench {
  /** The name on the command line, and of the file. */
  readonly name: string;
  /** Subject of the measurement, and the goal. */
  readonly about: string;
  /** A member that takes longer is stopped; 15 by default. */
  readonly minutesMax?: number;
  run(): Promise<void>;
}

/** Everything running, as a client sees it. */
export interface BenchInstallation {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly userId: string;
  readonly organizationId: string;
  /** Address of the owner, to log in to the console. */
  readonly email: string;
  readonly password: string;
  readonly phoneUrl: string;
  readonly dataDir: string;
}

/** The migrated stores and a context over them in this process, with one organization; for members that call no HTTP. */
export interface BenchStores {
  readonly context: AppContext;
  readonly firstRun: FirstRun;
}

/** Separate stores, as durable as in production, on a folder that is removed afterwards. No key has a limit of calls. */
export async function withStores<Result>(work: (stores: BenchStores) => Promise<Result>): Promise<Result> {
  return await withFolder(async (dataDir) => {
    const [postgres, clickhouse] = await Promise.all([
      startPostgres(path.join(dataDir, 'postgres')),
      startClickHouse(path.join(dataDir, 'clickhouse')),
    ]);
    try {
      const config = requireStores({
        ...configFor(dataDir, await findFreePort(0)),
        databaseUrl: postgres.url,
        clickhouseUrl: clickhouse.url,
        appSecret: 'a secret that is long enough for benchmarks',
        callsPerMinute: 0,
        answerMegabytesPerMinute: 0,
      });
      await migrate(config);
      const context = await compose(config, { log: createLogger(config, 'cli') });
      try {
        const firstRun = await ensureFirstRun(context);
        if (firstRun === null) throw new Error('the stores are not new');
        return await work({ context, firstRun });
      } finally {
        await context.close();
      }
    } finally {
      await Promise.all([postgres.stop(), clickhouse.stop()]);
    }
  });
}

interface InstallationOptions {
  /** Further settings, as environment variables. */
  readonly variables?: Readonly<Record<string, string>>;
  readonly report?: (progress: Progress) => void;
  readonly backOff?: BackOff;
}

/** Runs everything that `npm start` runs, in separate processes, on a folder that is removed afterwards. */
export async function withInstallation<Result>(
  work: (installation: BenchInstallation) => Promise<Result>,
  { variables = {}, report = () => {}, backOff = BACK_OFF }: InstallationOptions = {},
): Promise<Result> {
  return await withFolder(async (dataDir) => {
    const port = String(await findFreePort(0));
    const settings = { DATA_DIR: dataDir, PORT: port, LOG_LEVEL: 'error', ...variables };
    const installation = new Installation(loadConfig(settings), { ...process.env, ...settings }, report, { backOff });
    try {
      const { apiUrl, phoneUrl, firstRun } = await installation.start();
      if (firstRun === null || phoneUrl === null) throw new Error('the installation is not new');
      const { apiKey, userId, organizationId, email, password } = firstRun;
      return await work({ baseUrl: apiUrl, apiKey, userId, organizationId, email, password, phoneUrl, dataDir });
    } finally {
      await installation.stop();
    }
  });
}

/** Times calls one after the other, until `times` or `secondsMax` is reached; in milliseconds. */
export async function timed(
  work: (index: number) => Promise<unknown>,
  { times, secondsMax = 60 }: { readonly times: number; readonly secondsMax?: number },
): Promise<number[]> {
  const deadline = performance.now() + secondsMax * 1_000;
  const samples: number[] = [];
  for (let index = 0; index < times && performance.now() < deadline; index += 1) {
    const began = performance.now();
    await work(index);
    samples.push(performance.now() - began);
  }
  return samples;
}

/** Prints the inputs, so that a figure can be reproduced. */
export function printInputs(inputs: Readonly<Record<string, string | number>>): void {
  const width = Math.max(...Object.keys(inputs).map(({ length }) => length));
  for (const [name, value] of Object.entries(inputs)) console.log(`  ${name.padEnd(width)}  ${value}`);
  console.log();
}

export function printTable(rows: readonly Readonly<Record<string, string | number>>[]): void {
  console.log(`${tableOf(rows)}\n`);
}

/** The machine, and its load at this moment. */
export function machineLine(): string {
  const [first] = os.cpus();
  const load = os.loadavg().map((value) => value.toFixed(2));
  const memoryGb = (os.totalmem() / 1024 ** 3).toFixed(0);
  return `${os.availableParallelism()} × ${first?.model.trim() ?? 'cpu'}, ${memoryGb} GB, load ${load.join(' ')}, Node ${process.version}`;
}

function configFor(dataDir: string, port: number): Config {
  return loadConfig({ DATA_DIR: dataDir, PORT: String(port), LOG_LEVEL: 'error' });
}

/** A folder that is removed afterwards. */
export async function withFolder<Result>(work: (folder: string) => Promise<Result>): Promise<Result> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'tocsin-bench-'));
  // If this runs as root, the database runs as another user, who needs access to the folder.
  chmodSync(folder, 0o711);
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
