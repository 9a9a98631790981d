import type { Override } from '#modules/schedules/decide/overrides.ts';
import type { Layer } from '#modules/schedules/decide/layer.ts';
import type { LayeredSchedule } from '#modules/schedules/decide/layered_shifts.ts';
import { isAtOrBefore, Temporal } from '#kernel/time.ts';

type Instant = Temporal.Instant;

/** People on call at a minute, as text; null for nobody. */
export type Found = string | null;

const MINUTE_MS = 60_000;

/** Time for which the clock is read at both ends only, unless it changes between. */
const STEADY_MS = 15 * MINUTE_MS;

/** The wall clock at an instant, read from Intl; in milliseconds as if it were of UTC. */
function wallReader(timeZone: string): (ms: number) => number {
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone,
    calendar: 'gregory',
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  });
  const known = new Map<number, number>();
  const readAt = (ms: number): number => {
    let wall = known.get(ms);
    if (wall === undefined) {
      const [day, month, year, hour, minutes, second] = format.format(ms).split(/\D+/).map(Number);
      wall = Date.UTC(year!, month! - 1, day, hour, minutes, second);
      known.set(ms, wall);
    }
    return wall;
  };
  return (ms) => {
    const steady = Math.floor(ms / STEADY_MS) * STEADY_MS;
    // St John's changed its clocks at a minute past midnight.
    const isSteady = readAt(steady + STEADY_MS) - readAt(steady) === STEADY_MS;
    const read = isSteady ? steady : Math.floor(ms / MINUTE_MS) * MINUTE_MS;
    return readAt(read) + (ms - read);
  };
}

const inOrder = (a: Override, b: Override): number =>
  Temporal.Instant.compare(a.createdAt, b.createdAt) || (a.overrideId < b.overrideId ? -1 : 1);

/**
 * The slow, obvious reference: asks at each minute every override and every layer from above. Hand-overs are walked
 * with the calendar, one after the other.
 */
export function walker(
  schedule: LayeredSchedule,
  to: Instant,
  isPresent: (userId: string) => boolean,
): (ms: number) => Found {
  const wallOf = wallReader(schedule.timeZone);
  const starts = schedule.layers.map((layer) => walkStarts(layer, schedule.timeZone, to));

  const overrideFor = (layerId: string | null, ms: number): string | null =>
    schedule.overrides
      .filter((override) => (override.layerId ?? null) === layerId && isPresent(override.userId))
      .filter(({ startAt, endAt }) => startAt.epochMilliseconds <= ms && ms < endAt.epochMilliseconds)
      .toSorted(inOrder)
      .at(-1)?.userId ?? null;

  const turnPeople = (layer: Layer, layerStarts: readonly number[], ms: number): string[] => {
    const turn = layerStarts.findLastIndex((start) => start <= ms);
    return turn === -1 ? [] : peopleOf(layer, turn, isPresent);
  };
  const peopleAt = (layer: Layer, layerStarts: readonly number[], ms: number): string[] => {
    const { carried } = layer;
    if (!isCarried(layer, ms)) return turnPeople(layer, layerStarts, ms);
    const there = carried!.userIds.filter(isPresent);
    if (there.length > 0 || carried!.userIds.length === 0) return there;
    return turnPeople(layer, layerStarts, carried!.until.epochMilliseconds);
  };

  return (ms) => {
    const above = overrideFor(null, ms);
    if (above !== null) return `override ${above}`;
    const wall = wallOf(ms);
    for (const [index, layer] of [...schedule.layers.entries()].reverse()) {
      if (!isActive(layer, ms) || !isWithinHours(layer, wall) || !isOnItsDays(layer, wall, schedule)) continue;
      const instead = overrideFor(layer.id, ms);
      if (instead !== null) return `${layer.id} override ${instead}`;
      const people = peopleAt(layer, starts[index]!, ms);
      if (people.length > 0) return `${layer.id} ${people.join(' ')}`;
    }
    return null;
  };
}

function isCarried({ carried }: Layer, ms: number): boolean {
  return carried ? carried.since.epochMilliseconds <= ms && ms < carried.until.epochMilliseconds : false;
}

function isActive(layer: Layer, ms: number): boolean {
  const { startsAt, activeFrom, endsAt } = layer;
  if (ms < startsAt.epochMilliseconds && !isCarried(layer, ms)) return false;
  if (activeFrom && ms < activeFrom.epochMilliseconds) return false;
  return endsAt === null || ms < endsAt.epochMilliseconds;
}

function isWithinHours({ hours }: Layer, wall: number): boolean {
  if (hours === null) return true;
  const date = new Date(wall);
  const weekday = (date.getUTCDay() + 6) % 7;
  const now = (weekday * 24 + date.getUTCHours()) * 60 + date.getUTCMinutes();
  const minuteOf = (day: number, time: string) =>
    (day - 1) * 1440 + Number(time.slice(0, 2)) * 60 + Number(time.slice(3));
  return hours.some((window) => {
    const [from, to] = [minuteOf(window.fromDay, window.from), minuteOf(window.toDay, window.to)];
    return to > from ? from <= now && now < to : now >= from || now < to;
  });
}

function isOnItsDays({ holidays }: Layer, wall: number, schedule: LayeredSchedule): boolean {
  if (holidays === null) return true;
  const date = new Date(wall).toISOString().slice(0, 10);
  const isHoliday = schedule.holidays.get(holidays.calendarId)?.includes(date) ?? false;
  return holidays.on === 'speaks' ? isHoliday : !isHoliday;
}

function peopleOf({ turns }: Layer, turn: number, isPresent: (userId: string) => boolean): string[] {
  const own = turns[turn % turns.length];
  if (own === undefined || own.userIds.length === 0) return [];
  for (let ahead = 0; ahead < turns.length; ahead += 1) {
    const people = new Set(turns[(turn + ahead) % turns.length]!.userIds.filter(isPresent));
    if (people.size > 0) return [...people];
  }
  return [];
}

function walkStarts(layer: Layer, timeZone: string, to: Instant): number[] {
  const first = layer.startWall
    ? Temporal.PlainDateTime.from(layer.startWall)
    : layer.startsAt.toZonedDateTimeISO(timeZone).toPlainDateTime();
  const starts: Instant[] = [layer.startsAt];
  for (let turn = 1, settled = 0; settled < 30; turn += 1) {
    const wall = first.add({ [layer.rotation.unit]: layer.rotation.every * turn });
    let start = wall.toZonedDateTime(timeZone).toInstant();
    if (isAtOrBefore(start, layer.startsAt)) {
      start = wall.toZonedDateTime(timeZone, { disambiguation: 'later' }).toInstant();
    }
    starts.push(start);
    if (!isAtOrBefore(start, to)) settled += 1;
  }
  // What a later hand-over has overtaken never came into force.
  for (let turn = starts.length - 2; turn >= 0; turn -= 1) {
    if (!isAtOrBefore(starts[turn]!, starts[turn + 1]!)) starts[turn] = starts[turn + 1]!;
  }
  return starts.map((start) => start.epochMilliseconds);
}
