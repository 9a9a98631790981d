import { Script } from 'node:vm';

/** Thrown when work was stopped because it took longer than its limit. */
export class TimeLimitExceeded extends Error {
  constructor(milliseconds: number) {
    super(`stopped after ${milliseconds} ms`);
    this.name = 'TimeLimitExceeded';
  }
}

let work: () => unknown = () => undefined;

const SLOT = Symbol.for('tocsin.run_with_time_limit');
Object.defineProperty(globalThis, SLOT, { value: () => work() });
const CALL = new Script(`globalThis[Symbol.for('tocsin.run_with_time_limit')]()`, { filename: 'run_with_time_limit' });

/**
 * Runs the work and stops it when it takes longer than the limit: V8 interrupts any loop or regular expression, and
 * `TimeLimitExceeded` is thrown. A call costs about 50 µs. Work that is stopped may leave things half done, so it should
 * only compute a result from its input. Calls cannot be nested.
 */
export function runWithTimeLimit<Result>(milliseconds: number, task: () => Result): Result {
  let result: { readonly value: Result } | null = null;
  work = () => {
    result = { value: task() };
  };
  try {
    CALL.runInThisContext({ timeout: milliseconds });
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') {
      throw new TimeLimitExceeded(milliseconds);
    }
    throw error;
  } finally {
    work = () => undefined;
  }
  return valueOf(result);
}

function valueOf<Result>(result: { readonly value: Result } | null): Result {
  if (result === null) throw new Error('the work did not end');
  return result.value;
}
