import type { Id } from '#kernel/ids.ts';
import { FAR_FUTURE, isAtOrBefore, type Temporal } from '#kernel/time.ts';

import { type HandOvers, handOversOf } from './hand_overs.ts';

type Instant = Temporal.Instant;
type UserId = Id<'user'>;

export const ROTATION_TYPES = ['daily', 'weekly'] as const;

export type RotationType = (typeof ROTATION_TYPES)[number];

const TURN_HOURS: Record<RotationType, number> = { daily: 24, weekly: 7 * 24 };

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

/** Whether a user still belongs to the organization. */
export type IsPresent = (userId: UserId) => boolean;

/**
 * Time of one person on call by the rotation, `[since, until)`: consecutive turns of the same person are one, because
 * nothing changes hands between them. `until` is null when nobody else ever takes over.
 */
export interface Turn {
  readonly userId: UserId;
  readonly since: Instant;
  readonly until: Instant | null;
}

/** Finds whose turn it is at an instant; null before `startAt` and when nobody of the rotation is left. */
export function turnFinder(rotation: Rotation, isPresent: IsPresent): (at: Instant) => Turn | null {
  const round = peopleOfRound(rotation.userIds, isPresent);
  const handOvers = handOversOf(rotation, turnHoursOf(rotation));
  const isAlone = new Set(round).size === 1;

  return (at) => {
    const turn = handOvers.turnAt(at);
    const userId = turn === null ? undefined : round[turn % round.length];
    if (turn === null || userId === undefined) return null;
    if (isAlone) return { userId, since: rotation.startAt, until: null };
    return { userId, since: startOfStretch(handOvers, round, turn), until: endOfStretch(handOvers, round, turn) };
  };
}

/**
 * Assigns the turns of one round. The turn of somebody who has left goes to the next person in order who is still
 * there: so everybody else keeps their own turns when somebody leaves.
 */
function peopleOfRound(userIds: readonly UserId[], isPresent: IsPresent): UserId[] {
  const present = new Set(userIds.filter((userId) => isPresent(userId)));
  let next = userIds.find((userId) => present.has(userId));
  if (next === undefined) return [];
  const round: UserId[] = [];
  for (const userId of userIds.toReversed()) {
    if (present.has(userId)) next = userId;
    round.push(next);
  }
  return round.reverse();
}

/** Returns the length of a turn, in hours of the wall clock. */
export function turnHoursOf({ shiftHours, rotationType }: Pick<Rotation, 'shiftHours' | 'rotationType'>): number {
  return shiftHours !== null && shiftHours >= 1 ? shiftHours : TURN_HOURS[rotationType];
}

function startOfStretch(handOvers: HandOvers, round: readonly UserId[], turn: number): Instant {
  let first = turn;
  for (let earlier = turn - 1; earlier >= 0; earlier -= 1) {
    if (isSamePerson(round, earlier, turn)) first = earlier;
    else if (hasLength(handOvers, earlier)) break;
  }
  return handOvers.startOf(first);
}

/** Returns the end of consecutive turns of one person; null when it never comes. */
function endOfStretch(handOvers: HandOvers, round: readonly UserId[], turn: number): Instant | null {
  for (let next = turn + 1; ; next += 1) {
    if (isSamePerson(round, next, turn)) continue;
    const end = handOvers.startOf(next);
    if (isAtOrBefore(FAR_FUTURE, end)) return null;
    if (hasLength(handOvers, next)) return end;
  }
}

function isSamePerson(round: readonly UserId[], turnA: number, turnB: number): boolean {
  return round[turnA % round.length] === round[turnB % round.length];
}

function hasLength(handOvers: HandOvers, turn: number): boolean {
  return !handOvers.startOf(turn).equals(handOvers.startOf(turn + 1));
}
