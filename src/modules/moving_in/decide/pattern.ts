import { daysOfMonth, monthsBetween, utcFieldsOf, utcMs } from '#kernel/wall_clock.ts';
import { DAY_MS } from '#kernel/zone_clock.ts';

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const WEEK_MS = 7 * DAY_MS;
export const WEEK_MINUTES = 7 * 24 * 60;

/** Part of a week in minutes from Monday 00:00, `[from, to)`. */
export interface WeekSpan {
  readonly from: number;
  readonly to: number;
}

/** Length of a turn, by the wall clock. */
type TurnLength = { readonly ms: number } | { readonly months: number };

/**
 * Turns that repeat by the wall clock of a schedule, and the hours in which they count: what a layer, a rotation, a
 * shift or a rule of another tool comes down to.
 */
export interface Pattern {
  readonly name: string;
  /** Rank: only the highest that holds at a time counts, and all of the same level are on call together. */
  readonly level: number;
  /** Beginning of the first turn on the wall clock, in milliseconds as if it were UTC's. */
  readonly anchorWall: number;
  readonly length: TurnLength;
  /** Keys of the people of each turn; an empty turn puts nobody on call. */
  readonly turns: readonly (readonly string[])[];
  /** Times of the week in which it counts; null: always. */
  readonly hours: readonly WeekSpan[] | null;
  /** Time before which it does not count, in milliseconds; null: it always has. */
  readonly from: number | null;
  /** Time from which it does not count; null: it never ends. */
  readonly until: number | null;
}

/**
 * Returns windows of the week, each as its start in minutes from Monday 00:00 and its length, as disjoint parts of one
 * week in order; null where they cover all of it.
 */
export function spansOf(windows: readonly { readonly start: number; readonly minutes: number }[]): WeekSpan[] | null {
  const parts: WeekSpan[] = [];
  for (const { start, minutes } of windows) {
    if (minutes >= WEEK_MINUTES) return null;
    const from = ((start % WEEK_MINUTES) + WEEK_MINUTES) % WEEK_MINUTES;
    const to = from + minutes;
    parts.push({ from, to: Math.min(to, WEEK_MINUTES) });
    if (to > WEEK_MINUTES) parts.push({ from: 0, to: to - WEEK_MINUTES });
  }
  const merged: WeekSpan[] = [];
  for (const part of parts.toSorted((a, b) => a.from - b.from)) {
    if (part.to <= part.from) continue;
    const last = merged.at(-1);
    if (last !== undefined && part.from <= last.to) {
      merged[merged.length - 1] = { from: last.from, to: Math.max(last.to, part.to) };
    } else merged.push(part);
  }
  const [first] = merged;
  return first !== undefined && first.from === 0 && first.to === WEEK_MINUTES ? null : merged;
}

/** Whether two lists of hours have a minute in common; null is always. */
export function haveCommonHours(a: readonly WeekSpan[] | null, b: readonly WeekSpan[] | null): boolean {
  if (a === null) return b === null || b.length > 0;
  if (b === null) return a.length > 0;
  return a.some((span) => b.some((other) => span.from < other.to && other.from < span.to));
}

export function greatestDivisor(a: number, b: number): number {
  let [big, small] = [Math.abs(a), Math.abs(b)];
  while (small > 0) [big, small] = [small, big % small];
  return big;
}

export function smallestMultiple(a: number, b: number): number {
  return (a / greatestDivisor(a, b)) * b;
}

/** Adds months to a time of the wall clock; a month that lacks the day has it on its last. */
function addMonths(wall: number, months: number): number {
  const { year, month, day } = utcFieldsOf(wall);
  const days = daysOfMonth(year, month + months);
  return utcMs(year, month + months, Math.min(day, days)) + (((wall % DAY_MS) + DAY_MS) % DAY_MS);
}

/** Returns the number of the turn that runs at a time of the wall clock; below 0 before the first. */
export function turnAtWall({ anchorWall, length }: Pick<Pattern, 'anchorWall' | 'length'>, wall: number): number {
  if ('ms' in length) return Math.floor((wall - anchorWall) / length.ms);
  let turn = Math.floor((monthsBetween(anchorWall, wall) - 1) / length.months) - 1;
  while (startOfTurn({ anchorWall, length }, turn + 1) <= wall) turn += 1;
  return turn;
}

/** Returns the beginning of a turn on the wall clock. */
export function startOfTurn({ anchorWall, length }: Pick<Pattern, 'anchorWall' | 'length'>, turn: number): number {
  return 'ms' in length ? anchorWall + turn * length.ms : addMonths(anchorWall, turn * length.months);
}

/** Gives patterns of the same name a number. */
export function namedApart(patterns: readonly Pattern[]): Pattern[] {
  const names: string[] = [];
  return patterns.map((pattern) => {
    let { name } = pattern;
    for (let number = 2; names.includes(name); number += 1) name = `${pattern.name} ${number}`;
    names.push(name);
    return { ...pattern, name };
  });
}

