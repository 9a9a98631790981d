import { type Duty, layOver, type Stretch } from '#modules/moving_in/decide/timeline.ts';
import { common, timesOfWeek, turnsBetween, type WeekWindow } from '#modules/moving_in/decide/walk.ts';
import type { ZoneClock } from '#kernel/zone_clock.ts';

/** A rotation, read. */
export interface OpsgenieRotation {
  readonly id: string;
  readonly name: string;
  readonly start: number;
  readonly end: number | null;
  /** `startDate` on the wall clock of the schedule. */
  readonly anchorWall: number;
  /** The digits of `startDate`, whatever zone they are in. */
  readonly writtenWall: number;
  readonly lengthMs: number;
  readonly windows: readonly WeekWindow[] | null;
  readonly turns: readonly (readonly string[])[];
}

export interface OpsgenieOverride {
  readonly from: number;
  readonly to: number;
  readonly people: readonly string[];
  /** Rotations that it replaces; null: all. */
  readonly rotationIds: readonly string[] | null;
}

/**
 * Tells who is on call within `[from, to)` by what Opsgenie's documentation says: each rotation has its own turns and
 * time restriction, all rotations are on call together, and an override replaces the rotations that it names.
 */
export function walkRotations(
  rotations: readonly OpsgenieRotation[],
  overrides: readonly OpsgenieOverride[],
  clock: ZoneClock,
  from: number,
  to: number,
): Stretch[] {
  const duties: Duty[] = [];
  for (const rotation of rotations) {
    const layered = rotationDuties(rotation, clock, from, to);
    for (const [index, override] of overrides.entries()) {
      if (override.rotationIds?.includes(rotation.id) === true) layered.push({ ...override, level: 1 + index });
    }
    for (const stretch of layOver(layered, from, to)) duties.push({ ...stretch, level: 0 });
  }
  for (const [index, override] of overrides.entries()) {
    if (override.rotationIds === null) duties.push({ ...override, level: 1 + index });
  }
  return layOver(
    duties.filter(({ people, level }) => people.length > 0 || level > 0),
    from,
    to,
  );
}

function rotationDuties(
  { start, end, anchorWall, lengthMs, windows, turns }: OpsgenieRotation,
  clock: ZoneClock,
  from: number,
  to: number,
): Duty[] {
  const [first, last] = [Math.max(from, start), Math.min(to, end ?? to)];
  if (first >= last) return [];
  const times = timesOfWeek(clock, windows, first, last);
  return common(turnsBetween(clock, anchorWall, lengthMs, first, last), times).map(({ turn, ...time }) => ({
    ...time,
    people: turns[((turn % turns.length) + turns.length) % turns.length] ?? [],
    level: 0,
  }));
}
