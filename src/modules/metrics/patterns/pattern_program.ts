/** Program of the thread of `PatternChecks`: compiles patterns of selectors. */
import type { PatternAnswer, PatternQuestion } from '#modules/metrics/patterns/pattern_checks.ts';
import { sizeOfPattern } from '#modules/metrics/decide/pattern_size.ts';
import { answerInThread, lowerThreadPriority, THREAD_NICENESS } from '#kernel/threads/own_thread.ts';
import { runWithTimeLimit, TimeLimitExceeded } from '#kernel/threads/run_with_time_limit.ts';

/** Time limit for a pattern; those that people write take a thousandth of it. */
const PATTERN_MS_MAX = 500;

function answer({ pattern }: PatternQuestion): PatternAnswer {
  try {
    return runWithTimeLimit(PATTERN_MS_MAX, () => sizeOfPattern(pattern));
  } catch (error) {
    if (!(error instanceof TimeLimitExceeded)) throw error;
    return 'it takes too long to compile';
  }
}

lowerThreadPriority(THREAD_NICENESS);
answerInThread(answer);
