import type { Rotation } from '#modules/schedules/decide/rotation.ts';
import { Temporal } from '#kernel/time.ts';
import type { IsPresent } from '#modules/schedules/decide/layer.ts';

type Instant = Temporal.Instant;

export interface Stretch {
  readonly userId: string;
  readonly since: Instant;
  until: Instant;
}

/**
 * The slow, obvious reference: walks from hand-over to hand-over with the calendar, lets the last one that has passed
 * decide, and joins turns of one person. The last stretch ends at the first hand-over after `to`, or later.
 */
export function walkHandOvers(rotation: Rotation, to: Instant, isPresent: IsPresent): Stretch[] {
  const stretches: Stretch[] = [];
  const starts = walkStarts(rotation, to);
  starts.forEach((since, turn) => {
    const until = starts[turn + 1];
    const userId = takes(rotation, turn, isPresent);
    if (until === undefined || userId === null || Temporal.Instant.compare(since, until) >= 0) return;
    const last = stretches.at(-1);
    if (last?.userId === userId) last.until = until;
    else stretches.push({ userId, since, until });
  });
  return stretches;
}

function walkStarts(rotation: Rotation, to: Instant): Instant[] {
  const first = rotation.startAt.toZonedDateTimeISO(rotation.timezone);
  const starts: Instant[] = [rotation.startAt];
  let wall = first.toPlainDateTime();
  let settled = 0;
  while (settled < 2 * rotation.userIds.length + 30) {
    wall = next(rotation, wall);
    let start = wall.toZonedDateTime(rotation.timezone).toInstant();
    if (Temporal.Instant.compare(start, rotation.startAt) <= 0) {
      start = wall.toZonedDateTime(rotation.timezone, { disambiguation: 'later' }).toInstant();
    }
    starts.push(start);
    if (Temporal.Instant.compare(start, to) > 0) settled += 1;
  }
  // What a later hand-over has overtaken never came into force.
  for (let turn = starts.length - 2; turn >= 0; turn -= 1) {
    if (Temporal.Instant.compare(starts[turn]!, starts[turn + 1]!) > 0) starts[turn] = starts[turn + 1]!;
  }
  return starts;
}

function next(rotation: Rotation, wall: Temporal.PlainDateTime): Temporal.PlainDateTime {
  if (rotation.shiftHours !== null && rotation.shiftHours >= 1) return wall.add({ hours: rotation.shiftHours });
  return rotation.rotationType === 'daily' ? wall.add({ days: 1 }) : wall.add({ weeks: 1 });
}

function takes(rotation: Rotation, turn: number, isPresent: IsPresent): string | null {
  for (let ahead = 0; ahead < rotation.userIds.length; ahead += 1) {
    const userId = rotation.userIds[(turn + ahead) % rotation.userIds.length]!;
    if (isPresent(userId)) return userId;
  }
  return null;
}

const HALF_HOUR_MS = 1_800_000;
const HALF_DAY = 24;

/** The clock on the wall at every half hour of a span, read from Intl, as milliseconds of a calendar without zones. */
export function wallClocks(timeZone: string, from: Instant, halfHours: number): number[] {
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
  const wallAt = (index: number): number => {
    const [day, month, year, hour, minute] = format
      .format(from.epochMilliseconds + index * HALF_HOUR_MS)
      .split(/\D+/)
      .map(Number);
    return Date.UTC(year!, month! - 1, day, hour, minute);
  };
  const walls: number[] = [];
  for (let first = 0; first < halfHours; first += HALF_DAY) {
    // No clock is changed and changed back within half a day.
    const isSteady = wallAt(first + HALF_DAY) - wallAt(first) === HALF_DAY * HALF_HOUR_MS;
    for (let index = first; index < Math.min(first + HALF_DAY, halfHours); index += 1) {
      walls.push(isSteady && index > first ? walls[first]! + (index - first) * HALF_HOUR_MS : wallAt(index));
    }
  }
  return walls;
}
