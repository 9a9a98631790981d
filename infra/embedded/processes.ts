import { execFileSync } from 'node:child_process';
import { closeSync, openSync, readFileSync, readSync, renameSync, statSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

/** A living process. `birth` distinguishes it from a later one with the same pid. */
export interface RunningProcess {
  readonly birth: string;
  readonly command: string;
}

/**
 * The living process with this pid, or null. Also null for a zombie: it still answers signal 0, but holds nothing any
 * more.
 */
export function findProcess(pid: number): RunningProcess | null {
  if (!Number.isInteger(pid) || pid <= 0) return null;
  try {
    return process.platform === 'linux' ? findInProc(pid) : findWithPs(pid);
  } catch {
    return null;
  }
}

/** The command is in parentheses and may itself hold some, so the fields are counted from the last one. */
function findInProc(pid: number): RunningProcess | null {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const [state, ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  if (state === 'Z' || state === 'X') return null;
  const ticksSinceBoot = fields[18] ?? '';
  const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').join(' ').trim();
  return { birth: `${bootId()}:${ticksSinceBoot}`, command };
}

/** Not every sandbox shows it. Then the ticks alone identify a process. */
function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return '';
  }
}

function findWithPs(pid: number): RunningProcess | null {
  const line = execFileSync('ps', ['-o', 'stat=,lstart=,command=', '-p', String(pid)], {
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], LC_ALL: 'C' },
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim();
  const match = /^(\S+)\s+(\S+\s+\S+\s+\S+\s+\S+\s+\S+)\s+(.*)$/.exec(line);
  if (!match || match[1]?.startsWith('Z')) return null;
  return { birth: match[2] ?? '', command: match[3] ?? '' };
}

/** Sends the signal; false when the process is already gone. */
export function signalProcess(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}

/** Resolves when this process has ended. It is polled, because it need not be a child of ours. */
export async function untilGone(pid: number, pollMs: number): Promise<void> {
  const running = findProcess(pid);
  const isStillThere = () => running !== null && findProcess(pid)?.birth === running.birth;
  while (isStillThere()) await delay(pollMs);
}

export function describeEnd(code: number | null, signal: NodeJS.Signals | null): string {
  return signal === null ? `exit code ${code}` : `killed by ${signal}`;
}

const LOG_BYTES_MAX = 10 * 1024 * 1024;

/** Renames a log that has become too large; one older file is kept. Call it before the file is opened for writing. */
export function rotateLog(file: string): void {
  if (logEnd(file) > LOG_BYTES_MAX) renameSync(file, `${file}.1`);
}

export function logEnd(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

/** Returns the text that was logged after that position, at most the last two kilobytes. */
export function textSince(file: string, start: number): string {
  const end = logEnd(file);
  const text = Buffer.alloc(Math.min(Math.max(end - start, 0), 2048));
  if (text.length === 0) return '';
  const descriptor = openSync(file, 'r');
  try {
    readSync(descriptor, text, 0, text.length, end - text.length);
  } finally {
    closeSync(descriptor);
  }
  return text.toString().trim();
}
