import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';

import { Unavailable } from './report.ts';

export interface Execution {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** It is killed after so long. */
  readonly secondsMax?: number;
  readonly signal?: AbortSignal;
}

export interface Executed {
  /** Null when it was killed. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const SECONDS_MAX = 60;
const SHOWN_MAX = 3_000;

/** Runs a program to its end. Rejects only when there is no such program. */
export async function tryToExecute(
  program: string,
  args: readonly string[],
  execution: Execution = {},
): Promise<Executed> {
  const { cwd, env, secondsMax = SECONDS_MAX, signal } = execution;
  const deadline = AbortSignal.timeout(secondsMax * 1_000);
  const child = spawn(program, args, {
    ...(cwd !== undefined && { cwd }),
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const kill = (): void => void child.kill('SIGKILL');
  const aborted = AbortSignal.any(signal ? [deadline, signal] : [deadline]);
  aborted.addEventListener('abort', kill, { once: true });
  try {
    const [stdout, stderr, code] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      new Promise<number | null>((resolve, reject) => {
        child.once('error', reject);
        child.once('close', resolve);
      }),
    ]);
    return { code, stdout, stderr };
  } finally {
    aborted.removeEventListener('abort', kill);
  }
}

/** The output of a program that must succeed. */
export async function execute(program: string, args: readonly string[], execution: Execution = {}): Promise<string> {
  const executed = await tryToExecute(program, args, execution);
  if (executed.code === 0) return executed.stdout;
  throw new Error(`${program} ${args.join(' ').slice(0, 100)} ${endOf(executed)}`);
}

/** The same for what the machine, its packages or the network may not have. */
export async function obtain(program: string, args: readonly string[], execution: Execution = {}): Promise<string> {
  try {
    return await execute(program, args, execution);
  } catch (error) {
    throw new Unavailable(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

function endOf({ code, stdout, stderr }: Executed): string {
  const how = code === null ? 'was not done in time' : `ended with status ${code}`;
  return `${how}: ${`${stdout}\n${stderr}`.trim().slice(-SHOWN_MAX)}`;
}

/** Flags as most programs take them: `--name value`. */
export function flags(values: Readonly<Record<string, string>>): string[] {
  return Object.entries(values).flatMap(([name, value]) => [`--${name}`, value]);
}
