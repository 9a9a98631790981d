import { FAR_FUTURE, isAtOrBefore, type Temporal } from '#kernel/time.ts';

import { handOversOf } from './hand_overs.ts';
import { type Rotation, turnHoursOf } from './rotation.ts';
import type { Shift } from './shift.ts';

type Instant = Temporal.Instant;

/** A shift with an end, as calendars need it. */
export type CalendarShift = Shift & { readonly until: Instant };

/** Length of a piece in hours, about a day, to which shorter turns of the same person are joined. */
const PIECE_HOURS_MIN = 24;

/**
 * Cuts shifts of the rotation at its hand-overs, and yields the pieces that overlap `[from, to)`, at most `limit`. A
 * piece begins and ends where it does whatever the range is, so that a calendar that is read again later has the same
 * events.
 */
export function* calendarShifts(
  shifts: readonly Shift[],
  rotation: Rotation,
  { from, to, limit }: { readonly from: Instant; readonly to: Instant; readonly limit: number },
): Generator<CalendarShift, void, void> {
  const turnHours = turnHoursOf(rotation);
  const handOvers = handOversOf(rotation, turnHours);
  const turnsAPiece = Math.max(1, Math.ceil(PIECE_HOURS_MIN / turnHours));
  let count = 0;
  for (const shift of shifts) {
    const end = shift.until ?? FAR_FUTURE;
    let since = shift.since;
    let turn = shift.source === 'rotation' ? handOvers.turnAt(isAtOrBefore(since, from) ? from : since) : null;
    if (turn !== null) {
      turn -= turn % turnsAPiece;
      const first = handOvers.startOf(turn);
      if (isAtOrBefore(since, first)) since = first;
    }
    while (!isAtOrBefore(end, since) && !isAtOrBefore(to, since) && count < limit) {
      const next: Instant = turn === null ? end : handOvers.startOf(turn + turnsAPiece);
      const until = isAtOrBefore(end, next) ? end : next;
      if (!until.equals(since)) {
        yield { ...shift, since, until };
        count += 1;
      }
      since = until;
      if (turn !== null) turn += turnsAPiece;
    }
  }
}
