/** Program of the thread of `FileThread`: reads the texts of configuration files. */
import type { FileAnswer, FileQuestion } from '#modules/configuration/file_thread.ts';
import { faultsAt, readConfigurationFile } from '#modules/configuration/decide/read_file.ts';
import { answerInThread, lowerThreadPriority, THREAD_NICENESS } from '#kernel/threads/own_thread.ts';
import { runWithTimeLimit, TimeLimitExceeded } from '#kernel/threads/run_with_time_limit.ts';

/** Time limit for a text; a body of the largest size, as people write it, takes a third of it. */
const READ_MS_MAX = 20_000;

function answer({ text, faults }: FileQuestion): FileAnswer {
  try {
    return runWithTimeLimit(READ_MS_MAX, () =>
      faults === null ? readConfigurationFile(text) : faultsAt(text, faults),
    );
  } catch (error) {
    if (!(error instanceof TimeLimitExceeded)) throw error;
    return null;
  }
}

lowerThreadPriority(THREAD_NICENESS);
answerInThread(answer);
