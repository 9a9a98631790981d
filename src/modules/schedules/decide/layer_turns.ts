import type { Layer, RotationUnit, TurnLength } from '#modules/schedules/decide/layer.ts';
import { FAR_FUTURE, Temporal } from '#kernel/time.ts';
import { monthsBetween } from '#kernel/wall_clock.ts';
import { DAY_MS, type ZoneClock } from '#kernel/zone_clock.ts';

/** End of time in milliseconds: a hand-over from then on never comes. */
export const NEVER_MS = FAR_FUTURE.epochMilliseconds;

/** Limit on the time from the start, beyond the end of time from any start; Temporal throws much further away. */
const YEARS_MAX = 500;
const LENGTH_MAX_MS = YEARS_MAX * 366 * DAY_MS;

const UNIT_MS: Record<Exclude<RotationUnit, 'months'>, number> = { hours: 3_600_000, days: DAY_MS, weeks: 7 * DAY_MS };

/** Size of the cache of starts: neighbouring turns are asked about again and again. */
const STARTS_CACHED = 32;

/**
 * Hand-overs of a layer, in milliseconds. Turn n begins n turns after the start by the wall clock, however long that
 * takes; a month that lacks the day of the start has it on its last. Turns tile time: each ends where the next begins,
 * and one that falls wholly into skipped time has no length.
 */
interface LayerTurns {
  /** Returns the start of a turn, never before that of turn n - 1; NEVER_MS when it never comes. */
  startOf(turn: number): number;
  /** Returns the time of the wall clock at which this hand-over would be, if the clock skips it; else null. */
  skippedWallOf(turn: number): number | null;
  /** The number of the turn that is running, or null before the start. Takes the same time however far away it is. */
  turnAt(ms: number): number | null;
}

export function turnsOfLayer(
  { rotation: { every, unit }, startsAt, startWall = null }: Pick<Layer, 'rotation' | 'startsAt' | 'startWall'>,
  clock: ZoneClock,
): LayerTurns {
  const start = startsAt.epochMilliseconds;
  const firstWall = startWall === null ? clock.wallOf(start) : wallMsOf(startWall);
  const wallOf = (turn: number): number => wallOfTurn(firstWall, { every, unit }, turn);
  const starts = new Map<number, number>();

  /** Returns the start of a turn that may lie behind those of its successors. */
  function unorderedStartOf(turn: number): number {
    const wall = wallOf(turn);
    const first = clock.instantOf(wall);
    // A rotation may start in the second pass of a repeated hour; what follows in that hour has its second pass, too.
    return first <= start ? clock.lastInstantOf(wall) : first;
  }

  function startOf(turn: number): number {
    const cached = starts.get(turn);
    if (cached !== undefined) return cached;
    if (starts.size === STARTS_CACHED) starts.clear();
    const begin = findStart(turn);
    starts.set(turn, begin);
    return begin;
  }

  function findStart(turn: number): number {
    if (turn === 0) return start;
    const moved = unorderedStartOf(turn);
    if (moved >= NEVER_MS) return NEVER_MS;
    let earliest = moved;
    // A hand-over moved out of skipped time may land behind its successors; then it gives way to them.
    const movedWall = clock.wallOf(moved);
    for (let later = turn + 1; wallOf(later) < movedWall; later += 1) {
      earliest = Math.min(earliest, unorderedStartOf(later));
    }
    return earliest;
  }

  const isRunning = (turn: number, at: number): boolean => startOf(turn) <= at && at < startOf(turn + 1);

  /** Last turn found: callers mostly ask for the next one. */
  let last = 0;

  function turnAt(ms: number): number | null {
    const at = Math.min(ms, NEVER_MS - 1);
    if (at < start) return null;
    last = isRunning(last + 1, at) ? last + 1 : isRunning(last, at) ? last : findTurn(at);
    return last;
  }

  function findTurn(at: number): number {
    // Exact but for skipped and repeated time near the instant, which is a few turns at most.
    let turn = Math.max(0, turnOfWall(clock.wallOf(at), firstWall, every, unit));
    while (startOf(turn + 1) <= at) turn += 1;
    while (startOf(turn) > at) turn -= 1;
    return turn;
  }

  function skippedWallOf(turn: number): number | null {
    const wall = wallOf(turn);
    return clock.wallOf(startOf(turn)) === wall ? null : wall;
  }

  return { startOf, turnAt, skippedWallOf };
}

function turnOfWall(wall: number, firstWall: number, every: number, unit: RotationUnit): number {
  if (unit !== 'months') return Math.floor((wall - firstWall) / (every * UNIT_MS[unit]));
  return Math.floor((monthsBetween(firstWall, wall) - 1) / every);
}

/**
 * Returns the wall clock's time so many turns after a time of it, or before it; 500 years away at most. A month that
 * lacks the day has it on its last.
 */
export function wallOfTurn(wall: number, { every, unit }: TurnLength, turn: number): number {
  if (unit !== 'months') return wall + Math.max(-LENGTH_MAX_MS, Math.min(turn * every * UNIT_MS[unit], LENGTH_MAX_MS));
  const months = Math.max(-YEARS_MAX * 12, Math.min(turn * every, YEARS_MAX * 12));
  const from = Temporal.Instant.fromEpochMilliseconds(wall).toZonedDateTimeISO('UTC').toPlainDateTime();
  return wallMsOf(from.add({ months }));
}

/** Returns a local date and time in milliseconds as if it were UTC's. */
export function wallMsOf(wall: Temporal.PlainDateTime | string): number {
  return Temporal.PlainDateTime.from(wall).toZonedDateTime('UTC').epochMilliseconds;
}
