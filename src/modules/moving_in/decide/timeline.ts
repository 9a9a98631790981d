import { DAY_MS, type ZoneClock } from '#kernel/zone_clock.ts';
import { instantOf, type RawObject, textOf } from '#modules/moving_in/decide/raw.ts';

/** Time in which the same people are on call, `[from, to)` in milliseconds, with the keys of the people in order. */
export interface Stretch {
  readonly from: number;
  readonly to: number;
  readonly people: readonly string[];
}

/** A time that somebody is on call, whatever others are. */
export interface Duty {
  readonly from: number;
  readonly to: number;
  readonly people: readonly string[];
  /** Rank: only the highest that holds at a time counts, and all of the same level are on call together. */
  readonly level: number;
}

export function keyOfPeople(people: readonly string[]): string {
  return [...new Set(people)].toSorted().join(' ');
}

/**
 * Lays duties over each other within `[from, to)`: at each instant those of the highest level, together. Gaps are
 * stretches of nobody, so the result tiles the window; neighbours differ.
 */
export function layOver(duties: readonly Duty[], from: number, to: number): Stretch[] {
  const within = duties.filter((duty) => duty.to > from && duty.from < to && duty.to > duty.from);
  const edges = [...new Set([from, to, ...within.flatMap((duty) => [duty.from, duty.to])])]
    .filter((edge) => edge >= from && edge <= to)
    .toSorted((a, b) => a - b);
  const byStart = within.toSorted((a, b) => a.from - b.from);
  const stretches: Stretch[] = [];
  let running: Duty[] = [];
  let next = 0;
  for (const [index, start] of edges.entries()) {
    const end = edges[index + 1];
    if (end === undefined) break;
    running = running.filter((duty) => duty.to > start);
    for (let duty = byStart[next]; duty !== undefined && duty.from <= start; duty = byStart[next]) {
      if (duty.to > start) running.push(duty);
      next += 1;
    }
    append(stretches, { from: start, to: end, people: peopleOf(running) });
  }
  return stretches;
}

function peopleOf(running: readonly Duty[]): string[] {
  let level = -Infinity;
  for (const duty of running) level = Math.max(level, duty.level);
  return [...new Set(running.filter((duty) => duty.level === level).flatMap(({ people }) => people))].toSorted();
}

/** Adds a stretch; one with the people of the last lengthens that. */
export function append(stretches: Stretch[], stretch: Stretch): void {
  const last = stretches.at(-1);
  if (last !== undefined && last.to === stretch.from && keyOfPeople(last.people) === keyOfPeople(stretch.people)) {
    stretches[stretches.length - 1] = { ...last, to: stretch.to };
  } else stretches.push(stretch);
}

/**
 * Returns the window that a rendered timeline was asked for: as the document or its path says, else from its first to
 * its last change; null if it has none, since an empty timeline without a window says nothing.
 */
export function renderedWindow(
  path: string,
  value: RawObject,
  edges: readonly number[],
): { from: number; to: number } | null {
  const from = momentIn(path, ['since', 'start_date', 'date']) ?? instantOf(textOf(value, 'since'));
  const to = momentIn(path, ['until', 'end_date']) ?? instantOf(textOf(value, 'until'));
  if (edges.length === 0) return from !== null && to !== null && to > from ? { from, to } : null;
  let [first, last] = [Infinity, -Infinity];
  for (const edge of edges) [first, last] = [Math.min(first, edge), Math.max(last, edge)];
  const window = {
    from: minuteAfter(from === null ? first : Math.min(from, first)),
    to: to === null ? last : Math.max(to, last),
  };
  return window.to > window.from ? window : null;
}

function minuteAfter(ms: number): number {
  return Math.ceil(ms / 60_000) * 60_000;
}

/** Finds a moment that a path names, as a query or as such a query is spelt in the name of a file. */
function momentIn(path: string, names: readonly string[]): number | null {
  for (const name of names) {
    const match = new RegExp(
      String.raw`(?:^|[^a-z]|and)${name}[=\-_]+(\d{4})-(\d\d)-(\d\d)(?:t(\d\d)(?:-3a|:|%3a|-)?(\d\d)(?:(?:-3a|:|%3a|-)?(\d\d))?(?:\.\d+)?(z|(?:-2b|\+|%2b|-2d)\d\d(?:-3a|:|%3a)?\d\d)?)?`,
    ).exec(path);
    if (match === null) continue;
    const [, year, month, day, hour = '00', minute = '00', second = '00', zone = 'z'] = match;
    const offset = zone
      .replaceAll(/-3a|%3a/g, ':')
      .replace(/^(-2b|%2b)/, '+')
      .replace(/^-2d/, '-');
    const ms = instantOf(`${year}-${month}-${day}T${hour}:${minute}:${second}${offset}`);
    if (ms !== null) return ms;
  }
  return null;
}

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
