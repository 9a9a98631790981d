import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

/** Root of the repository: programs run under plain Node, as people start them, without the test runner's loader. */
const ROOT = path.join(import.meta.dirname, '../../..');

/** An installation as `npm start` runs it, on a data folder. */
export interface Installation {
  readonly process: ChildProcess;
  readonly baseUrl: string;
  output(): string;
}

/** Result of a program that has ended. */
interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Makes a data folder through which the engines' users may pass. */
export function makeDataFolder(): string {
  const dataDir = mkdtempSync(path.join(os.tmpdir(), 'tocsin-boot-'));
  chmodSync(dataDir, 0o711);
  return dataDir;
}

/** Variables of programs on this data folder. */
const environmentOf = (dataDir: string) => ({
  PATH: process.env['PATH'],
  DATA_DIR: dataDir,
  PORT: '0',
  LOG_LEVEL: 'warn',
});

/** Starts everything, and resolves once it says that it runs. */
export async function startInstallation(dataDir: string): Promise<Installation> {
  const child = spawn(process.execPath, ['infra/embedded/start.ts'], {
    cwd: ROOT,
    env: environmentOf(dataDir),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  await new Promise<void>((resolve, reject) => {
    child.stdout.on('data', (chunk) => {
      output += String(chunk);
      if (output.includes('Ctrl-C stops everything')) resolve();
    });
    child.once('exit', (code) => reject(new Error(`it ended with ${code}:\n${output}`)));
  });
  const baseUrl = /API and console\s+(\S+)/.exec(output)?.[1] ?? '';
  return { process: child, baseUrl, output: () => output };
}

/** Stops everything, and resolves to the exit code. */
export async function stopInstallation({ process: child }: Installation): Promise<number | null> {
  const gone = once(child, 'exit') as Promise<[number | null]>;
  child.kill('SIGTERM');
  return (await gone)[0];
}

/** Runs a program to its end. */
export function runProgram(dataDir: string, ...args: readonly string[]): Promise<Ended> {
  return new Promise((resolve) => {
    const env = { ...environmentOf(dataDir), NODE_COMPILE_CACHE: 'node_modules/.cache/node' };
    execFile(process.execPath, args, { cwd: ROOT, env }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
    });
  });
}

/** Processes that were started for a data folder, whatever their parent is now. */
export function processesOfFolder(dataDir: string): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const read = (what: string) => readFileSync(`/proc/${pid}/${what}`, 'utf8').replaceAll('\0', ' ');
        return `${read('cmdline')} ${read('environ')}`.includes(dataDir) ? [`${pid} ${read('cmdline')}`] : [];
      } catch {
        return [];
      }
    });
}

/** Reads the credentials that the first start wrote for its owner. */
export function firstRunOf(dataDir: string): Record<string, string> {
  return JSON.parse(readFileSync(path.join(dataDir, 'first-run.json'), 'utf8')) as Record<string, string>;
}

/** Status of an answer to a call with this key. */
export async function listServices({ baseUrl }: Installation, key: string): Promise<number> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const url = `${baseUrl}/api/rest/actions/list_services`;
  return (await fetch(url, { method: 'POST', headers, body: '{}' })).status;
}
