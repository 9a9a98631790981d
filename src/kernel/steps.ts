/** Work in steps of at most some milliseconds, between which whoever carries it out may do something else. */
export type Steps<Result> = Generator<void, Result, void>;

/** Carries out all steps at once. */
export function finish<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
