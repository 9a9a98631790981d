import { setImmediate } from 'node:timers/promises';

import type { Steps } from '#ingest/protocols/body/steps.ts';

/** After so long it is others' turn: requests that wait notice nothing of a body of any size. */
const SLICE_MS = 8;

/** Does the work, and lets go of the event loop now and then. What is small is done at once. */
export async function inSlices<Result>(steps: Steps<Result>): Promise<Result> {
  let began = performance.now();
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    if (performance.now() - began < SLICE_MS) continue;
    await setImmediate();
    began = performance.now();
  }
}
