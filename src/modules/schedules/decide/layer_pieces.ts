import type { CoveredTime } from '#modules/schedules/decide/overrides.ts';
import type { Id } from '#kernel/ids.ts';
import { parseIsoMs } from '#kernel/wall_clock.ts';
import { DAY_MS, type ZoneClock } from '#kernel/zone_clock.ts';
import { type IsPresent, type Layer, MINUTES_A_WEEK, peopleOfRound, spansOfWeek, type WeekSpan } from './layer.ts';
import { NEVER_MS, turnsOfLayer } from './layer_turns.ts';

type UserId = Id<'user'>;

/** Time in which a layer names the same people, `[since, until)` in milliseconds. Two that adjoin may be alike. */
interface Piece {
  /** People in their order; empty: the layer is silent. */
  readonly userIds: readonly UserId[];
  readonly isOverride: boolean;
  readonly since: number;
  readonly until: number;
}

export type PieceFinder = (ms: number) => Piece;

const NOBODY: readonly UserId[] = [];

const MINUTE_MS = 60_000;
const WEEK_MS = MINUTES_A_WEEK * MINUTE_MS;
/** A Monday, from which weeks of the wall clock are counted: 1970-01-05. */
const MONDAY_MS = 4 * DAY_MS;

/** Time within which a change of the clocks is looked for; limits further away are approached with a day to spare. */
const NEAR_MS = 2 * DAY_MS;

interface Setting {
  readonly clock: ZoneClock;
  readonly isPresent: IsPresent;
  /** Overrides for this layer, as `overrideLayer` gives them. */
  readonly covered: readonly CoveredTime[];
  /** Dates of the layer's calendar as `YYYY-MM-DD`; absent: the calendar is unknown, so it has none. */
  readonly holidays: readonly string[] | undefined;
}

/** Returns a finder for what a layer says; null when it never says anything. */
export function piecesOfLayer(layer: Layer, setting: Setting): PieceFinder | null {
  if (layer.hours !== null && spansOfWeek(layer.hours).length === 0) return null;
  const speech = speechFinder(layer, setting);
  const people = peopleFinder(layer, setting);
  if (people === null) return null;
  const pieceAt = speech === null ? people : (at: number) => spokenPart(people(at), speech(at));
  let last: Piece | null = null;
  return (at) => {
    if (last !== null && last.since <= at && at < last.until) return last;
    last = pieceAt(at);
    return last;
  };
}

/** Returns what a layer says, from whom its turns name and whether it may speak. */
function spokenPart(named: Piece, heard: Speech): Piece {
  const isNamed = named.userIds.length > 0;
  if (!heard.speaks && (isNamed || heard.until >= named.until)) return silentIn(heard);
  if (!isNamed) return named;
  return { ...named, since: Math.max(named.since, heard.since), until: Math.min(named.until, heard.until) };
}

function silentIn({ since, until }: { readonly since: number; readonly until: number }): Piece {
  return { userIds: NOBODY, isOverride: false, since, until };
}

/** Returns a finder for whom the turns and the overrides of a layer name, whatever its hours; null: never anybody. */
function peopleFinder(layer: Layer, { clock, isPresent, covered }: Setting): PieceFinder | null {
  const round = peopleOfRound(layer.turns, isPresent);
  const turns = turnsOfLayer(layer, clock);
  const carried = carriedPiece(layer, isPresent, (at) => round[(turns.turnAt(at) ?? 0) % round.length]);
  const isManned = carried.userIds.length > 0 || round.some((userIds) => userIds.length > 0);
  if (!isManned && covered.length === 0) return null;
  const first = Math.min(layer.startsAt.epochMilliseconds, carried.since);
  const start = Math.max(first, layer.activeFrom?.epochMilliseconds ?? -Infinity);
  const end = layer.endsAt?.epochMilliseconds ?? Infinity;
  const isAlone = new Set(round.map(keyOfPeople)).size <= 1;
  const overrideAt = coveredFinder(covered);

  return (at) => {
    if (at < start) return silentIn({ since: -Infinity, until: Math.min(start, NEVER_MS) });
    if (at >= end) return silentIn({ since: end, until: Infinity });
    const override = overrideAt(at);
    const [since, until] = [Math.max(start, override.since), Math.min(end, override.until)];
    if (override.userIds.length > 0) return { ...override, since, until };
    const named = at < carried.until ? (at < carried.since ? before(at) : carried) : after(at);
    return { ...named, since: Math.max(since, named.since), until: Math.min(until, named.until) };
  };

  function before(at: number): Piece {
    const named = turnPiece(at);
    return { ...named, until: Math.min(named.until, carried.since) };
  }

  function after(at: number): Piece {
    const named = turnPiece(at);
    return { ...named, since: Math.max(named.since, carried.until) };
  }

  function turnPiece(at: number): Piece {
    if (isAlone) return { userIds: round[0] ?? NOBODY, isOverride: false, since: -Infinity, until: Infinity };
    const turn = turns.turnAt(at);
    if (turn === null) return silentIn({ since: -Infinity, until: turns.startOf(0) });
    const userIds = round[turn % round.length] ?? NOBODY;
    return { userIds, isOverride: false, since: turns.startOf(turn), until: turns.startOf(turn + 1) };
  }
}

/**
 * Returns the turn that was kept over a change, or a piece that holds at no time. If all its people have left, those
 * who follow take it.
 */
