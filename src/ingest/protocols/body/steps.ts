/** Work in steps: it yields where it may be interrupted, at least every few milliseconds, and returns its result. */
export type Steps<Result> = Generator<void, Result, void>;

/** Runs all steps at once: for small work, or where nothing else waits. */
export function finish<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
