import { isoDateOf } from '#kernel/wall_clock.ts';
import { type Override, overrideLayer } from '#modules/schedules/decide/overrides.ts';
import type { Id } from '#kernel/ids.ts';
import { fromEpochMilliseconds, isAtOrBefore, type Temporal } from '#kernel/time.ts';
import { DAY_MS, ZoneClock, ZoneClocks } from '#kernel/zone_clock.ts';
import type { IsPresent, Layer } from './layer.ts';
import { coveredFinder, keyOfPeople, type PieceFinder, piecesOfLayer } from './layer_pieces.ts';
import { NEVER_MS } from './layer_turns.ts';

type Instant = Temporal.Instant;
type UserId = Id<'user'>;

/** Facts that decide who is on call in a schedule. */
export interface LayeredSchedule {
  /** IANA name. */
  readonly timeZone: string;
  /** Clock of that zone, for callers with many schedules; absent: one is made. */
  readonly clock?: ZoneClock;
  /** Layers, the lowest first. */
  readonly layers: readonly Layer[];
  /** Overrides, in any order; one with a `layerId` counts for that layer only. */
  readonly overrides: readonly Override[];
  /** Dates of the calendars of holidays as `YYYY-MM-DD`, by the calendar's id. */
  readonly holidays: ReadonlyMap<string, readonly string[]>;
}

/**
 * Time of the same people on call without a break and for one cause, `[since, until)`; `until` is null if it never ends.
 */
export interface Shift {
  /** People in the order of their turn, at least one; all are on call at once. */
  readonly userIds: readonly UserId[];
  readonly source: 'rotation' | 'override';
  /** Layer that names them; null: an override of the whole schedule. */
  readonly layerId: string | null;
  readonly since: Instant;
  readonly until: Instant | null;
}

/** Time in which nobody is on call, `[since, until)`. */
export interface Gap {
  readonly since: Instant;
  readonly until: Instant;
}

/** The answer for one schedule at one instant. */
export interface OnCall {
  /** The current shift; null when nobody is on call. */
  readonly shift: Shift | null;
  /**
   * The next people on call and their start: others, or the same after a gap. They may come later than the end of the
   * shift, when the same people go on for another cause or nobody follows at once. Null when nobody ever does.
   */
  readonly next: { readonly userIds: readonly UserId[]; readonly at: Instant } | null;
}

/** A shift in milliseconds; nobody is on call in it when `layer` is negative. */
interface Stretch {
  readonly userIds: readonly UserId[];
  readonly isOverride: boolean;
  /** Index of the layer; that of none: an override of the schedule; -1: nobody. */
  readonly layer: number;
  readonly since: number;
  readonly until: number;
}

/**
 * Limit on the pieces that are joined to one shift, or passed over in search of one. A time without any change is taken
 * for endless after so many: for example, where hours and turns never meet, or where all layers name the same person.
 */
const PIECES_MAX = 2_000;

/**
 * Yields every shift that ends after `from`, oldest first, without end when people take turns. The first one has its
 * true start, also before `from`.
 */
export function* finalShifts(schedule: LayeredSchedule, from: Instant, isPresent: IsPresent): Generator<Shift> {
  const find = stretchFinder(schedule, isPresent);
  let at = from.epochMilliseconds;
  let isFirst = true;
  while (at < NEVER_MS) {
    const stretch = find(at, isFirst);
    isFirst = false;
    if (stretch.layer >= 0) yield toShift(stretch, schedule.layers);
    at = stretch.until;
  }
}

/** Returns the shifts that overlap `[from, to)`, with their true limits, which may be outside; at most `limit`. */
export function finalShiftsBetween(
  schedule: LayeredSchedule,
  from: Instant,
  to: Instant,
  isPresent: IsPresent,
  limit: number,
): Shift[] {
  return [...eachFinalShiftBetween(schedule, from, to, isPresent, limit)];
}

/** Yields the shifts of `finalShiftsBetween` one after the other. */
export function* eachFinalShiftBetween(
  schedule: LayeredSchedule,
  from: Instant,
  to: Instant,
  isPresent: IsPresent,
  limit: number,
): Generator<Shift> {
  let count = 0;
  const end = to.epochMilliseconds;
  for (const shift of finalShifts(schedule, from, isPresent)) {
    if (count === limit || shift.since.epochMilliseconds >= end) break;
    count += 1;
    yield shift;
  }
}

