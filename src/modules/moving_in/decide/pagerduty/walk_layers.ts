import type { ReadOverride } from '#modules/moving_in/decide/add_schedule.ts';
import { type Duty, layOver, type Stretch } from '#modules/moving_in/decide/timeline.ts';
import { common, timesOfWeek, turnsBetween, type WeekWindow } from '#modules/moving_in/decide/walk.ts';
import type { ZoneClock } from '#kernel/zone_clock.ts';

/** A layer of a schedule of version 2, read. */
export interface PagerDutyLayer {
  readonly id: string;
  readonly name: string;
  /** Time of its last change: it is silent before. */
  readonly start: number;
  readonly end: number | null;
  /** `rotation_virtual_start`, from which turns are counted, on the wall clock. */
  readonly anchorWall: number;
  readonly lengthMs: number;
  readonly windows: readonly WeekWindow[] | null;
  /** Keys of the people, one for each turn; null: the account was deleted, so nobody can be paged. */
  readonly people: readonly (string | null)[];
}

/**
 * Tells who is on call within `[from, to)` by what PagerDuty's documentation says: turns are counted from
 * `rotation_virtual_start`, a layer holds from `start` until `end` and within its restrictions, the first one listed
 * lies over the others, and overrides lie over all.
 */
export function walkLayers(
  layers: readonly PagerDutyLayer[],
  overrides: readonly ReadOverride[],
  clock: ZoneClock,
  from: number,
  to: number,
): Stretch[] {
  const duties: Duty[] = [];
  for (const [index, layer] of layers.entries()) {
    const [begin, end] = [Math.max(from, layer.start), Math.min(to, layer.end ?? to)];
    if (begin >= end) continue;
    const { anchorWall, lengthMs, people, windows } = layer;
    const isAlone = people.every((person) => person === people[0]);
    const turns = isAlone ? [{ from: begin, to: end, turn: 0 }] : turnsBetween(clock, anchorWall, lengthMs, begin, end);
    for (const { turn, ...time } of common(turns, timesOfWeek(clock, windows, begin, end))) {
      const person = people[((turn % people.length) + people.length) % people.length];
      if (person !== null && person !== undefined)
        duties.push({ ...time, people: [person], level: layers.length - index });
    }
  }
  for (const [index, override] of overrides.entries()) duties.push({ ...override, level: layers.length + 1 + index });
  return layOver(duties, from, to);
}
