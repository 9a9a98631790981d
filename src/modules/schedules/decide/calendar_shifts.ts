import { FAR_FUTURE, fromEpochMilliseconds, type Temporal } from '#kernel/time.ts';
import type { Layer } from '#modules/schedules/decide/layer.ts';
import type { LayeredSchedule, Shift } from '#modules/schedules/decide/layered_shifts.ts';
import { ZoneClock } from '#kernel/zone_clock.ts';
import { turnsOfLayer } from './layer_turns.ts';

type Instant = Temporal.Instant;

/** A shift with an end, as calendars need it. */
export type CalendarShift = Shift & { readonly until: Instant };

/** Length of a piece in hours, about a day, to which shorter turns of the same people are joined. */
const PIECE_HOURS_MIN = 24;

/**
 * Cuts shifts of a layer at its hand-overs, and yields the pieces that overlap `[from, to)`, at most `limit`. A piece
 * begins and ends where it does whatever the range is, so that a calendar that is read again later has the same events.
 */
export function* calendarShifts(
  shifts: readonly Shift[],
  { layers, timeZone, clock = new ZoneClock(timeZone) }: LayeredSchedule,
  { from, to, limit }: { readonly from: Instant; readonly to: Instant; readonly limit: number },
): Generator<CalendarShift, void, void> {
  const cutters = new Map(layers.map((layer) => [layer.id, cutter(layer, clock)]));
  const [start, last] = [from.epochMilliseconds, to.epochMilliseconds];
  let count = 0;
  for (const shift of shifts) {
    const end = (shift.until ?? FAR_FUTURE).epochMilliseconds;
    const cut = shift.source === 'rotation' ? cutters.get(shift.layerId ?? '') : undefined;
    let since = shift.since.epochMilliseconds;
    if (cut !== undefined && since < start) since = Math.max(since, cut(start).since);
    while (since < end && since < last && count < limit) {
      const until = Math.min(end, cut?.(since).until ?? end);
      yield { ...shift, since: fromEpochMilliseconds(since), until: fromEpochMilliseconds(until) };
      count += 1;
      since = until;
    }
  }
}

/** Returns a function for the turns around an instant that make one piece together. */
function cutter(layer: Layer, clock: ZoneClock): (at: number) => { readonly since: number; readonly until: number } {
  const turns = turnsOfLayer(layer, clock);
  const { every, unit } = layer.rotation;
  const turnsAPiece = unit === 'hours' ? Math.max(1, Math.ceil(PIECE_HOURS_MIN / every)) : 1;
  return (at) => {
    const turn = turns.turnAt(at);
    if (turn === null) return { since: -Infinity, until: turns.startOf(0) };
    const first = turn - (turn % turnsAPiece);
    return { since: turns.startOf(first), until: turns.startOf(first + turnsAPiece) };
  };
}
