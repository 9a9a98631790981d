import type { Override } from '#modules/schedules/decide/overrides.ts';
import { type Layer, ROTATION_UNITS, type WeekWindow } from '#modules/schedules/decide/layer.ts';
import type { LayeredSchedule } from '#modules/schedules/decide/layered_shifts.ts';
import { asId, type Id } from '#kernel/ids.ts';
import { Temporal } from '#kernel/time.ts';

type Instant = Temporal.Instant;
type UserId = Id<'user'>;

const PEOPLE: UserId[] = ['anna', 'bram', 'chloe', 'dirk', 'eva'].map((name) => asId('user', name));

/** Zones with half and quarter hours, changes at midnight and at dusk, a skipped day, two hours, and a short summer. */
const ZONES = [
  'Europe/Amsterdam',
  'America/New_York',
  'Australia/Lord_Howe',
  'Pacific/Apia',
  'America/Sao_Paulo',
  'Africa/Casablanca',
  'Antarctica/Troll',
  'UTC',
  'Asia/Kathmandu',
  'Pacific/Chatham',
  'America/Nuuk',
  'Atlantic/Azores',
  'Asia/Beirut',
  'America/Havana',
  'America/St_Johns',
  'Africa/Cairo',
] as const;

/** Numbers below 1 that depend on the seed only. */
export function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

interface RandomCase {
  readonly schedule: LayeredSchedule;
  readonly isPresent: (userId: string) => boolean;
  /** Beginning of the days that are walked. */
  readonly from: Instant;
}

/** A schedule with layers, hours, ends, several people, nobody and holidays, near a change of clocks every second time. */
export function randomSchedule(random: () => number): RandomCase {
  const below = (count: number): number => Math.floor(random() * count);
  const chance = (part: number): boolean => random() < part;
  const pick = <Item>(items: readonly Item[]): Item => items[below(items.length)]!;

  const timeZone = pick(ZONES);
  let from = Temporal.Instant.from('2008-01-01T00:00:00Z').add({ minutes: below(18 * 366 * 24 * 60) });
  if (chance(0.6)) {
    const change =
      timeZone === 'Pacific/Apia'
        ? Temporal.Instant.from('2011-12-30T10:00:00Z')
        : from.toZonedDateTimeISO(timeZone).getTimeZoneTransition('next')?.toInstant();
    if (change) from = change.subtract({ minutes: below(3 * 1440) });
  }

  const time = (): string => {
    const minutes = pick([0, 0, 0, 30, 15, below(60)]);
    return `${String(below(24)).padStart(2, '0')}:${String(minutes).padStart(2, '0')}`;
  };
  const window = (): WeekWindow => {
    const fromDay = 1 + below(7);
    const toDay = chance(0.5) ? fromDay : 1 + below(7);
    return { fromDay, from: time(), toDay, to: chance(0.2) ? '24:00' : time() };
  };
  const turn = () => ({ userIds: Array.from({ length: pick([1, 1, 1, 1, 0, 2, 3]) }, () => pick(PEOPLE)) });
  const dates = Array.from({ length: below(6) }, () =>
    from
      .add({ hours: 24 * (below(9) - 2) })
      .toZonedDateTimeISO(timeZone)
      .toPlainDate()
      .toString(),
  );
  const layer = (index: number): Layer => {
    const unit = pick(ROTATION_UNITS);
    const every = 1 + below({ hours: 30, days: 4, weeks: 3, months: 3 }[unit]);
    const hoursBefore = below({ hours: 24 * 8, days: 24 * 40, weeks: 24 * 200, months: 24 * 400 }[unit]);
    const startsAt = from.add({ minutes: pick([0, 30, below(60)]) - hoursBefore * 60 + (chance(0.1) ? 2880 : 0) });
    return {
      id: `layer_${index}`,
      name: `Layer ${index}`,
      rotation: { every, unit },
      turns: Array.from({ length: below(5) }, turn),
      startsAt,
      carried: chance(0.15) ? { ...turn(), since: startsAt.subtract({ minutes: below(1440) }), until: startsAt } : null,
      activeFrom: chance(0.2) ? from.add({ minutes: below(5 * 1440) - 1440 }) : null,
      endsAt: chance(0.2) ? from.add({ minutes: below(5 * 1440) }) : null,
      hours: chance(0.6) ? Array.from({ length: 1 + below(5) }, window) : null,
      holidays: chance(0.3) ? { calendarId: 'calendar', on: pick(['speaks', 'silent', 'silent'] as const) } : null,
    };
  };
  const layers = Array.from({ length: 1 + below(4) }, (_, index) => layer(index));
  const overrides = Array.from({ length: below(5) }, (_, index): Override => {
    const startAt = from.add({ minutes: below(4 * 1440) - 1440 });
    return {
      overrideId: asId('override', `override_${index}`),
      layerId: chance(0.5) ? pick(layers).id : null,
      userId: pick(PEOPLE),
      startAt,
      endAt: startAt.add({ minutes: 1 + below(1440) }),
      createdAt: from.add({ minutes: below(3) }),
    };
  });
  const leavers = chance(0.3) ? [pick(PEOPLE), pick(PEOPLE)] : [];
  return {
    schedule: { timeZone, layers, overrides, holidays: new Map([['calendar', dates]]) },
    isPresent: (userId) => !leavers.some((leaver) => leaver === userId),
    from,
  };
}
