import type { HomeSchedule } from '#console/api/home.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

/** Part of the day during which the same people are on call, or nobody. */
export interface DayPart {
  /** Names; null if nobody is on call. */
  readonly name: string | null;
  readonly userIds: readonly string[];
  readonly source: 'rotation' | 'override' | null;
  readonly fromMs: number;
  readonly untilMs: number;
  /** Share of the 24 hours, from 0 to 1. */
  readonly share: number;
}

/** Returns the 24 hours from `startMs` in parts, without a gap: where nobody is on call, a part says so. */
export function dayParts(shifts: HomeSchedule['shifts'], startMs: number): DayPart[] {
  const endMs = startMs + DAY_MS;
  const parts: DayPart[] = [];
  const add = (part: Omit<DayPart, 'share'>): void => {
    if (part.untilMs > part.fromMs) parts.push({ ...part, share: (part.untilMs - part.fromMs) / DAY_MS });
  };
  const nobody = { name: null, userIds: [], source: null };
  let atMs = startMs;
  for (const { userIds, name, since, until, source } of shifts) {
    const fromMs = Math.max(Date.parse(since), atMs);
    const untilMs = Math.min(until === null ? endMs : Date.parse(until), endMs);
    if (untilMs <= fromMs) continue;
    add({ ...nobody, fromMs: atMs, untilMs: fromMs });
    add({ name, userIds, source, fromMs, untilMs });
    atMs = untilMs;
  }
  add({ ...nobody, fromMs: atMs, untilMs: endMs });
  return parts;
}
