/**
 * Work that can be interrupted: it yields where it may rest, often enough that what lies between takes no more than some
 * milliseconds, and returns its result.
 */
export type Steps<Result> = Generator<void, Result, void>;

/** Does all of it now. For what is small, and where nobody else waits. */
export function finish<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
