/** Queue of the turns, first come, first served, across all requests of this process. */
const waiting: (() => void)[] = [];

/**
 * Resolves in a turn of the event loop that no other long work has. So however many large bodies are read and packed at
 * once, waiting requests are not delayed by their number. Up to some milliseconds of work belong in a turn.
 */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(giveTurn);
  });
}

/** Collects items that each take some microseconds to make; gives up its turn after every `aTurn` items. */
export async function collectInTurns<Item>(items: Iterable<Item>, aTurn: number): Promise<Item[]> {
  const collected: Item[] = [];
  for (const item of items) {
    collected.push(item);
    if (collected.length % aTurn === 0) await nextTurn();
  }
  return collected;
}

/** Gives a turn to the next work, which runs right after this, before the next callback. */
function giveTurn(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(giveTurn);
}

/** Time in which small work, such as most bodies, is done at once. */
const FIRST_SLICE_MS = 2;
const SLICE_MS = 8;

/** Runs the steps in slices, each in its own turn of the event loop, so that other requests are served in between. */
export async function inSlices<Result>(steps: Steps<Result>): Promise<Result> {
  let until = performance.now() + FIRST_SLICE_MS;
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    if (performance.now() < until) continue;
    await nextTurn();
    until = performance.now() + SLICE_MS;
  }
}

/** Work in steps of at most some milliseconds, between which whoever carries it out may do something else. */
export type Steps<Result> = Generator<void, Result, void>;

/** Carries out all steps at once. */
export function finish<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
