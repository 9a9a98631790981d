import { Script } from 'node:vm';

/** Work that was stopped since it took longer than it may. */
export class TookTooLong extends Error {
  constructor(milliseconds: number) {
    super(`stopped after ${milliseconds} ms`);
    this.name = 'TookTooLong';
  }
}

let work: () => unknown = () => undefined;

const SLOT = Symbol.for('tocsin.within_time');
Object.defineProperty(globalThis, SLOT, { value: () => work() });
const CALL = new Script(`globalThis[Symbol.for('tocsin.within_time')]()`, { filename: 'within_time' });

/**
 * Does the work, and stops it from outside where it takes longer: another thread ends it in whatever loop or regular
 * expression it is, and `TookTooLong` is thrown. Costs some 50 µs a call. What is changed by the work may be left half
 * done, so it should only make something of what it is given. Not to be called within itself.
 */
export function withinTime<Result>(milliseconds: number, wanted: () => Result): Result {
  let result: { readonly value: Result } | null = null;
  work = () => {
    result = { value: wanted() };
  };
  try {
    CALL.runInThisContext({ timeout: milliseconds });
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') {
      throw new TookTooLong(milliseconds);
    }
    throw error;
  } finally {
    work = () => undefined;
  }
  // Only now is it known that it ran to its end.
  return valueOf(result);
}

function valueOf<Result>(result: { readonly value: Result } | null): Result {
  if (result === null) throw new Error('the work did not end');
  return result.value;
}