function carriedPiece(
  { carried, startsAt }: Layer,
  isPresent: IsPresent,
  peopleAt: (ms: number) => readonly UserId[] | undefined,
): Piece {
  const start = startsAt.epochMilliseconds;
  if (!carried) return silentIn({ since: start, until: start });
  const [since, until] = [carried.since.epochMilliseconds, carried.until.epochMilliseconds];
  const present = carried.userIds.filter((userId) => isPresent(userId));
  const hasLeft = present.length === 0 && carried.userIds.length > 0;
  return { userIds: hasLeft ? (peopleAt(until) ?? NOBODY) : present, isOverride: false, since, until };
}

export function keyOfPeople(userIds: readonly UserId[]): string {
  return userIds.join(' ');
}

/** Returns a finder for the time covered by overrides, or the time between two; in milliseconds. */
export function coveredFinder(covered: readonly CoveredTime[]): PieceFinder {
  const times = covered.map(({ userId, since, until }) => {
    return { userIds: [userId], isOverride: true, since: since.epochMilliseconds, until: until.epochMilliseconds };
  });
  return (at) => {
    let [low, high] = [0, times.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((times[middle]?.until ?? Infinity) <= at) low = middle + 1;
      else high = middle;
    }
    const next = times[low];
    if (next !== undefined && next.since <= at) return next;
    return silentIn({ since: times[low - 1]?.until ?? -Infinity, until: next?.since ?? Infinity });
  };
}

/** Time in which a layer may speak or not, `[since, until)`. */
interface Speech {
  readonly speaks: boolean;
  readonly since: number;
  readonly until: number;
}

/** Returns a finder for whether hours and holidays let a layer speak, in milliseconds; null: they always do. */
function speechFinder({ hours, holidays }: Layer, setting: Setting): ((at: number) => Speech) | null {
  const { clock } = setting;
  const week = hours === null ? null : weekFinder(spansOfWeek(hours));
  const days = holidays === null ? null : dayFinder(setting.holidays ?? [], holidays.on);
  const onWall = week === null ? days : days === null ? week : bothOf(week, days);
  if (onWall === null) return null;
  return (at) => {
    const wall = clock.wallOf(at);
    const { speaks, since, until } = onWall(wall);
    return { speaks, since: limitBefore(clock, at, wall, since), until: limitAfter(clock, at, wall, until) };
  };
}

/** Returns the end of a time of the wall clock that holds at an instant: where the clocks change, at the latest. */
function limitAfter(clock: ZoneClock, at: number, wall: number, until: number): number {
  const isNear = until - wall <= NEAR_MS;
  const end = at + (isNear ? until - wall : NEAR_MS);
  const change = clock.firstChange(at, end);
  if (change !== null || isNear) return change ?? end;
  return until === Infinity ? Infinity : Math.max(end, clock.instantOf(until) - DAY_MS);
}

/** Returns the beginning of a time of the wall clock that holds at an instant: where the clocks changed, at the least. */
function limitBefore(clock: ZoneClock, at: number, wall: number, since: number): number {
  const isNear = wall - since <= NEAR_MS;
  const start = at - (isNear ? wall - since : NEAR_MS);
  const change = clock.lastChange(start, at);
  if (change !== null || isNear) return change ?? start;
  return since === -Infinity ? -Infinity : Math.min(start, clock.instantOf(since) + DAY_MS);
}

/** Returns a finder for the windows of a week, by the wall clock. */
function weekFinder(spans: readonly WeekSpan[]): ((wall: number) => Speech) | null {
  const [first] = spans;
  if (first?.from === 0 && first.to === MINUTES_A_WEEK) return null;
  return (wall) => {
    const monday = Math.floor((wall - MONDAY_MS) / WEEK_MS) * WEEK_MS + MONDAY_MS;
    let since = monday;
    for (const { from, to } of spans) {
      const [start, end] = [monday + from * MINUTE_MS, monday + to * MINUTE_MS];
      if (wall < start) return { speaks: false, since, until: start };
      if (wall < end) return { speaks: true, since: start, until: end };
      since = end;
    }
    return { speaks: false, since, until: monday + WEEK_MS };
  };
}

/** Returns a finder for the days of a calendar, by the wall clock. */
function dayFinder(dates: readonly string[], on: 'speaks' | 'silent'): (wall: number) => Speech {
  const days = [...new Set(dates.flatMap((date) => parseIsoMs(date) ?? []))].toSorted((a, b) => a - b);
  return (wall) => {
    let [low, high] = [0, days.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((days[middle] ?? Infinity) + DAY_MS <= wall) low = middle + 1;
      else high = middle;
    }
    const day = days[low];
    if (day !== undefined && day <= wall) return { speaks: on === 'speaks', since: day, until: day + DAY_MS };
    const before = days[low - 1];
    return {
      speaks: on === 'silent',
      since: before === undefined ? -Infinity : before + DAY_MS,
      until: day ?? Infinity,
    };
  };
}

function bothOf(week: (wall: number) => Speech, days: (wall: number) => Speech): (wall: number) => Speech {
  return (wall) => {
    const [a, b] = [week(wall), days(wall)];
    if (a.speaks && b.speaks) {
      return { speaks: true, since: Math.max(a.since, b.since), until: Math.min(a.until, b.until) };
    }
    if (a.speaks || b.speaks) return a.speaks ? b : a;
    return a.until > b.until ? a : b;
  };
}
