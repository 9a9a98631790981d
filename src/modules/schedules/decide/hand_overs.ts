import { FAR_FUTURE, isAtOrBefore, Temporal } from '#kernel/time.ts';

type Instant = Temporal.Instant;

/**
 * Limit on the hours from the start, beyond FAR_FUTURE from any start: a hand-over further away never comes, and
 * Temporal throws much further away.
 */
const HOURS_MAX = 24 * 366 * 500;

/**
 * Size of the cache of starts: neighbouring turns are asked about again and again, and each costs some lookups in the
 * rules of the time zone.
 */
const STARTS_REMEMBERED = 32;

const LAST_INSTANT = FAR_FUTURE.subtract({ milliseconds: 1 });

/** Start from which a rotation is counted; see `Rotation`. */
interface Start {
  readonly startAt: Instant;
  readonly startWall?: string | null;
  readonly timezone: string;
}

/**
 * Hand-overs of a rotation. Turn n begins n turns after `startAt` by the wall clock, however long that takes. Turns
 * tile time: each ends where the next begins, and one that falls wholly into skipped time has no length.
 */
export interface HandOvers {
  /** Returns the start of a turn, never before that of turn n - 1; FAR_FUTURE when it never comes. */
  startOf(turn: number): Instant;
  /** Whether the clock skips the time of this hand-over, so that it comes at another. */
  isMoved(turn: number): boolean;
  /** The number of the turn that is running, or null before `startAt`. Takes the same time however far away it is. */
  turnAt(instant: Instant): number | null;
}

export function handOversOf({ startAt, startWall = null, timezone: timeZone }: Start, turnHours: number): HandOvers {
  const firstWall =
    startWall === null
      ? startAt.toZonedDateTimeISO(timeZone).toPlainDateTime()
      : Temporal.PlainDateTime.from(startWall);
  const wallOf = (turn: number): Temporal.PlainDateTime =>
    firstWall.add({ hours: Math.min(turn * turnHours, HOURS_MAX) });

  function unorderedStartOf(turn: number): Temporal.ZonedDateTime {
    const wall = wallOf(turn);
    const start = wall.toZonedDateTime(timeZone, { disambiguation: 'compatible' });
    // A rotation may start in the second pass of a repeated hour; what follows in that hour has its second pass, too.
    return isAtOrBefore(start.toInstant(), startAt)
      ? wall.toZonedDateTime(timeZone, { disambiguation: 'later' })
      : start;
  }

  const starts = new Map<number, Instant>();

  function startOf(turn: number): Instant {
    const known = starts.get(turn);
    if (known !== undefined) return known;
    if (starts.size === STARTS_REMEMBERED) starts.clear();
    const start = findStart(turn);
    starts.set(turn, start);
    return start;
  }

  function findStart(turn: number): Instant {
    if (turn === 0) return startAt;
    const moved = unorderedStartOf(turn);
    let earliest = moved.toInstant();
    if (isAtOrBefore(FAR_FUTURE, earliest)) return FAR_FUTURE;
    // A hand-over moved out of skipped time may land behind its successors; then it gives way to them.
    const movedWall = moved.toPlainDateTime();
    for (let later = turn + 1; Temporal.PlainDateTime.compare(wallOf(later), movedWall) < 0; later += 1) {
      const start = unorderedStartOf(later).toInstant();
      if (isAtOrBefore(start, earliest)) earliest = start;
    }
    return earliest;
  }

  function isMoved(turn: number): boolean {
    return !startOf(turn).toZonedDateTimeISO(timeZone).toPlainDateTime().equals(wallOf(turn));
  }

  const isRunning = (turn: number, at: Instant): boolean =>
    isAtOrBefore(startOf(turn), at) && !isAtOrBefore(startOf(turn + 1), at);

  /** Last turn found: callers mostly ask for the next one. */
  let found = 0;

  function turnAt(instant: Instant): number | null {
    const at = isAtOrBefore(instant, LAST_INSTANT) ? instant : LAST_INSTANT;
    if (!isAtOrBefore(startAt, at)) return null;
    found = isRunning(found + 1, at) ? found + 1 : isRunning(found, at) ? found : findTurn(at);
    return found;
  }

  function findTurn(at: Instant): number {
    const wall = at.toZonedDateTimeISO(timeZone).toPlainDateTime();
    const hours = firstWall.until(wall, { largestUnit: 'hour', smallestUnit: 'hour' }).hours;
    // Exact but for skipped and repeated hours near the instant, which are a few turns at most.
    let turn = Math.max(0, Math.floor(hours / turnHours));
    while (isAtOrBefore(startOf(turn + 1), at)) turn += 1;
    while (!isAtOrBefore(startOf(turn), at)) turn -= 1;
    return turn;
  }

  return { startOf, isMoved, turnAt };
}