export function onCallOfSchedule(schedule: LayeredSchedule, now: Instant, isPresent: IsPresent): OnCall {
  const find = stretchFinder(schedule, isPresent);
  const current = find(now.epochMilliseconds, true);
  const shift = current.layer < 0 ? null : toShift(current, schedule.layers);
  let last = current;
  for (let count = 0; last.until < NEVER_MS && count < PIECES_MAX; count += 1) {
    const following = find(last.until, false);
    const goesOn = keyOfPeople(last.userIds) === keyOfPeople(following.userIds);
    if (following.layer >= 0 && !goesOn) {
      return { shift, next: { userIds: following.userIds, at: fromEpochMilliseconds(following.since) } };
    }
    last = following;
  }
  return { shift, next: null };
}

/** Returns the people on call over all schedules of a team, each once, in the order of the schedules. */
export function peopleOnCall(schedules: readonly OnCall[]): UserId[] {
  return [...new Set(schedules.flatMap(({ shift }) => shift?.userIds ?? []))];
}

/** Returns the gaps within `[from, to)`, oldest first, cut at its limits; at most `limit`. */
export function gapsBetween(
  schedule: LayeredSchedule,
  from: Instant,
  to: Instant,
  isPresent: IsPresent,
  limit: number,
): Gap[] {
  const find = stretchFinder(schedule, isPresent);
  const end = to.epochMilliseconds;
  const gaps: Gap[] = [];
  for (let at = from.epochMilliseconds; at < end && gaps.length < limit;) {
    const { layer, until } = find(at, false);
    if (layer < 0) gaps.push({ since: fromEpochMilliseconds(at), until: fromEpochMilliseconds(Math.min(until, end)) });
    at = until;
  }
  return gaps;
}

/** Gaps by their cause. */
export interface SortedGaps {
  /** Times when nobody is on call though no holiday is the cause. */
  readonly unplanned: readonly Gap[];
  /** Times when somebody would be on call, were it not for the holidays that were set for their layer. */
  readonly holidays: readonly Gap[];
}

const isOffOnHolidays = ({ holidays }: Layer): boolean => holidays?.on === 'silent';

/** Returns the times of `sortedGaps` that are holidays; computes nothing for a schedule without any. */
export function holidayGaps(...[schedule, ...time]: Parameters<typeof gapsBetween>): readonly Gap[] {
  return schedule.layers.some(isOffOnHolidays) ? sortedGaps(schedule, ...time).holidays : [];
}

/** Returns the gaps of `gapsBetween` by their cause. */
export function sortedGaps(...[schedule, from, to, isPresent, limit]: Parameters<typeof gapsBetween>): SortedGaps {
  const gaps = gapsBetween(schedule, from, to, isPresent, limit);
  if (!schedule.layers.some(isOffOnHolidays)) return { unplanned: gaps, holidays: [] };
  const [unplanned, holidays]: [Gap[], Gap[]] = [[], []];
  const layers = schedule.layers.map((layer) => (isOffOnHolidays(layer) ? { ...layer, holidays: null } : layer));
  const find = stretchFinder({ ...schedule, layers }, isPresent);
  for (const { since, until } of gaps) {
    const end = until.epochMilliseconds;
    for (let at = since.epochMilliseconds; at < end;) {
      const stretch = find(at, false);
      const part = { since: fromEpochMilliseconds(at), until: fromEpochMilliseconds(Math.min(stretch.until, end)) };
      const alike = stretch.layer < 0 ? unplanned : holidays;
      const last = alike.at(-1);
      if (last?.until.equals(part.since) === true) alike[alike.length - 1] = { ...last, until: part.until };
      else alike.push(part);
      at = stretch.until;
    }
  }
  return { unplanned, holidays };
}

function toShift({ userIds, isOverride, layer, since, until }: Stretch, layers: readonly Layer[]): Shift {
  return {
    userIds,
    source: isOverride ? 'override' : 'rotation',
    layerId: layers[layer]?.id ?? null,
    since: fromEpochMilliseconds(since),
    until: until >= NEVER_MS ? null : fromEpochMilliseconds(until),
  };
}

/**
 * Returns a finder for the time around or from an instant in which the same people are on call for the same cause. With
 * `wholly` it begins where it truly does, else at the instant.
 */
function stretchFinder(schedule: LayeredSchedule, isPresent: IsPresent): (at: number, wholly: boolean) => Stretch {
  const pieceAt = topPieceFinder(schedule, isPresent);
  return (at, wholly) => {
    const piece = pieceAt(at);
    let [since, until] = [wholly ? piece.since : at, piece.until];
    for (let count = 0; until < NEVER_MS; count += 1) {
      if (count === PIECES_MAX) return { ...piece, since, until: Infinity };
      const next = pieceAt(until);
      if (!isAlike(piece, next)) break;
      until = next.until;
    }
    if (!wholly) return { ...piece, since, until };
    for (let count = 0; since > -Infinity && count < PIECES_MAX; count += 1) {
      const before = pieceAt(since - 1);
      if (!isAlike(piece, before)) break;
      since = before.since;
    }
    return { ...piece, since, until };
  };
}

