/**
 * The obvious reference for who is on call: it knows instants as whole minutes and the clock on the wall as Intl shows
 * it, minute by minute, and nothing else of time zones.
 */
export interface LocalMinutes {
  /** Minutes since 1970 of the first and of the last minute. */
  readonly first: number;
  readonly last: number;
  /** The minute of a local time ("2026-03-29T02:30"): the first when it comes twice; a skipped one moves forward. */
  minuteOf(local: string): number;
  /** Minutes at which the clock on the wall does not go on by one minute, within `[from, to)`. */
  changesBetween(from: number, to: number): number[];
  /** Whole hours later on the wall. */
  later(local: string, hours: number): string;
}

const MINUTE = 60_000;

/** Walks every minute of these days, which the zone's own calendar counts. */
export function localMinutes(timeZone: string, fromMs: number, toMs: number): LocalMinutes {
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone,
    calendar: 'gregory',
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
  });
  const first = Math.floor(fromMs / MINUTE);
  const last = Math.floor(toMs / MINUTE);
  const walls = Array.from({ length: last - first + 1 }, (_, index) => {
    const [day, month, year, hour, minute] = format
      .format((first + index) * MINUTE)
      .split(/\D+/)
      .map(Number);
    return Date.UTC(year!, month! - 1, day, hour, minute) / MINUTE;
  });
  const stepAt = (index: number): number => walls[index]! - walls[index - 1]!;

  function minuteOf(local: string): number {
    const wanted = wallOf(local);
    const met = walls.indexOf(wanted);
    if (met !== -1) return first + met;
    const landing = walls.findIndex((wall, index) => index > 0 && walls[index - 1]! < wanted && wanted < wall);
    if (landing === -1) throw new RangeError(`${local} is not within the walk`);
    return first + walls.indexOf(wanted + stepAt(landing) - 1, landing);
  }

  return {
    first,
    last,
    minuteOf,
    changesBetween: (from, to) =>
      walls.flatMap((_, index) => {
        const minute = first + index;
        return index > 0 && minute >= from && minute < to && stepAt(index) !== 1 ? [minute] : [];
      }),
    later: (local, hours) => new Date((wallOf(local) + hours * 60) * MINUTE).toISOString().slice(0, 16),
  };
}

function wallOf(local: string): number {
  return Date.parse(`${local}Z`) / MINUTE;
}

/** Turns of one length on the wall, and who stands in when. */
export interface SlowSchedule {
  readonly startAt: string;
  readonly turnHours: number;
  readonly userIds: readonly string[];
  /** Overrides in the order of their creation; `[from, to)` in minutes. */
  readonly overrides: readonly { readonly userId: string; readonly from: number; readonly to: number }[];
}

/** Returns who is on call at every minute of the walk, by minute. */
export function slowOnCall(walk: LocalMinutes, schedule: SlowSchedule): Map<number, string> {
  const handOvers: number[] = [];
  for (let turn = 0; ; turn += 1) {
    const local = walk.later(schedule.startAt, turn * schedule.turnHours);
    try {
      handOvers.push(walk.minuteOf(local));
    } catch {
      break;
    }
  }
  const onCall = new Map<number, string>();
  for (let minute = walk.first; minute <= walk.last; minute += 1) {
    const standIn = schedule.overrides.findLast(({ from, to }) => from <= minute && minute < to);
    const turn = handOvers.findLastIndex((handOver) => handOver <= minute);
    const userId = standIn?.userId ?? (turn === -1 ? undefined : schedule.userIds[turn % schedule.userIds.length]);
    if (userId !== undefined) onCall.set(minute, userId);
  }
  return onCall;
}
