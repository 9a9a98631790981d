import { readlinkSync } from 'node:fs';
import os from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';

import { ThreadGarbage } from '#kernel/free_bytes.ts';
import { threadProcessorMs } from '#kernel/threads/run_with_time_limit.ts';

export interface PostedAnswer<Answer> {
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
