import { COUNTER_LOOKBACK_MS } from '#modules/metrics/decide/aggregation.ts';

/** The newest sample of a counter that one process writes, and when the process began to count. Epoch milliseconds. */
export interface CounterWriter {
  readonly startAt: number;
  readonly at: number;
  readonly value: number;
}

/** Tolerance between the starts of one process, which some senders compute anew each time. */
const SAME_START_MS = 50;

/** Tolerance while the values do not fall: some senders compute their start from an uptime in whole seconds. */
const CLOSE_START_MS = 2_000;

/** Shortest interval at which one process sends. */
const AT_ONCE_MS = 900;

/** Tolerance between the times from start to sending of processes that were forked at once. */
const SAME_AGE_MS = 500;

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

/** Returns what the process of a sample wrote last, if another one has written since; else null. */
export function earlierOf(others: readonly CounterWriter[], sample: CounterWriter): CounterWriter | null {
  const exact = others.find(({ startAt }) => startAt === sample.startAt);
  if (exact !== undefined || isOld(sample)) return exact ?? null;
  const close = others.filter(
    (writer) => isClose(writer, sample) && writer.value <= sample.value && !isBeside(writer, sample),
  );
  return close.reduce<CounterWriter | null>(
    (most, writer) => (most !== null && most.value >= writer.value ? most : writer),
    null,
  );
}

/**
 * Decides what goes before a sample. `current` wrote the newest sample of the series; `earlier` is what the process of
 * this sample wrote last, if another one has written since. By OpenTelemetry's data model, a stream with another start
 * time is a sequence of its own. `isShared`: several processes are known to write the series, so that starts which are
 * close are theirs: servers fork their workers at once. Then what was counted before the first sample that is heard of
 * does not count: it may have been counted before this process was started.
 */
export function baseOf(
  sample: CounterWriter,
  current: CounterWriter | null,
  earlier: CounterWriter | null,
  isShared = earlier !== null,
): Base {
  if (current === null) return isShared ? { kind: 'value', value: sample.value, isOverlap: true } : { kind: 'start' };
  if (sample.startAt === current.startAt) return { kind: 'none' };
  if (earlier !== null) {
    return sample.at > earlier.at ? { kind: 'value', value: earlier.value, isOverlap: true } : { kind: 'none' };
  }
  // A late sample from before a restart also has an earlier time.
  if (sample.startAt < current.startAt && sample.at <= current.at) return { kind: 'none' };
  if (sample.startAt >= current.at) return { kind: 'start' };
  const isSame = isClose(current, sample) && (sample.value >= current.value || sample.at <= current.at);
  if (isSame && !(isOld(sample) ? isShared : isBeside(current, sample))) return { kind: 'none' };
  return { kind: 'value', value: isOld(sample) ? sample.value : 0, isOverlap: sample.startAt < current.startAt };
}

/** Limit on the time by which a sample is stored later, in milliseconds: that of as many processes as are told apart. */
const MOMENTS_MAX_MS = 200;

/** Limit on the time by which a clock that was set back is corrected; of more, samples are as late as they say. */
const SET_BACK_MAX_MS = 5 * 60_000;

/**
 * Returns the time at which a sample is stored. A series has one point at a time, so what several processes send at one
 * moment, and what goes before each sample, take moments of their own; a sample that is sent again takes the same one. A
 * process that has counted more than at a later time has set its clock back: counters only rise.
 * `earlier` is what its process wrote last.
 */
export function momentOf(sample: CounterWriter, current: CounterWriter | null, earlier: CounterWriter | null): number {
  const { startAt, at, value } = sample;
  if (earlier !== null && at <= earlier.at) {
    const isClockSetBack = at < earlier.at && value > earlier.value && earlier.at - at <= SET_BACK_MAX_MS;
    if (isClockSetBack) return Math.max(earlier.at, current?.at ?? 0) + 1;
    return earlier.at - at <= MOMENTS_MAX_MS && value >= earlier.value ? earlier.at : at;
  }
  if (current === null || startAt === current.startAt || !(startAt < current.at)) return at;
  return at < current.at + 2 && at > current.at - MOMENTS_MAX_MS ? current.at + 2 : at;
}

/** Whether what it counted before it was first heard of is not growth of now. */
function isOld({ startAt, at }: CounterWriter): boolean {
  return startAt < at - COUNTER_LOOKBACK_MS;
}

/**
 * Whether both are sent at one time, or as long after their starts, as processes that were forked at once send: no
 * process sends as often as that.
 */
function isBeside(writer: CounterWriter, { startAt, at }: CounterWriter): boolean {
  const apart = at - writer.at;
  if (apart <= 0 || apart > CLOSE_START_MS) return false;
  return apart < AT_ONCE_MS || Math.abs(apart - (startAt - writer.startAt)) <= SAME_AGE_MS;
}

function isClose(writer: CounterWriter, { startAt }: CounterWriter): boolean {
  return Math.abs(writer.startAt - startAt) <= CLOSE_START_MS;
}