function isAlike(a: Stretch, b: Stretch): boolean {
  return (
    a.layer === b.layer &&
    a.isOverride === b.isOverride &&
    (a.userIds === b.userIds || keyOfPeople(a.userIds) === keyOfPeople(b.userIds))
  );
}

/** Returns a finder for what the highest layer that speaks says, and until when that holds at the least. */
function topPieceFinder(schedule: LayeredSchedule, isPresent: IsPresent): (at: number) => Stretch {
  const { layers, overrides, timeZone, clock = new ZoneClock(timeZone) } = schedule;
  const byLayer = Map.groupBy(overrides, ({ layerId }) => layerId ?? null);
  const coveredBy = (layerId: string | null) => overrideLayer(byLayer.get(layerId) ?? [], isPresent);
  const finders: { readonly layer: number; readonly find: PieceFinder }[] = [];
  const covered = coveredBy(null);
  if (covered.length > 0) finders.push({ layer: layers.length, find: coveredFinder(covered) });
  for (const [index, layer] of [...layers.entries()].reverse()) {
    const holidays = layer.holidays === null ? undefined : schedule.holidays.get(layer.holidays.calendarId);
    const find = piecesOfLayer(layer, { clock, isPresent, covered: coveredBy(layer.id), holidays });
    if (find !== null) finders.push({ layer: index, find });
  }
  return (at) => {
    let [since, until] = [-Infinity, Infinity];
    for (const { layer, find } of finders) {
      const piece = find(at);
      since = Math.max(since, piece.since);
      until = Math.min(until, piece.until);
      if (piece.userIds.length > 0)
        return { userIds: piece.userIds, isOverride: piece.isOverride, layer, since, until };
    }
    return { userIds: [], isOverride: false, layer: -1, since, until };
  };
}

const DAYS_AHEAD = 90;

/** Limit on the shifts looked at: over two weeks of an hourly rotation, or 90 days of four turns a day. */
const SHIFTS_LOOKED_AT = 400;

interface Whose {
  readonly userId: Id<'user'>;
  readonly from: Temporal.Instant;
  readonly limit: number;
}

/**
 * Returns the times that one person is on call in a schedule after `from`, oldest first: in the next 90 days, at most
 * `limit`. Adjoining times, such as an override and a turn, are one; its source is that of its beginning.
 */
export function ownShifts(schedule: LayeredSchedule, { userId, from, limit }: Whose, isPresent: IsPresent): Shift[] {
  if (!namesPerson(schedule, userId)) return [];
  const to = from.add({ hours: DAYS_AHEAD * 24 });
  const shifts: Shift[] = [];
  let lookedAt = 0;
  for (const shift of finalShifts(schedule, from, isPresent)) {
    if (lookedAt === SHIFTS_LOOKED_AT || isAtOrBefore(to, shift.since)) break;
    lookedAt += 1;
    if (!shift.userIds.includes(userId)) continue;
    const last = shifts.at(-1);
    if (last?.until?.equals(shift.since) === true) shifts[shifts.length - 1] = { ...last, until: shift.until };
    else if (shifts.length === limit) break;
    else shifts.push(shift);
  }
  return shifts;
}

/** Whether a layer or an override names the person. */
export function namesPerson({ layers, overrides }: LayeredSchedule, userId: Id<'user'>): boolean {
  return (
    overrides.some((override) => override.userId === userId) ||
    layers.some(({ turns, carried }) =>
      [...turns, ...(carried ? [carried] : [])].some(({ userIds }) => userIds.includes(userId)),
    )
  );
}

const HOUR_MS = 3_600_000;
const NIGHT = { fromHour: 23, untilHour: 7 };

/**
 * Returns a function for the night of a time in a zone, named by the day on which it begins; null between 07:00 and
 * 23:00. It remembers the clocks of zones: the same few are asked for again and again.
 */
export function nightFinder(): (epochMs: number, timeZone: string) => string | null {
  const clocks = new ZoneClocks();
  return (epochMs, timeZone) => {
    const wall = clocks.of(timeZone).wallOf(epochMs);
    const day = Math.floor(wall / DAY_MS);
    const hour = (wall - day * DAY_MS) / HOUR_MS;
    if (hour >= NIGHT.fromHour) return isoDateOf(wall);
    return hour < NIGHT.untilHour ? isoDateOf(wall - DAY_MS) : null;
  };
}
