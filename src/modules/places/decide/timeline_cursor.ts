import type { Temporal } from '#kernel/time.ts';

/** Age after which a missing number belongs to no transaction that is still running. */
const GAP_SECONDS = 120;

/**
 * Returns the cursor after these entries, in ascending order. Numbers are given out before the commit, so a number that
 * is missing may still come: the cursor stays before the first gap until what follows it is two minutes old.
 */
export function cursorAfter(
  cursor: number,
  entries: readonly { readonly id: number; readonly at: Temporal.Instant }[],
  now: Temporal.Instant,
): number {
  const settled = now.subtract({ seconds: GAP_SECONDS }).epochMilliseconds;
  let last = cursor;
  for (const { id, at } of entries) {
    if (id !== last + 1 && at.epochMilliseconds > settled) return last;
    last = id;
  }
  return last;
}
