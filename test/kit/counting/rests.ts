import type { Steps } from '#kernel/cooperative_task.ts';

/** Counts how often the work may rest, which is when others have their turn. What is refused is refused in steps, too. */
export function restsOf(steps: Steps<unknown>): number {
  for (let rests = 0; ; rests += 1) {
    try {
      if (steps.next().done === true) return rests;
    } catch {
      return rests;
    }
  }
}
