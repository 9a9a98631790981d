/** Runs one command of `tocsin` on the embedded stores of a data folder on which nothing runs, and stops them again. */
import { existsSync, readFileSync } from 'node:fs';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';

import { loadConfig } from '#entry/config.ts';
import { exitCodeFor } from '#entry/program.ts';
import { messageOf } from '#kernel/errors.ts';

import { removeRunningFile, writeRunningFile } from './installation_files.ts';
import { lockDataFolder } from './data_folder.ts';
import { clickhouseService, postgresService, type AddressedService } from './services.ts';
import type { Running } from './supervisor.ts';

const CLI = path.resolve(import.meta.dirname, '../../src/entry/cli.ts');

try {
  process.exitCode = await run();
} catch (error) {
  process.stderr.write(`tocsin: ${messageOf(error)}\n`);
  process.exitCode = exitCodeFor(error);
}

async function run(): Promise<number> {
  const config = loadConfig();
  const lock = lockDataFolder(config.dataDir);
  const dataDir = path.resolve(config.dataDir);
  const stopped = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stopped.abort());
  const running: Running[] = [];
  const start = async (service: AddressedService): Promise<string> => {
    running.push(await service.start(stopped.signal));
    return service.url;
  };
  try {
    const secretFile = path.join(dataDir, 'app-secret');
    const secret = config.appSecret ?? (existsSync(secretFile) ? readFileSync(secretFile, 'utf8').trim() : undefined);
    writeRunningFile(dataDir, {
      databaseUrl: config.databaseUrl ?? (await start(postgresService(dataDir))),
      clickhouseUrl: config.clickhouseUrl ?? (await start(clickhouseService(dataDir))),
      ...(secret !== undefined && { appSecret: secret }),
    });
    const child = spawn(process.execPath, [CLI, ...process.argv.slice(2)], { stdio: 'inherit' });
    stopped.signal.addEventListener('abort', () => void child.kill('SIGTERM'), { once: true });
    const [code] = (await once(child, 'exit')) as [number | null];
    return code ?? 1;
  } finally {
    removeRunningFile(dataDir);
    for (const store of running.toReversed()) await store.stop();
    lock.release();
  }
}
