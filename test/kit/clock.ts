import { expect } from 'vitest';

import { type Clock, Temporal } from '#kernel/time.ts';

/** A clock that stands still until a test moves it. */
export interface TestClock extends Clock {
  /** Lowers the patience for a test of a time limit; returns what takes that back. */
  beImpatient(patience: number): () => void;
  set(instant: string): void;
  advance(duration: Temporal.DurationLike): void;
  /** Takes back whatever a test has moved. */
  restart(): void;
}

/** Factor by which waits for a store are longer: other tests and programs take most of the processors. */
const PATIENCE = 30;

function patientClock(moved: Omit<TestClock, 'patience' | 'beImpatient'>): TestClock {
  let patience = PATIENCE;
  return {
    ...moved,
    get patience() {
      return patience;
    },
    beImpatient(lower) {
      patience = lower;
      return () => void (patience = PATIENCE);
    },
    restart() {
      moved.restart();
      patience = PATIENCE;
    },
  };
}

/** Starts at the machine's time, so that timestamps of real senders are recent. */
export function testClock(): TestClock {
  const machine = (): Temporal.Instant =>
    Temporal.Instant.fromEpochMilliseconds(Temporal.Now.instant().epochMilliseconds);
  let current = machine();
  return patientClock({
    now: () => current,
    set(instant) {
      current = Temporal.Instant.from(instant);
    },
    advance(duration) {
      current = current.add(duration);
    },
    restart() {
      current = machine();
    },
  });
}

/** The machine's clock, as processes outside the test see it too; moving it shifts only what the test sees. */
export function runningClock(): TestClock {
  const machine = (): Temporal.Instant => Temporal.Now.instant().round('millisecond');
  let shift = new Temporal.Duration();
  return patientClock({
    now: () => machine().add(shift),
    set(instant) {
      shift = machine().until(instant);
    },
    advance(duration) {
      shift = shift.add(duration);
    },
    restart() {
      shift = new Temporal.Duration();
    },
  });
}

let areInstantsCompared = false;

/** Has matchers compare instants: none has a property of its own, so that `toMatchObject` took any for any other. */
export function compareInstants(): void {
  // One process runs many files, which share what matchers compare by.
  if (areInstantsCompared) return;
  areInstantsCompared = true;
  expect.addEqualityTesters([
    (a: unknown, b: unknown) =>
      a instanceof Temporal.Instant && b instanceof Temporal.Instant ? a.equals(b) : undefined,
  ]);
}
