import { type HandOver, startForHandOver } from '#modules/schedules/decide/rotation.ts';
import { fromEpochMilliseconds, type Temporal } from '#kernel/time.ts';
import type { ZoneClock } from '#kernel/zone_clock.ts';
import type { CarriedTurn, Layer, LayerTurn } from './layer.ts';
import { NEVER_MS, turnsOfLayer } from './layer_turns.ts';

type Instant = Temporal.Instant;

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
export function withTurnsAhead(layer: Layer, clock: ZoneClock): Layer {
  const { turns, carried } = layer;
  const [first, ...others] = turns;
  if (first === undefined) return layer;
  const ahead = { ...layer, turns: [...others, first] };
  if (!carried) return { ...ahead, carried: null };
  const following = turnsOfLayer(layer, clock).turnAt(carried.until.epochMilliseconds) ?? 0;
  return { ...ahead, carried: { ...carried, userIds: turns[following % turns.length]?.userIds ?? [] } };
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
