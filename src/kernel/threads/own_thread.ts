import { once } from 'node:events';
import { readlinkSync } from 'node:fs';
import os from 'node:os';
import { parentPort, Worker, workerData } from 'node:worker_threads';

import { ThreadGarbage } from '#kernel/free_bytes.ts';
import { KeyedLimit } from '#kernel/keyed_limit.ts';
import { threadProcessorMs } from './run_with_time_limit.ts';

/** Work for a thread of its own, and the limits within which it is done. */
interface OwnThreadOptions {
  /** A module that calls `answerInThread`. */
  readonly program: URL;
  /** Data that the program is given when it begins. */
  readonly data: unknown;
  /** Memory of everything in the thread, in MiB. */
  readonly memoryMb: number;
  /** Time of silence after which a thread is ended. The program itself stops after its time. */
  readonly unheardMs: number;
  /** Time without a question after which the thread ends and its memory is free. */
  readonly idleMs?: number;
}

/** Answer of the program, with the processor time that it took. */
export type ThreadAnswer<Answer> =
  | { readonly kind: 'answered'; readonly answer: Answer; readonly tookMs: number }
  /** Too much time or memory, after `tookMs`. The thread was ended; the next question starts another. */
  | { readonly kind: 'too_much'; readonly tookMs: number };

/** Additional memory for new objects: by default each thread would keep three times as much. */
const YOUNG_MEMORY_MB = 16;

const IDLE_MS = 60_000;

/**
 * A thread for work that strangers can make long, so that this process goes on answering everybody. It starts with the
 * first question and answers one question after the other: what ends it is then known, and memory is what one question
 * takes. Organizations take turns, so that one holds up the others for no longer than one question takes.
 */
export class OwnThread<Question, Answer> {
  readonly #options: OwnThreadOptions;
  readonly #turns = new KeyedLimit({ concurrency: 1, concurrencyPerKey: 1 });
  #worker: Worker | null = null;
  #idle: NodeJS.Timeout | null = null;

  constructor(options: OwnThreadOptions) {
    this.#options = options;
  }

  /** Throws what the program throws. Buffers in `transfer` are moved to the thread and are empty here afterwards. */
  async ask(orgId: string, question: Question, transfer: readonly ArrayBuffer[] = []): Promise<ThreadAnswer<Answer>> {
    return await this.#turns.run(orgId, async () => {
      if (this.#idle !== null) clearTimeout(this.#idle);
      try {
        return await this.#askNow(question, transfer);
      } finally {
        this.#idle = setTimeout(() => void this.close(), this.#options.idleMs ?? IDLE_MS).unref();
      }
    });
  }

  /** Ends the thread; the next question starts another. */
  async close(): Promise<void> {
    if (this.#idle !== null) clearTimeout(this.#idle);
    const worker = this.#worker;
    this.#worker = null;
    await worker?.terminate();
  }

  async #askNow(question: Question, transfer: readonly ArrayBuffer[]): Promise<ThreadAnswer<Answer>> {
    const worker = (this.#worker ??= this.#start());
    const unheard = new AbortController();
    const stop = (): void => unheard.abort();
    const timer = setTimeout(stop, this.#options.unheardMs);
    const began = performance.now();
    worker.once('exit', stop);
    try {
      const answered = once(worker, 'message', { signal: unheard.signal });
      worker.postMessage(question, transfer);
      const [{ answer, processorMs }] = (await answered) as [PostedAnswer<Answer>];
      return { kind: 'answered', answer, tookMs: processorMs };
    } catch (error) {
      const isTooMuch = unheard.signal.aborted || isOutOfMemory(error);
      await this.close();
      if (!isTooMuch) throw error;
      return { kind: 'too_much', tookMs: performance.now() - began };
    } finally {
      clearTimeout(timer);
      worker.off('exit', stop);
    }
  }

  #start(): Worker {
    const { program, data, memoryMb } = this.#options;
    const worker = new Worker(program, {
      workerData: data,
      resourceLimits: { maxOldGenerationSizeMb: memoryMb, maxYoungGenerationSizeMb: YOUNG_MEMORY_MB },
      execArgv: [],
    });
    worker.unref();
    const forget = (): void => {
      if (this.#worker === worker) this.#worker = null;
    };
    // A waiting question has its own listeners for these events.
    worker.on('error', forget);
    worker.once('exit', forget);
    return worker;
  }
}

function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
}

interface PostedAnswer<Answer> {
  readonly answer: Answer;
  readonly processorMs: number;
}

/** Answers each question of the `OwnThread` that runs this program, and holds little garbage between them. */
export function answerInThread(answer: (question: never) => unknown, garbage = new ThreadGarbage()): void {
  parentPort?.on('message', (question) => {
    const began = threadProcessorMs();
    const posted = { answer: answer(question as never), processorMs: threadProcessorMs() - began };
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a port of a thread has no origin
    parentPort?.postMessage(posted satisfies PostedAnswer<unknown>);
    garbage.look();
  });
}

/** Returns the data that the thread was given when it began. */
export function threadData(): unknown {
  return workerData;
}

/** Niceness of threads whose work may be part of paging people: on a busy machine the main thread goes first. */
export const THREAD_NICENESS = 5;

/**
 * Lets others of a busy machine go first, the more so the higher the niceness. Linux gives each thread a priority of
 * its own; elsewhere it would be that of the process, which keeps its own.
 */
export function lowerThreadPriority(niceness: number): void {
  if (process.platform !== 'linux') return;
  try {
    const threadId = Number(/\/task\/(\d+)$/.exec(readlinkSync('/proc/thread-self'))?.[1]);
    if (threadId > 0 && threadId !== process.pid) os.setPriority(threadId, niceness);
  } catch {
    return;
  }
}
