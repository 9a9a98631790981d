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
export type TurnLength = { readonly ms: number } | { readonly months: number };

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
export function addMonths(wall: number, months: number): number {
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
