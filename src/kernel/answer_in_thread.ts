import { readlinkSync } from 'node:fs';
import os from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';

/** Answers each question of the `OwnThread` that runs this program. */
export function answerInThread(answer: (question: never) => unknown): void {
  parentPort?.on('message', (question) => {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a port of a thread has no origin
    parentPort?.postMessage(answer(question as never));
  });
}

/** What the thread was handed as it began. */
export function threadData(): unknown {
  return workerData;
}

/**
 * Lets all others of a busy machine go first: whoever waits for the work of this thread waits for minutes anyway. Linux
 * gives each thread a priority of its own; elsewhere it would be that of the process, which keeps its own.
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
