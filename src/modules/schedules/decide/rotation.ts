import type { Id } from '#kernel/ids.ts';
import { fromEpochMilliseconds, type Temporal } from '#kernel/time.ts';
import type { ZoneClock } from '#kernel/zone_clock.ts';
import { FIRST_LAYER, type Layer, type TurnLength } from '#modules/schedules/decide/layer.ts';
import { NEVER_MS, turnsOfLayer, wallOfTurn } from '#modules/schedules/decide/layer_turns.ts';

type Instant = Temporal.Instant;
type UserId = Id<'user'>;

export const ROTATION_TYPES = ['daily', 'weekly'] as const;

export type RotationType = (typeof ROTATION_TYPES)[number];

const TURN_LENGTHS: Record<RotationType, TurnLength> = {
  daily: { every: 1, unit: 'days' },
  weekly: { every: 1, unit: 'weeks' },
};

/** The contract's rotation: the first layer of a schedule. */
export interface Rotation {
  /** IANA name of the time zone. */
  readonly timezone: string;
  readonly rotationType: RotationType;
  /** People in the order of their turns; somebody listed twice has two turns. If empty, nobody is on call. */
  readonly userIds: readonly UserId[];
  /** Length of a turn in hours of the wall clock, 1 or more, in place of the usual one; null or less has no effect. */
  readonly shiftHours: number | null;
  readonly startAt: Instant;
  /** Local date and time that the clocks skipped at `startAt`: hand-overs keep it. Null or absent if they did not. */
  readonly startWall?: string | null;
}

function turnLengthOf({ shiftHours, rotationType }: Pick<Rotation, 'shiftHours' | 'rotationType'>): TurnLength {
  return shiftHours !== null && shiftHours >= 1 ? { every: shiftHours, unit: 'hours' } : TURN_LENGTHS[rotationType];
}

export function layerOfRotation(rotation: Omit<Rotation, 'timezone'>): Layer {
  const { userIds, startAt, startWall = null } = rotation;
  return {
    id: FIRST_LAYER,
    name: 'Rotation',
    rotation: turnLengthOf(rotation),
    turns: userIds.map((userId) => ({ userIds: [userId] })),
    startsAt: startAt,
    startWall,
    endsAt: null,
    hours: null,
    holidays: null,
  };
}

/** A hand-over: the turn at this position of the layer, counted from 0, begins at this instant. */
export interface HandOver {
  readonly at: Instant;
  readonly position: number;
  /** Time of the wall clock, in milliseconds, that the clocks skip at `at`; null or absent if they do not. */
  readonly skippedWall?: number | null;
}

/** Limit on the rounds that are tried when one would begin at a time that the clock skips. */
const TRIES = 400;

/**
 * Computes the start of a layer that has this hand-over. It moves back by whole rounds until it is not after `notAfter`,
 * so that a layer which runs already goes on running; null: it stays as near as it can. Nothing starts before 1970.
 * Returns null when the hand-over is too far into the round for that.
 */
export function startForHandOver(
  { rotation, turns }: Pick<Layer, 'rotation' | 'turns'>,
  clock: ZoneClock,
  { at, position, skippedWall = null }: HandOver,
  notAfter: Instant | null,
): Instant | null {
  if (turns.length === 0) return at;
  const limit = notAfter === null ? Infinity : notAfter.epochMilliseconds;
  if (position === 0 && at.epochMilliseconds <= limit) return at;
  const wall = skippedWall ?? clock.wallOf(at.epochMilliseconds);
  const roundMs = wall - wallOfTurn(wall, rotation, -turns.length);
  const wanted = limit === Infinity ? 0 : wall - clock.wallOf(limit);
  const positionMs = wall - wallOfTurn(wall, rotation, -position);
  // Months differ in length: one round less than the estimate, and on from there.
  const first = Math.max(0, Math.ceil((wanted - positionMs) / roundMs) - (rotation.unit === 'months' ? 1 : 0));
  let startsAt: Instant | null = null;
  for (
    let rounds = Math.min(first, roundsUntil1970(wall - positionMs, roundMs)), tries = 0;
    tries < TRIES;
    rounds += 1
  ) {
    tries += 1;
    const turn = position + rounds * turns.length;
    const startWall = wallOfTurn(wall, rotation, -turn);
    const start = clock.instantOf(startWall);
    if (start < 0) break;
    // A start in skipped time would move every hand-over with it; some days are not in every month.
    if (clock.wallOf(start) !== startWall || wallOfTurn(startWall, rotation, turn) !== wall) continue;
    startsAt = fromEpochMilliseconds(start);
    if (start <= limit) break;
  }
  return startsAt;
}

function roundsUntil1970(wallMs: number, roundMs: number): number {
  return Math.max(0, Math.floor(wallMs / roundMs));
}

/**
 * Returns the next hand-over after `now`, or the first; null when there is none. Somebody may take over from
 * themselves. One whose time the clock skips is passed over: the layer could not be counted from it.
 */
export function nextHandOver(layer: Layer, clock: ZoneClock, now: Instant): HandOver | null {
  if (layer.turns.length === 0) return null;
  const turns = turnsOfLayer(layer, clock);
  let turn = (turns.turnAt(now.epochMilliseconds) ?? -1) + 1;
  while (turns.skippedWallOf(turn) !== null && turns.startOf(turn) < NEVER_MS) turn += 1;
  const at = turns.startOf(turn);
  return at >= NEVER_MS ? null : { at: fromEpochMilliseconds(at), position: turn % layer.turns.length };
}
