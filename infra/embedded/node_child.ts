import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, writeFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import os from 'node:os';
import { text } from 'node:stream/consumers';

import { FRUGAL_ALLOCATION, type Memory, v8Flags } from '#entry/memory/memory.ts';
import { WAIT_ARGUMENT } from '#entry/program.ts';

import { USE_PACKED } from '#infra/packages/packed.ts';

import { describeEnd, logEnd, rotateLog, textSince } from './processes.ts';
import type { Running } from './supervisor.ts';

export interface Program {
  /** Path of the module to run. */
  readonly entry: string;
  readonly args?: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  /** Garbage that may accumulate before it is collected. */
  readonly memory?: Memory;
  /** Whether it loads the packages that `infra/packages` packs. */
  readonly usesPacked?: boolean;
  /** Difference of its priority to that of this process: 0, the default, to 19 lower. */
  readonly niceness?: number;
  /** The program loads at once and begins when this resolves. */
  readonly after?: Promise<unknown>;
  /** Called when the program is about to listen on its port. */
  readonly freePort?: () => Promise<void>;
  /** Sent first over the channel: for what must not appear in arguments or environment. */
  readonly firstMessage?: object;
  /** File for the output of the program; without it, the program writes where this process does. */
  readonly log?: string;
}

/** Message that a program sends over its channel once it can be used. */
export interface ReadyMessage {
  readonly ready: true;
  readonly url?: string;
}

export interface NodeChild extends Running {
  readonly message: ReadyMessage;
  /** Hands an accepted connection to the program. */
  give(connection: Socket): void;
}

const READY_DEADLINE_MS = 60_000;

/**
 * Starts a program under this Node and waits until it says that it is ready. It has a process group of its own, so that
 * Ctrl-C reaches only this process, which stops everything in order. It ends by itself when the channel to us breaks.
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
  child.on('message', (message) => {
    if (!isTruthy(message, 'wantsPort')) return;
    void Promise.resolve(program.freePort?.()).finally(() => child.send({ portIsFree: true }, () => {}));
  });
  const abortStart = () => void child.kill('SIGKILL');
  if (program.after !== undefined) {
    signal?.addEventListener('abort', abortStart, { once: true });
    const isDue = await Promise.race([program.after.then(isTrue, isFalse), exited.then(isFalse)]);
    signal?.removeEventListener('abort', abortStart);
    if (isDue && signal?.aborted !== true) child.send({ begin: true }, () => {});
    else abortStart();
  }
  const deadline = AbortSignal.timeout(READY_DEADLINE_MS);
  const aborted = AbortSignal.any(signal ? [signal, deadline] : [deadline]);
  aborted.addEventListener('abort', abortStart, { once: true });
  if (program.firstMessage) child.send(program.firstMessage, () => {});
  const answer = await Promise.race([firstReadyMessage(child), exited]);
  aborted.removeEventListener('abort', abortStart);
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
    give: (connection) => {
      // Node would keep it open until the program has taken it: if that dies before, the client would wait for ever.
      child.send({ connection: true }, connection, { keepOpen: true }, () => connection.destroy());
    },
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

function spawnNode(program: Program, errorOutput: 'captured' | 'inherited' = 'inherited'): ChildProcess {
  const { entry, env = process.env, memory, usesPacked = false, niceness, log, after } = program;
  const args = [...(program.args ?? []), ...(after === undefined ? [] : [WAIT_ARGUMENT])];
  const flags = [...v8Flags(memory), ...(usesPacked ? USE_PACKED : [])];
  const output = log === undefined ? 'inherit' : openSync(log, 'a', 0o600);
  try {
    const child = spawn(process.execPath, [...flags, entry, ...args], {
      env: { ...FRUGAL_ALLOCATION, ...env },
      detached: true,
      stdio: ['ignore', output, errorOutput === 'captured' ? 'pipe' : output, 'ipc'],
    });
    if (niceness !== undefined) lowerPriority(child, niceness);
    return child;
  } finally {
    if (typeof output === 'number') closeSync(output);
  }
}

/**
 * Called before the child has further threads, which on Linux inherit the priority of the first one. Linux also weighs
 * sessions against each other (autogroups), and every child here is a session. Without the right to do this, the child
 * keeps normal priority.
 */
function lowerPriority({ pid }: ChildProcess, niceness: number): void {
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
  return isTruthy(message, 'ready');
}

function isTruthy(message: unknown, name: string): boolean {
  return typeof message === 'object' && message !== null && name in message && Reflect.get(message, name) === true;
}

const ERROR_OUTPUT_LENGTH_MAX = 2_000;

/** Runs a program to its end. Throws its error output unless it exits with 0. */
export async function runNodeProgram(program: Program, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const child = spawnNode(program, 'captured');
  const errorText = child.stderr === null ? '' : text(child.stderr);
  const abortStart = () => void child.kill('SIGKILL');
  signal.addEventListener('abort', abortStart, { once: true });
  const [code, endSignal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
  signal.removeEventListener('abort', abortStart);
  signal.throwIfAborted();
  if (code === 0) return;
  const said = (await errorText).trim().slice(-ERROR_OUTPUT_LENGTH_MAX);
  throw new Error(said === '' ? `it failed (${describeEnd(code, endSignal)})` : said);
}