export const LAYERS_MAX = 10;
export const TURNS_MAX = 1_000;
export const WINDOWS_MAX = 50;

/**
 * Merges patterns that are on call together into patterns that never hold at the same time: one for each set of them
 * that begins and ends bring together, and hours, whose turns name the people of all. Says in the form that follows
 * "because" why not.
 */
export function mergePatterns(patterns: readonly Pattern[], since: number): Pattern[] | { readonly because: string } {
  const beginOf = ({ from }: Pattern): number => Math.max(from ?? since, since);
  const endOf = ({ until }: Pattern): number => until ?? Infinity;
  const edges = [...new Set(patterns.flatMap((pattern) => [beginOf(pattern), endOf(pattern)]))].toSorted(
    (a, b) => a - b,
  );
  const merged: Pattern[] = [];
  for (const [index, from] of edges.entries()) {
    const until = edges[index + 1];
    if (until === undefined) break;
    const running = patterns.filter((pattern) => beginOf(pattern) <= from && until <= endOf(pattern));
    for (const { members, hours } of setsOf(running)) {
      const turns = mergeTurns(members);
      if ('because' in turns) return turns;
      const names = members.map(({ name }) => name).join(' + ');
      merged.push({
        name: names.slice(0, 200),
        level: members[0]?.level ?? 0,
        ...turns,
        hours,
        from: from > since ? from : null,
        until: until === Infinity ? null : until,
      });
    }
  }
  return merged;
}

interface PatternSet {
  readonly members: readonly Pattern[];
  readonly hours: readonly WeekSpan[] | null;
}

/** Returns the sets of patterns that the hours of the week bring together, each with its hours. */
function setsOf(patterns: readonly Pattern[]): PatternSet[] {
  const edges = new Set([0, WEEK_MINUTES]);
  for (const { hours } of patterns) for (const { from, to } of hours ?? []) edges.add(from).add(to);
  const ordered = [...edges].toSorted((a, b) => a - b);
  const sets = new Map<string, { members: Pattern[]; hours: WeekSpan[] }>();
  for (const [index, from] of ordered.entries()) {
    const to = ordered[index + 1];
    if (to === undefined) break;
    const members = patterns.filter(
      ({ hours }) => hours === null || hours.some((span) => span.from <= from && to <= span.to),
    );
    if (members.length === 0) continue;
    const key = members.map((pattern) => patterns.indexOf(pattern)).join(' ');
    const set = sets.get(key) ?? { members, hours: [] };
    sets.set(key, set);
    const last = set.hours.at(-1);
    if (last !== undefined && last.to === from) set.hours[set.hours.length - 1] = { from: last.from, to };
    else set.hours.push({ from, to });
  }
  return [...sets.values()].map(({ members, hours }) => {
    const [only] = hours;
    const isAlways = only !== undefined && only.from === 0 && only.to === WEEK_MINUTES;
    return { members, hours: isAlways ? null : hours };
  });
}

/** Returns turns that name the people of all patterns at each time. */
function mergeTurns(
  members: readonly Pattern[],
): Pick<Pattern, 'anchorWall' | 'length' | 'turns'> | { readonly because: string } {
  const changing = members.filter(({ turns }) => turns.length > 1);
  const [first] = changing;
  if (first === undefined) {
    const people = [...new Set(members.flatMap(({ turns }) => turns[0] ?? []))];
    return { anchorWall: members[0]?.anchorWall ?? 0, length: { ms: WEEK_MS }, turns: [people] };
  }
  if (changing.length === 1 && members.length === 1) {
    const { anchorWall, length, turns } = first;
    return { anchorWall, length, turns };
  }
  let unit = 0;
  let period = 1;
  for (const { anchorWall, length, turns } of changing) {
    if ('months' in length) return { because: 'turns of months are on call together with others' };
    unit = greatestDivisor(greatestDivisor(unit, length.ms), anchorWall - first.anchorWall);
    period = smallestMultiple(period, length.ms * turns.length);
  }
  if (unit % HOUR_MS !== 0) return { because: 'rotations that are on call together change hands within an hour' };
  const count = period / unit;
  if (count > TURNS_MAX) return { because: `rotations that are on call together repeat after ${count} turns only` };
  const turns = Array.from({ length: count }, (_, index) => {
    const wall = first.anchorWall + index * unit;
    return [...new Set(members.flatMap((pattern) => peopleAtWall(pattern, wall)))];
  });
  return { anchorWall: first.anchorWall, length: { ms: unit }, turns };
}

function peopleAtWall(pattern: Pattern, wall: number): readonly string[] {
  if (pattern.turns.length === 1) return pattern.turns[0] ?? [];
  const turn = turnAtWall(pattern, wall);
  return pattern.turns[((turn % pattern.turns.length) + pattern.turns.length) % pattern.turns.length] ?? [];
}
