import type { Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';

type Instant = Temporal.Instant;
type UserId = Id<'user'>;

/** Limit on the layers of a schedule, the contract's rotation among them. */
export const LAYERS_MAX = 10;
/** Limit on the turns of a layer; a person listed twice has two. */
export const TURNS_MAX = 1_000;
export const PEOPLE_OF_TURN_MAX = 50;
export const WINDOWS_MAX = 50;

/** Id of the layer that is the contract's rotation. */
export const FIRST_LAYER = 'rotation';

export const ROTATION_UNITS = ['hours', 'days', 'weeks', 'months'] as const;

export type RotationUnit = (typeof ROTATION_UNITS)[number];

export interface TurnLength {
  readonly every: number;
  readonly unit: RotationUnit;
}

/**
 * Window of the week by the wall clock of the schedule's zone, `[from, to)`. Days count from Monday as 1; `24:00` is the
 * end of a day. It may pass midnight and the end of the week; where both ends are equal, it is the whole week.
 */
export interface WeekWindow {
  readonly fromDay: number;
  readonly from: string;
  readonly toDay: number;
  readonly to: string;
}

/** Calendar of holidays that switches a layer off on its days (`silent`), or on only on them (`speaks`). */
export interface LayerHolidays {
  readonly calendarId: string;
  readonly on: 'speaks' | 'silent';
}

/** Turn that was running when its layer was changed, and ends when it was to, `[since, until)`. */
export interface CarriedTurn extends LayerTurn {
  readonly since: Instant;
  readonly until: Instant;
}

/** People of one turn, all on call at once; with nobody, the layer says nothing during it. */
export interface LayerTurn {
  readonly userIds: readonly UserId[];
}

/**
 * One rotation of a schedule. It names the people of its current turn within its hours and on its days, and is silent
 * at all other times. The highest layer that names somebody decides.
 */
export interface Layer {
  readonly id: string;
  readonly name: string;
  readonly rotation: TurnLength;
  readonly turns: readonly LayerTurn[];
  /** Beginning of the first turn, from which all hand-overs are counted. */
  readonly startsAt: Instant;
  /** Local date and time that the clocks skipped at `startsAt`: hand-overs keep it. Null or absent if they did not. */
  readonly startWall?: string | null;
  /** Time before which the layer is silent; null or absent: it speaks from `startsAt`. */
  readonly activeFrom?: Instant | null;
  /** Turn kept over a change of the layer; null or absent: none. Until it ends, the rotation does not count. */
  readonly carried?: CarriedTurn | null;
  /** Time from which it is silent; null: it never ends. */
  readonly endsAt: Instant | null;
  /** Times of the week at which it speaks; null: always. */
  readonly hours: readonly WeekWindow[] | null;
  readonly holidays: LayerHolidays | null;
}

/** Whether a user still belongs to the organization. */
export type IsPresent = (userId: UserId) => boolean;

/**
 * Returns the people of each turn of a round who are still there. The turn of people who have all left goes to the next
 * turn in order that has somebody, so that everybody else keeps their own turns; a turn of nobody stays so.
 */
export function peopleOfRound(turns: readonly LayerTurn[], isPresent: IsPresent): (readonly UserId[])[] {
  const present = turns.map(({ userIds }) => [...new Set(userIds)].filter((userId) => isPresent(userId)));
  let next = present.find((userIds) => userIds.length > 0) ?? [];
  const round: (readonly UserId[])[] = [];
  for (let index = turns.length - 1; index >= 0; index -= 1) {
    const ownShifts = present[index] ?? [];
    if (ownShifts.length > 0) next = ownShifts;
    round.push(turns[index]?.userIds.length === 0 ? ownShifts : next);
  }
  return round.reverse();
}

const MINUTES_A_DAY = 24 * 60;

/** Reads `HH:MM` up to `24:00` in minutes from the beginning of a day; null if it is not such a time. */
export function minutesOf(time: string): number | null {
  const match = /^(\d{2}):(\d{2})$/.exec(time);
  if (match === null) return null;
  const [hours, minutes] = [Number(match[1]), Number(match[2])];
  const total = hours * 60 + minutes;
  return minutes < 60 && total <= MINUTES_A_DAY ? total : null;
}

/** Part of a week in minutes from Monday 00:00, `[from, to)`. */
export interface WeekSpan {
  readonly from: number;
  readonly to: number;
}

export const MINUTES_A_WEEK = 7 * MINUTES_A_DAY;

/** Returns the windows as parts of one week in order, disjoint and not adjoining; windows that cannot be read are left out. */
export function spansOfWeek(windows: readonly WeekWindow[]): WeekSpan[] {
  const spans = windows.flatMap(({ fromDay, from, toDay, to }): WeekSpan[] => {
    const [first, last] = [minutesOf(from), minutesOf(to)];
    if (first === null || last === null) return [];
    const start = ((fromDay - 1) * MINUTES_A_DAY + first) % MINUTES_A_WEEK;
    const end = (toDay - 1) * MINUTES_A_DAY + last;
    if (end > start) return [{ from: start, to: end }];
    return [
      { from: start, to: MINUTES_A_WEEK },
      { from: 0, to: end },
    ];
  });
  const merged: WeekSpan[] = [];
  for (const span of spans.toSorted((a, b) => a.from - b.from)) {
    const last = merged.at(-1);
    if (span.to === span.from) continue;
    if (last !== undefined && span.from <= last.to) {
      merged[merged.length - 1] = { from: last.from, to: Math.max(last.to, span.to) };
    } else merged.push(span);
  }
  return merged;
}
