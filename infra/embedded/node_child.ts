import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import { text } from 'node:stream/consumers';

import { WAIT_ARGUMENT } from '#entry/program.ts';

import { logEnd, rotateLog, textSince } from './log_files.ts';
import { describeEnd } from './processes.ts';
import type { Running } from './supervisor.ts';

export interface Program {
  /** Path of the module to run. */
  readonly entry: string;
  readonly args?: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  /** How much garbage may pile up before it is collected; one that does little needs little. */
  readonly memory?: keyof typeof MEMORY;
  /** How far it stands back behind this process while both want the processor: 0, the default, to 19. */
  readonly niceness?: number;
  /** It is loaded at once and begins when this resolves. */
  readonly after?: Promise<unknown>;
  /** Sent first over the channel: for what must not appear in arguments or environment. */
  readonly firstMessage?: object;
  /** File that gets what the program prints; without one it prints where this process does. */
  readonly log?: string;
}

/** What a program sends over its channel once it can be used. */
export interface ReadyMessage {
  readonly ready: true;
  readonly url?: string;
}

export interface NodeChild extends Running {
  readonly message: ReadyMessage;
}

const READY_DEADLINE_MS = 60_000;

/**
 * Runs a program under this Node until it says that it is ready. It lives in a process group of its own, so that
 * Ctrl-C reaches only us, who end things in order; and it ends by itself when the channel to us breaks.
 */
export async function startNodeChild(program: Program, signal?: AbortSignal): Promise<NodeChild> {
  signal?.throwIfAborted();
  if (program.log !== undefined) rotateLog(program.log);
  const logStart = program.log === undefined ? 0 : logEnd(program.log);
  const child = spawnNode(program);
  const exited = new Promise<string>((resolve) => {
    child.once('exit', (code, endSignal) => resolve(describeEnd(code, endSignal)));
    child.once('error', (error) => resolve(error.message));
  });
  const callOff = () => void child.kill('SIGKILL');
  if (program.after !== undefined) {
    signal?.addEventListener('abort', callOff, { once: true });
    const isDue = await Promise.race([program.after.then(isTrue, isFalse), exited.then(isFalse)]);
    signal?.removeEventListener('abort', callOff);
    if (isDue && signal?.aborted !== true) child.send({ begin: true }, () => {});
    else callOff();
  }
  const deadline = AbortSignal.timeout(READY_DEADLINE_MS);
  const calledOff = AbortSignal.any(signal ? [signal, deadline] : [deadline]);
  calledOff.addEventListener('abort', callOff, { once: true });
  if (program.firstMessage) child.send(program.firstMessage, () => {});
  const answer = await Promise.race([firstReadyMessage(child), exited]);
  calledOff.removeEventListener('abort', callOff);
  if (typeof answer === 'string') {
    signal?.throwIfAborted();
    const output = program.log === undefined ? '' : `\n${textSince(program.log, logStart)}`;
    const how = deadline.aborted
      ? `it was not ready within ${READY_DEADLINE_MS / 1000} s`
      : 'it ended before it was ready';
    throw new Error(`${how} (${answer})${output}`);
  }
  const pid = child.pid ?? 0;
  return {
    pid,
    exited,
    message: answer,
    async stop() {
      child.ref();
      child.kill('SIGTERM');
      await exited;
    },
    kill: () => void child.kill('SIGKILL'),
  };
}

const isTrue = (): true => true;
const isFalse = (): false => false;

/** Memory that threads have freed is shared between them instead of being kept by each; known to glibc only. */
const FRUGAL = { MALLOC_ARENA_MAX: '2' };

/**
 * Of V8. With `ample`, what is in work is gone before it is looked through, and the whole heap, which holds little but
 * the program itself, is looked through when it has grown fourfold. Else that is done once a second under load, and
 * whoever waits for an answer then waits for that, too.
 */
export const MEMORY = {
  frugal: ['--max-semi-space-size=1'],
  ample: ['--max-semi-space-size=16', '--heap-growing-percent=300'],
} as const;

/**
 * Threads that help to collect garbage. The program waits for them, and where there are more of them than processors
 * they wait for each other's.
 */
const HELPERS = Math.min(4, Math.max(1, os.availableParallelism() - 1));

function spawnNode(program: Program, complaints: 'kept' | 'shown' = 'shown'): ChildProcess {
  const { entry, env = process.env, memory, niceness, log, after } = program;
  const args = [...(program.args ?? []), ...(after === undefined ? [] : [WAIT_ARGUMENT])];
  const flags = [...(memory === undefined ? [] : MEMORY[memory]), `--v8-pool-size=${HELPERS}`];
  const output = log === undefined ? 'inherit' : openSync(log, 'a', 0o600);
  try {
    const child = spawn(process.execPath, [...flags, entry, ...args], {
      env: { ...FRUGAL, ...env },
      detached: true,
      stdio: ['ignore', output, complaints === 'kept' ? 'pipe' : output, 'ipc'],
    });
    if (niceness !== undefined) standBack(child, niceness);
    return child;
  } finally {
    if (typeof output === 'number') closeSync(output);
  }
}

/**
 * Before the child has any threads, which on Linux take after its first one. There sessions are weighed against each
 * other as well, of which every child here is one. Where neither is allowed, it competes like all others.
 */
function standBack({ pid }: ChildProcess, niceness: number): void {
  if (pid === undefined) return;
  try {
    const priority = Math.min(os.getPriority() + niceness, os.constants.priority.PRIORITY_LOW);
    os.setPriority(pid, priority);
    if (process.platform === 'linux') writeFileSync(`/proc/${pid}/autogroup`, String(priority));
  } catch {
    return;
  }
}

function firstReadyMessage(child: ChildProcess): Promise<ReadyMessage> {
  return new Promise((resolve) => {
    const onMessage = (message: unknown) => {
      if (!isReady(message)) return;
      child.off('message', onMessage);
      resolve(message);
    };
    child.on('message', onMessage);
  });
}

function isReady(message: unknown): message is ReadyMessage {
  return typeof message === 'object' && message !== null && 'ready' in message && message.ready === true;
}

const COMPLAINT_LENGTH_MAX = 2_000;

/** Runs a program to its end. Throws what it complained of unless that is exit code 0. */
export async function runNodeProgram(program: Program, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const child = spawnNode(program, 'kept');
  const complaint = child.stderr === null ? '' : text(child.stderr);
  const callOff = () => void child.kill('SIGKILL');
  signal.addEventListener('abort', callOff, { once: true });
  const [code, endSignal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
  signal.removeEventListener('abort', callOff);
  signal.throwIfAborted();
  if (code === 0) return;
  const said = (await complaint).trim().slice(-COMPLAINT_LENGTH_MAX);
  throw new Error(said === '' ? `it failed (${describeEnd(code, endSignal)})` : said);
}
