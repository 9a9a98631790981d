import { FAR_FUTURE, isAtOrBefore, Temporal } from '#kernel/time.ts';

import { handOversOf } from './hand_overs.ts';
import { type Rotation, turnHoursOf } from './rotation.ts';

type Instant = Temporal.Instant;

/** A hand-over: the person at this position of the rotation, counted from 0, takes over at this instant. */
export interface HandOver {
  readonly at: Instant;
  readonly position: number;
}

const FIRST = Temporal.Instant.fromEpochMilliseconds(0);
/** Limit on the rounds that are tried when one would begin at a time that the clock skips. */
const TRIES = 400;

/**
 * Computes the start of a rotation that has this hand-over. It moves back by whole rounds until it is not after
 * `notAfter`, so that a rotation which runs already goes on running; null: it stays as near as it can. Nothing starts
 * before 1970. Returns null when the hand-over is too far into the round for that.
 */
export function startForHandOver(
  rotation: Omit<Rotation, 'startAt'>,
  { at, position }: HandOver,
  notAfter: Instant | null,
): Instant | null {
  if (rotation.userIds.length === 0) return at;
  if (position === 0 && (notAfter === null || isAtOrBefore(at, notAfter))) return at;
  const turnHours = turnHoursOf(rotation);
  const roundHours = turnHours * rotation.userIds.length;
  const wall = at.toZonedDateTimeISO(rotation.timezone).toPlainDateTime();
  const hoursSince = (instant: Instant): number =>
    instant.toZonedDateTimeISO(rotation.timezone).toPlainDateTime().until(wall, { largestUnit: 'hour' }).hours;
  const hoursMax = hoursSince(FIRST);
  const hoursOf = (rounds: number): number => position * turnHours + rounds * roundHours;
  const hoursWanted = notAfter === null ? 0 : hoursSince(notAfter);
  const roundsWanted = Math.max(0, Math.ceil((hoursWanted - hoursOf(0)) / roundHours));
  const roundsMax = Math.floor((hoursMax - hoursOf(0)) / roundHours);

  let found: Instant | null = null;
  const first = Math.max(0, Math.min(roundsWanted, roundsMax));
  for (let rounds = first; rounds <= roundsMax && rounds < first + TRIES; rounds += 1) {
    const start = wall.subtract({ hours: hoursOf(rounds) });
    const moved = start.toZonedDateTime(rotation.timezone);
    // A start in skipped time would move every hand-over with it.
    if (!moved.toPlainDateTime().equals(start)) continue;
    found = moved.toInstant();
    if (notAfter === null || isAtOrBefore(found, notAfter)) break;
  }
  return found;
}

/**
 * Returns the next hand-over after `now`, or the first; null when there is none. Somebody may take over from
 * themselves. One whose time the clock skips is passed over: the rotation could not be counted from it.
 */
export function nextHandOver(rotation: Rotation, now: Instant): HandOver | null {
  const { userIds } = rotation;
  if (userIds.length === 0) return null;
  const handOvers = handOversOf(rotation, turnHoursOf(rotation));
  let turn = (handOvers.turnAt(now) ?? -1) + 1;
  while (handOvers.isMoved(turn) && !isAtOrBefore(FAR_FUTURE, handOvers.startOf(turn))) turn += 1;
  const at = handOvers.startOf(turn);
  return isAtOrBefore(FAR_FUTURE, at) ? null : { at, position: turn % userIds.length };
}
