import { knownPattern, rememberPattern } from '#modules/metrics/decide/pattern_size.ts';
import { PATTERN_LENGTH_MAX, patternsIn } from '#modules/metrics/decide/selector.ts';
import { AppError } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import { OwnThread } from '#kernel/threads/own_thread.ts';
import { TimeBudget } from '#kernel/threads/run_with_time_limit.ts';
import { type Clock, limitBy } from '#kernel/time.ts';
import { LEVELS_MAX } from '#kernel/input_faults.ts';

export interface PatternQuestion {
  readonly pattern: string;
}

/** Result of `sizeOfPattern`: a size, or what is wrong with the pattern. */
export type PatternAnswer = number | string;

interface PatternChecksOptions {
  readonly clock: Clock;
  /** Working time that an organization may have a minute. */
  readonly secondsPerMinute: number;
}

const MEMORY_MB = 64;
/** Time for all attempts on a busy machine, where it also takes long to start the thread. */
const UNHEARD_MS = 20_000;

/**
 * Checks the patterns in the selectors of a call before the call is read. To compile one may take a quarter of a
 * second, and a call may hold hundreds: a thread does it, in which organizations take turns, and its results are
 * cached.
 */
export class PatternChecks {
  readonly #options: PatternChecksOptions;
  readonly #budget: TimeBudget;
  readonly #thread: OwnThread<PatternQuestion, PatternAnswer>;

  constructor(options: PatternChecksOptions) {
    this.#thread = new OwnThread({
      program: new URL('./pattern_program.ts', import.meta.url),
      data: null,
      memoryMb: MEMORY_MB,
      unheardMs: limitBy(options.clock, UNHEARD_MS),
    });
    this.#options = options;
    this.#budget = new TimeBudget(options.secondsPerMinute * 1_000, options.clock);
  }

  /** Throws `rate_limited` when the organization has used up the time that it may have. */
  async prepare(orgId: Id<'org'>, input: unknown): Promise<void> {
    for (const pattern of unknownPatterns(input)) {
      const retryAfterSeconds = this.#budget.secondsToWait(orgId);
      if (retryAfterSeconds > 0) throw this.#usedUp(retryAfterSeconds);
      const asked = await this.#thread.ask(orgId, { pattern });
      this.#budget.spend(orgId, asked.tookMs);
      rememberPattern(pattern, asked.kind === 'answered' ? asked.answer : 'it takes too long to compile');
    }
  }

  async close(): Promise<void> {
    await this.#thread.close();
  }

  #usedUp(retryAfterSeconds: number): AppError {
    const { secondsPerMinute } = this.#options;
    return new AppError(
      'rate_limited',
      `to check the patterns of your selectors takes more than ${secondsPerMinute} s a minute; use fewer or shorter ones`,
      { limit: 'patternSeconds', retryAfterSeconds },
    );
  }
}

/** Returns the patterns anywhere in the input that are not cached, each once. */
function unknownPatterns(input: unknown): ReadonlySet<string> {
  const faults = new Set<string>();
  const collect = (value: unknown, level: number): void => {
    if (typeof value === 'string') {
      if (!value.includes('~')) return;
      for (const pattern of patternsIn(value)) {
        if (pattern.length <= PATTERN_LENGTH_MAX && knownPattern(pattern) === undefined) faults.add(pattern);
      }
    } else if (typeof value === 'object' && value !== null && level < LEVELS_MAX) {
      for (const inner of Object.values(value)) collect(inner, level + 1);
    }
  };
  collect(input, 0);
  return faults;
}
