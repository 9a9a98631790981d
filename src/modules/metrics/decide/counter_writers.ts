import { COUNTER_LOOKBACK_MS } from '#modules/metrics/decide/aggregation.ts';

/** The newest sample of a counter that one process writes, and when the process began to count. Epoch milliseconds. */
export interface CounterWriter {
  readonly startAt: number;
  readonly at: number;
  readonly value: number;
}

/** Tolerance between the starts of one process, which some senders compute anew each time. */
const SAME_START_MS = 50;

export function isSameStart(a: number, b: number): boolean {
  return Math.abs(a - b) <= SAME_START_MS;
}

/** Point to store before a sample so that it grows by what its own process counted. */
export type Base =
  | { readonly kind: 'none' }
  /** The counter began at 0 at the start of its process. */
  | { readonly kind: 'start' }
  /** Value that its process had counted before. `isOverlap`: two processes are known to write at the same time. */
  | { readonly kind: 'value'; readonly value: number; readonly isOverlap: boolean };

/**
 * Decides what goes before a sample. `current` wrote the newest sample of the series; `earlier` is what the process of
 * this sample wrote last, if another one has written since. By OpenTelemetry's data model, a stream with another start
 * time is a sequence of its own.
 */
export function baseOf(sample: CounterWriter, current: CounterWriter | null, earlier: CounterWriter | null): Base {
  if (current === null) return { kind: 'start' };
  if (isSameStart(sample.startAt, current.startAt)) return { kind: 'none' };
  if (earlier !== null) {
    return sample.at > earlier.at ? { kind: 'value', value: earlier.value, isOverlap: true } : { kind: 'none' };
  }
  // A late sample from before a restart also has an earlier time.
  if (sample.startAt < current.startAt && sample.at <= current.at) return { kind: 'none' };
  if (sample.startAt >= current.at) return { kind: 'start' };
  const value = sample.startAt >= sample.at - COUNTER_LOOKBACK_MS ? 0 : sample.value;
  return { kind: 'value', value, isOverlap: sample.startAt < current.startAt };
}
