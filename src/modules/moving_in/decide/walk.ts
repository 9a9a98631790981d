import { DAY_MS, type ZoneClock } from '#kernel/zone_clock.ts';

const MINUTE_MS = 60_000;
const WEEK_MS = 7 * DAY_MS;
/** A Monday, 1970-01-05. */
const MONDAY_MS = 4 * DAY_MS;

export interface Interval {
  readonly from: number;
  readonly to: number;
}

/** Window of the week: minutes from Monday 00:00, and how long it takes. */
export interface WeekWindow {
  readonly start: number;
  readonly minutes: number;
}

/** Returns the parts of `[from, to)` between two changes of clocks, each with its offset from UTC. */
function segmentsOf(clock: ZoneClock, from: number, to: number): (Interval & { readonly offset: number })[] {
  const segments: (Interval & { readonly offset: number })[] = [];
  for (let at = from; at < to;) {
    const end = clock.firstChange(at, to) ?? to;
    segments.push({ from: at, to: end, offset: clock.wallOf(at) - at });
    at = end;
  }
  return segments;
}

/**
 * Returns the times within `[from, to)` at which the wall clock is in one of the windows; null: always. A walk by the
 * rules of a tool shares nothing but the clock with what decides who is on call here, so that a proof proves something.
 */
export function timesOfWeek(
  clock: ZoneClock,
  windows: readonly WeekWindow[] | null,
  from: number,
  to: number,
): Interval[] {
  if (windows === null) return [{ from, to }];
  const times: Interval[] = [];
  for (const segment of segmentsOf(clock, from, to)) {
    const [first, last] = [segment.from + segment.offset, segment.to + segment.offset];
    for (const { start, minutes } of windows) {
      const length = minutes * MINUTE_MS;
      const offset = MONDAY_MS + start * MINUTE_MS;
      let week = Math.floor((first - length - offset) / WEEK_MS);
      for (; week * WEEK_MS + offset < last; week += 1) {
        const begin = Math.max(first, week * WEEK_MS + offset);
        const end = Math.min(last, week * WEEK_MS + offset + length);
        if (end > begin) times.push({ from: begin - segment.offset, to: end - segment.offset });
      }
    }
  }
  return times;
}

/** Returns the turns within `[from, to)`; each begins at its time of the wall clock. Turns before the first count down. */
export function turnsBetween(
  clock: ZoneClock,
  anchorWall: number,
  lengthMs: number,
  from: number,
  to: number,
): (Interval & { readonly turn: number })[] {
  const turns: (Interval & { readonly turn: number })[] = [];
  let turn = Math.floor((clock.wallOf(from) - anchorWall) / lengthMs) - 1;
  let begin = clock.instantOf(anchorWall + turn * lengthMs);
  while (begin < to) {
    const end = clock.instantOf(anchorWall + (turn + 1) * lengthMs);
    if (end > from && end > begin) turns.push({ from: Math.max(from, begin), to: Math.min(to, end), turn });
    begin = Math.max(begin, end);
    turn += 1;
  }
  return turns;
}

/** Returns the common parts of two lists of intervals. */
export function common<A extends Interval>(list: readonly A[], others: readonly Interval[]): A[] {
  const parts: A[] = [];
  const [left, right] = [list.toSorted(byStart), others.toSorted(byStart)];
  let first = 0;
  for (const a of left) {
    while (first < right.length && isBefore(right[first], a.from)) first += 1;
    for (let index = first; index < right.length; index += 1) {
      const b = right[index];
      if (b === undefined || b.from >= a.to) break;
      const [from, to] = [Math.max(a.from, b.from), Math.min(a.to, b.to)];
      if (to > from) parts.push({ ...a, from, to });
    }
  }
  return parts;
}

function isBefore(interval: Interval | undefined, at: number): boolean {
  return interval !== undefined && interval.to <= at;
}

function byStart(a: Interval, b: Interval): number {
  return a.from - b.from;
}
