import type { Id } from '#kernel/ids.ts';
import { FAR_FUTURE, fromEpochMilliseconds, Temporal } from '#kernel/time.ts';
import { monthsBetween } from '#kernel/wall_clock.ts';
import { DAY_MS, type ZoneClock } from '#kernel/zone_clock.ts';
import {
  type CarriedTurn,
  FIRST_LAYER,
  type Layer,
  type LayerTurn,
  type RotationUnit,
  type TurnLength,
} from './layer.ts';

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

/** Whether the people in turn or the length of a turn differ. */
export function changesTurns(before: Layer, after: Layer): boolean {
  return (
    before.rotation.every !== after.rotation.every ||
    before.rotation.unit !== after.rotation.unit ||
    before.turns.length !== after.turns.length ||
    before.turns.some((turn, index) => !areSame(turn, after.turns[index]))
  );
}

/**
 * Returns a layer with other people or another length of turns so that the present turn ends when it was to, and the
 * turn that follows it in the new order begins then. What has no present turn is returned as it is.
 */
export function keepTurn(before: Layer, after: Layer, clock: ZoneClock, now: Instant): Layer {
  const current = currentTurn(before, clock, now.epochMilliseconds);
  if (current === null || current.until.epochMilliseconds >= NEVER_MS || after.turns.length === 0) return after;
  const { until: at, untilWall: skippedWall } = current;
  const handOver: HandOver = { at, position: positionAfter(before, current, after), skippedWall };
  const startsAt = startForHandOver(after, clock, handOver, before.startsAt);
  if (startsAt === null) return after;
  const kept: Layer = { ...after, startsAt, startWall: null, carried: null };
  const then = currentTurn(kept, clock, now.epochMilliseconds);
  const isSame = then !== null && areSame(then, current) && then.until.equals(current.until);
  if (isSame) return kept;
  const { userIds, since, until } = current;
  return { ...kept, carried: { userIds, since, until } };
}

interface CurrentTurn extends CarriedTurn {
  /** Number of the turn; null for one that was carried. */
  readonly turn: number | null;
  /** Time of the wall clock, in milliseconds, that the clocks skip at `until`; null if they do not. */
  readonly untilWall: number | null;
}

/** Returns the turn of a layer that is running, whatever its hours; null before its start and after its end. */
export function currentTurn(layer: Layer, clock: ZoneClock, now: number): CurrentTurn | null {
  const { carried, turns, endsAt } = layer;
  if (endsAt !== null && endsAt.epochMilliseconds <= now) return null;
  const handOvers = turnsOfLayer(layer, clock);
  if (carried && carried.since.epochMilliseconds <= now && now < carried.until.epochMilliseconds) {
    const following = handOvers.turnAt(carried.until.epochMilliseconds);
    return { ...carried, turn: null, untilWall: following === null ? null : handOvers.skippedWallOf(following) };
  }
  const turn = handOvers.turnAt(now);
  if (turn === null || turns.length === 0) return null;
  return {
    userIds: turns[turn % turns.length]?.userIds ?? [],
    since: fromEpochMilliseconds(handOvers.startOf(turn)),
    until: fromEpochMilliseconds(Math.min(handOvers.startOf(turn + 1), NEVER_MS)),
    turn,
    untilWall: handOvers.skippedWallOf(turn + 1),
  };
}

/** Returns a layer in which everybody takes the turn that the layer has next: whose turn follows in one is on call in the other. */
export function withTurnsAhead(layer: Layer): Layer {
  const [first, ...others] = layer.turns;
  if (first === undefined) return layer;
  const { carried } = layer;
  return { ...layer, turns: [...others, first], carried: carried ? { ...carried, userIds: first.userIds } : null };
}

/** Returns the position in the new order of the turn that follows the current one. */
function positionAfter(before: Layer, current: CurrentTurn, after: Layer): number {
  const count = after.turns.length;
  const index = current.turn === null ? -1 : current.turn % before.turns.length;
  const same = after.turns[index];
  if (same !== undefined && overlap(same, current)) return (index + 1) % count;
  const alike = after.turns.findIndex((turn) => areSame(turn, current));
  const shared = alike === -1 ? after.turns.findIndex((turn) => overlap(turn, current)) : alike;
  if (shared !== -1) return (shared + 1) % count;
  // The present people are in no turn any more: whoever would have followed goes on, if they are still in one.
  for (let ahead = 1; ahead <= before.turns.length; ahead += 1) {
    const next = before.turns[(index + ahead) % before.turns.length];
    const position = after.turns.findIndex((turn) => next !== undefined && overlap(turn, next));
    if (position !== -1) return position;
  }
  return 0;
}

function areSame(a: LayerTurn, b: LayerTurn | undefined): boolean {
  if (b === undefined) return false;
  return a.userIds.every((id) => b.userIds.includes(id)) && b.userIds.every((id) => a.userIds.includes(id));
}

function overlap(a: LayerTurn, b: LayerTurn): boolean {
  return a.userIds.some((userId) => b.userIds.includes(userId)) || (a.userIds.length === 0 && b.userIds.length === 0);
}
