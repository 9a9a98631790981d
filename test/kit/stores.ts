import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, statfsSync, statSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import type { TestProject } from 'vitest/node';

import { startClickHouse } from '#infra/embedded/clickhouse.ts';
import { startPostgres } from '#infra/embedded/postgres.ts';
import { findProcess, untilGone } from '#infra/embedded/processes.ts';
import type { Running } from '#infra/embedded/supervisor.ts';
import { startRedis } from '#test/kit/programs/redis.ts';
import type { ClickHouseAddress } from '#storage/clickhouse/address.ts';
import { COMPOSITIONS, makeTemplates } from '#test/kit/templates.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** URL of the server; each world has a database of its own. */
    postgresUrl: string;
    clickhouseUrl: string;
    /** null on a machine without a Redis server: what needs one is skipped. */
    redisUrl: string | null;
    /** The cluster over which tables are spread; null for one server. */
    clickhouseCluster: string | null;
  }
}

/**
 * Vacuuming would go round the databases of all tests. Worlds of several processes hold their connections at the same time,
 * and those of a world that was closed just now.
 */
const POSTGRES_SETTINGS = {
  autovacuum: 'off',
  checkpoint_timeout: '1h',
  synchronous_commit: 'off',
  max_connections: '600',
};

/** Compiling what a query computes pays for millions of rows; for a few it takes an eighth of the engine's time. */
const CLICKHOUSE_SETTINGS = { compile_expressions: 0, compile_aggregate_expressions: 0, compile_sort_description: 0 };

interface ClickHouseForTests extends ClickHouseAddress {
  stop(): Promise<void>;
}

/** Starts the embedded stores once for the whole run, with a migrated template of each database. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  return await setUpWith(project, async (folder) => {
    const clickhouse = await startClickHouse(folder, { querySettings: CLICKHOUSE_SETTINGS });
    return { clickhouseUrl: clickhouse.url, stop: () => kill(clickhouse) };
  });
}

/** The same with another ClickHouse, which is given a folder. */
export async function setUpWith(
  project: TestProject,
  start: (folder: string) => Promise<ClickHouseForTests>,
): Promise<() => Promise<void>> {
  const folder = makeStoresFolder();
  // The server runs as another user if we are root, and must be able to pass through.
  chmodSync(folder, 0o711);
  const [postgres, clickhouse, redis] = await Promise.all([
    startPostgres(path.join(folder, 'postgres'), { durable: false, settings: POSTGRES_SETTINGS }),
    start(path.join(folder, 'clickhouse')),
    startRedis(folder),
  ]);
  const releasedDatabases = path.join(folder, 'released');
  mkdirSync(releasedDatabases);
  project.provide('postgresUrl', postgres.url);
  project.provide('clickhouseUrl', clickhouse.clickhouseUrl);
  project.provide('clickhouseCluster', clickhouse.clickhouseCluster ?? null);
  project.provide('templates', await makeTemplates(postgres.url, clickhouse));
  project.provide('releasedDatabases', releasedDatabases);
  project.provide('redisUrl', redis?.url ?? null);
  return async () => {
    const compositions = statSync(path.join(folder, COMPOSITIONS), { throwIfNoEntry: false })?.size ?? 0;
    console.log(`${compositions} compositions of the application`);
    await Promise.all([kill(postgres), clickhouse.stop(), redis?.stop()]);
    removeLater(folder);
  };
}

const MEMORY_DISK = '/dev/shm';
const MEMORY_DISK_FREE_BYTES = 8 * 1024 ** 3;

/**
 * Makes the folder of the stores, in memory where there is enough of it: a seventh of the processor time of tests would
 * go into files that nobody keeps. Folders that killed runs left are removed.
 */
function makeStoresFolder(): string {
  const base = hasMemoryDisk() ? MEMORY_DISK : os.tmpdir();
  for (const name of readdirSync(base)) {
    const pid = /^tocsin-test-(\d+)-/.exec(name)?.[1];
    if (pid !== undefined && findProcess(Number(pid)) === null) removeLater(path.join(base, name));
  }
  return mkdtempSync(path.join(base, `tocsin-test-${process.pid}-`));
}

function hasMemoryDisk(): boolean {
  if (!existsSync(MEMORY_DISK)) return false;
  const { bavail, bsize } = statfsSync(MEMORY_DISK);
  return bavail * bsize >= MEMORY_DISK_FREE_BYTES;
}

/** Kills a store: stopped in order, it would write down what is thrown away. */
async function kill(store: Running): Promise<void> {
  const gone = untilGone(store.pid, 10);
  store.kill();
  await gone;
}

/** The files of hundreds of databases take their time: whoever runs the tests does not wait for it. */
function removeLater(folder: string): void {
  spawn('rm', ['-rf', folder], { detached: true, stdio: 'ignore' }).unref();
}
