import { nextTurn } from '#kernel/event_loop_turns.ts';
import type { Steps } from '#kernel/steps.ts';

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
