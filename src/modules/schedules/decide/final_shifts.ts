import { FAR_FUTURE, isAtOrBefore, type Temporal } from '#kernel/time.ts';

import { type CoveredTime, type Override, overrideLayer } from './overrides.ts';
import { type IsPresent, type Rotation, type Turn, turnFinder } from './rotation.ts';
import type { Shift } from './shift.ts';

type Instant = Temporal.Instant;

/**
 * Yields the final layer, rotation below and overrides above: every shift that ends after `from`, oldest first, without
 * end when people take turns. The first one has its true start, also before `from`.
 */
export function* finalShifts(
  rotation: Rotation,
  overrides: readonly Override[],
  from: Instant,
  isPresent: IsPresent,
): Generator<Shift, void, void> {
  const findTurn = turnFinder(rotation, isPresent);
  const layer = overrideLayer(overrides, isPresent);
  let above = layer.findIndex((covered) => !isAtOrBefore(covered.until, from));
  if (above === -1) above = layer.length;

  for (let at: Instant | null = from; at !== null;) {
    const covered = layer[above];
    if (covered && isAtOrBefore(covered.since, at)) {
      yield { ...covered, source: 'override' };
      at = covered.until;
      above += 1;
      continue;
    }
    const turn = findTurn(at);
    if (turn) {
      const shift = visiblePart(turn, layer[above - 1], covered);
      yield shift;
      at = shift.until;
    } else {
      // Nobody is on call yet: the next turn and the next override both lie ahead.
      at = earliest(covered?.since, findTurn(rotation.startAt)?.since);
    }
  }
}

/**
 * Returns the final shifts that overlap `[from, to)`, with their true limits, which may be outside; at most `limit`.
 */
export function finalShiftsBetween(
  rotation: Rotation,
  overrides: readonly Override[],
  from: Instant,
  to: Instant,
  isPresent: IsPresent,
  limit: number,
): Shift[] {
  return [...eachFinalShiftBetween(rotation, overrides, from, to, isPresent, limit)];
}

/** Yields the shifts of `finalShiftsBetween` one after the other. */
export function* eachFinalShiftBetween(
  rotation: Rotation,
  overrides: readonly Override[],
  from: Instant,
  to: Instant,
  isPresent: IsPresent,
  limit: number,
): Generator<Shift, void, void> {
  let count = 0;
  for (const shift of finalShifts(rotation, overrides, from, isPresent)) {
    if (count === limit || isAtOrBefore(to, shift.since)) break;
    count += 1;
    yield shift;
  }
}

/** Returns the part of a turn that shows between two overrides. */
function visiblePart(turn: Turn, before: CoveredTime | undefined, after: CoveredTime | undefined): Shift {
  const since = before && isAtOrBefore(turn.since, before.until) ? before.until : turn.since;
  const until = after && isAtOrBefore(after.since, turn.until ?? FAR_FUTURE) ? after.since : turn.until;
  return { userId: turn.userId, source: 'rotation', since, until };
}

function earliest(a: Instant | undefined, b: Instant | undefined): Instant | null {
  if (a === undefined || b === undefined) return a ?? b ?? null;
  return isAtOrBefore(a, b) ? a : b;
}
