import fc from '#test/kit/properties.ts';

import type { Override } from '#modules/schedules/decide/overrides.ts';
import { layerOfRotation, type Rotation } from '#modules/schedules/decide/rotation.ts';
import { asId, type Id } from '#kernel/ids.ts';
import { isAtOrBefore, Temporal } from '#kernel/time.ts';
import type { IsPresent } from '#modules/schedules/decide/layer.ts';
import {
  finalShifts,
  type LayeredSchedule,
  onCallOfSchedule,
  type Shift,
} from '#modules/schedules/decide/layered_shifts.ts';

type Instant = Temporal.Instant;

export const user = (name: string): Id<'user'> => asId('user', name);

export const [ANNA, BRAM, CHLOE, DIRK] = [user('anna'), user('bram'), user('chloe'), user('dirk')] as const;

export const everybody = (): boolean => true;

export const presentBut =
  (leavers: readonly string[]) =>
  (userId: string): boolean =>
    !leavers.includes(userId);

/** An instant from RFC 3339, or from a local time with its zone in brackets. */
export const at = (text: string): Instant =>
  text.endsWith(']') ? Temporal.ZonedDateTime.from(text).toInstant() : Temporal.Instant.from(text);

export function rotationOf(changes: Partial<Rotation> = {}): Rotation {
  return {
    timezone: 'Europe/Amsterdam',
    rotationType: 'daily',
    userIds: [ANNA, BRAM, CHLOE],
    shiftHours: null,
    startAt: at('2026-01-05T09:00[Europe/Amsterdam]'),
    ...changes,
  };
}

/** A schedule that has this rotation alone. */
export function scheduleOf(rotation: Rotation, overrides: readonly Override[] = []): LayeredSchedule {
  return { timeZone: rotation.timezone, layers: [layerOfRotation(rotation)], overrides, holidays: new Map() };
}

/** The turn of one person. */
export type Turn = Pick<Shift, 'since' | 'until'> & { readonly userId: Id<'user'> };

/** The shift of a schedule whose turns have one person each. */
export function aloneIn({ userIds, layerId: _layerId, ...shift }: Shift): Turn & Pick<Shift, 'source'> {
  const [userId, ...others] = userIds;
  if (userId === undefined || others.length > 0) throw new Error('a turn of one person is expected');
  return { userId, ...shift };
}

function turnOf(shift: Shift): Turn {
  const { source: _source, ...turn } = aloneIn(shift);
  return turn;
}

export function turnAt(rotation: Rotation, instant: Instant, isPresent: IsPresent): Turn | null {
  const { shift } = onCallOfSchedule(scheduleOf(rotation), instant, isPresent);
  return shift && turnOf(shift);
}

/** The turns that overlap `[from, to)`, oldest first, at most `limit`. */
export function turnsBetween(
  rotation: Rotation,
  from: Instant,
  to: Instant,
  isPresent: IsPresent,
  limit: number,
): Turn[] {
  const turns: Turn[] = [];
  for (const shift of finalShifts(scheduleOf(rotation), from, isPresent)) {
    if (turns.length === limit || isAtOrBefore(to, shift.since)) break;
    turns.push(turnOf(shift));
  }
  return turns;
}

/** Ordinary zones and odd ones: half-hour saving, a day that was skipped, a two-hour change, saving that ends for good. */
export const ZONES = [
  'Europe/Amsterdam',
  'America/New_York',
  'Australia/Lord_Howe',
  'Pacific/Apia',
  'America/Sao_Paulo',
  'Africa/Casablanca',
  'Antarctica/Troll',
  'UTC',
  'Asia/Kolkata',
] as const;

const QUARTERS_OF_20_YEARS = 20 * 366 * 24 * 4;

const anyMoment = fc
  .integer({ min: 0, max: QUARTERS_OF_20_YEARS })
  .map((quarters) => at('2004-01-01T00:00:00Z').add({ minutes: quarters * 15 }));

/** Returns the next change of the zone's clocks; the day that Apia skipped is its most telling change. */
export function nextChange(timeZone: string, moment: Instant): Instant {
  if (timeZone === 'Pacific/Apia') return at('2011-12-30T10:00:00Z');
  return moment.toZonedDateTimeISO(timeZone).getTimeZoneTransition('next')?.toInstant() ?? moment;
}

/** Any quarter of an hour of 20 years, every second one close to where the zone changes its clocks. */
const momentIn = (timeZone: string): fc.Arbitrary<Instant> =>
  fc.oneof(
    anyMoment,
    fc
      .tuple(anyMoment, fc.integer({ min: -120, max: 20 }))
      .map(([moment, quarters]) => nextChange(timeZone, moment).add({ minutes: quarters * 15 })),
  );

const anyUsers = (maxLength: number): fc.Arbitrary<Id<'user'>[]> =>
  fc.array(fc.constantFrom(ANNA, BRAM, CHLOE, DIRK), { maxLength });

/** Presence of the four people: at most two have left. */
export const anyPresence = anyUsers(2).map((leavers) => presentBut(leavers));

export const anyRotation: fc.Arbitrary<Rotation> = fc
  .constantFrom(...ZONES)
  .chain((timezone) =>
    fc.record({
      timezone: fc.constant(timezone),
      rotationType: fc.constantFrom('daily', 'weekly'),
      userIds: anyUsers(6),
      shiftHours: fc.oneof(
        fc.constantFrom(null, 0, -1, Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER),
        fc.integer({ min: 1, max: 3 }),
        fc.integer({ min: 4, max: 23 }),
        fc.integer({ min: 1, max: 400 }),
      ),
      startAt: momentIn(timezone),
    }),
  );
