import { nextTurn } from '#ingest/event_loop_turns.ts';
import type { Steps } from '#ingest/protocols/body/steps.ts';

/** What is small is done at once, and most bodies are. */
const FIRST_SLICE_MS = 2;
const SLICE_MS = 8;

/** Does the work, and lets go of the event loop now and then, so that others have their turn. */
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
