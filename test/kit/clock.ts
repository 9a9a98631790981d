import { type Clock, Temporal } from '#kernel/time.ts';

/** A clock that stands still until a test moves it. */
export interface TestClock extends Clock {
  set(instant: string): void;
  advance(duration: Temporal.DurationLike): void;
}

/** Begins at the machine's time, so that what real senders stamp is recent. */
export function testClock(): TestClock {
  let current = Temporal.Instant.fromEpochMilliseconds(Temporal.Now.instant().epochMilliseconds);
  return {
    now: () => current,
    set(instant) {
      current = Temporal.Instant.from(instant);
    },
    advance(duration) {
      current = current.add(duration);
    },
  };
}
