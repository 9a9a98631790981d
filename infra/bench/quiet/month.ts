import type { RuleSettings } from '#modules/rules/decide/rule_settings.ts';
import type { Comparator } from '#modules/rules/decide/kind_settings.ts';

import { seeded } from '#infra/bench/seeded.ts';

export const DAYS = 30;
const DAY = 1_440;
export const MINUTES = DAYS * DAY;
/** A Monday, in a zone whose clocks do not change within the month. */
export const START = Date.UTC(2027, 1, 1);
export const SERVICES = 20;

/** Something was really broken, from a minute to another, on a service. */
export interface Outage {
  readonly name: string;
  readonly service: number;
  readonly from: number;
  readonly to: number;
  /** Whoever acknowledged it forgot it. */
  readonly isForgotten: boolean;
}

export interface MonthRule {
  readonly name: string;
  readonly service: number;
  readonly comparator: Comparator;
  readonly threshold: number;
  readonly windowMinutes: number;
  /** Its window, minute by minute; null without data. */
  readonly values: readonly (number | null)[];
  /** What somebody who wants fewer pages sets. */
  readonly settings: Partial<RuleSettings>;
}

const at = (day: number, hour: number, minute = 0): number => day * DAY + hour * 60 + minute;

/** Two of them at night; the first breaches every rule of its service. */
export const OUTAGES: readonly Outage[] = [
  {
    name: 'database down, everything of the service breaks',
    service: 5,
    from: at(9, 2, 13),
    to: at(9, 3, 0),
    isForgotten: false,
  },
  { name: 'payments time out', service: 1, from: at(12, 14, 5), to: at(12, 14, 41), isForgotten: false },
  { name: 'bad deploy, errors', service: 2, from: at(17, 10, 30), to: at(17, 10, 52), isForgotten: false },
  {
    name: 'search is down, acknowledged and forgotten',
    service: 3,
    from: at(20, 1, 40),
    to: at(20, 7, 10),
    isForgotten: true,
  },
  { name: 'disk fills up on the flapping host', service: 4, from: at(23, 4, 0), to: at(23, 6, 0), isForgotten: false },
];

/** The metrics and rules of a month: daily waves, nightly batches, deploys, flapping disks, gaps and the outages. */
export function monthOf(seed: number): readonly MonthRule[] {
  return Array.from({ length: SERVICES }, (_, service) => rulesOf(service, seeded(seed + service))).flat();
}

function rulesOf(service: number, random: () => number): MonthRule[] {
  const outages = OUTAGES.filter((outage) => outage.service === service);
  const broken = (minute: number): boolean => outages.some(({ from, to }) => minute >= from && minute < to);
  const deploys = Array.from({ length: 25 }, () =>
    at(Math.floor(random() * DAYS), 9 + Math.floor(random() * 8), Math.floor(random() * 60)),
  );
  const deploying = new Map(deploys.flatMap((minute) => [0, 1, 2].map((after) => [minute + after, after] as const)));
  /** When nothing of the service arrives: its sender restarts, or a network is away. */
  const gaps = Array.from({ length: 6 }, () => ({
    from: Math.floor(random() * MINUTES),
    minutes: 3 + Math.floor(random() * 25),
  }));
  const isGap = (minute: number): boolean =>
    gaps.some(({ from, minutes }) => minute >= from && minute < from + minutes) && !broken(minute);
  const wave = (minute: number): number => 0.5 - 0.5 * Math.cos(((minute % DAY) / DAY) * 2 * Math.PI);
  const noise = (size: number): number => (random() + random() + random() - 1.5) * size;
  /** On some days, for some hours. */
  const flapping = Array.from({ length: service % 5 === 4 ? 5 : 0 }, () => ({
    from: Math.floor(random() * MINUTES),
    minutes: 240 + Math.floor(random() * 360),
  }));
  const flaps = (minute: number): boolean =>
    flapping.some(({ from, minutes }) => minute >= from && minute < from + minutes);
  const series = (value: (minute: number) => number): (number | null)[] =>
    Array.from({ length: MINUTES }, (_, minute) => (isGap(minute) ? null : value(minute)));
  const spike = (chance: number): boolean => random() < chance;
  return [
    {
      name: 'latency',
      service,
      comparator: '>',
      threshold: 600,
      windowMinutes: 2,
      values: windows(
        series(
          (minute) =>
            180 +
            230 * wave(minute) +
            noise(90) +
            (broken(minute) ? 900 : 0) +
            (deploying.has(minute) ? 420 : 0) +
            (spike(0.0006) ? 700 : 0),
        ),
        2,
      ),
      settings: { forMinutes: 5, recoveryThreshold: 500, groupMinutes: 2, repageMinutes: 30 },
    },
    {
      name: 'errors',
      service,
      comparator: '>',
      threshold: 2,
      windowMinutes: 2,
      values: windows(
        series(
          (minute) => Math.max(0, 0.4 + noise(0.5)) + (broken(minute) ? 22 : 0) + (deploying.has(minute) ? 3.5 : 0),
        ),
        2,
      ),
      settings: { forMinutes: 4, groupMinutes: 2, repageMinutes: 30 },
    },
    {
      name: 'queue',
      service,
      comparator: '>',
      threshold: 1_000,
      windowMinutes: 5,
      // A batch fills it each night from 02:00 for about an hour and a half.
      values: windows(
        series((minute) => {
          const ofDay = minute % DAY;
          const isBatch = service % 3 === 0 && ofDay >= 120 && ofDay < 200 + (service % 7);
          return 120 + 60 * wave(minute) + noise(60) + (isBatch ? 1_600 : 0) + (broken(minute) ? 4_000 : 0);
        }),
        5,
      ),
      settings: { forMinutes: 5, groupMinutes: 2, repageMinutes: 30 },
    },
    {
      name: 'disk',
      service,
      comparator: '>',
      threshold: 90,
      windowMinutes: 1,
      // A log fills it and its rotation empties it again, around the threshold.
      values: windows(
        series(
          (minute) =>
            (flaps(minute) ? 88.6 + 2.2 * Math.sin(minute / 21) + noise(0.8) : 61 + noise(2)) +
            (broken(minute) ? 40 : 0),
        ),
        1,
      ),
      settings: { recoveryThreshold: 86, flapIncidents: 3, flapMinutes: 720, groupMinutes: 2 },
    },
    {
      name: 'up',
      service,
      comparator: '<',
      threshold: 1,
      windowMinutes: 1,
      values: windows(
        series((minute) => (broken(minute) || deploying.get(minute) === 1 ? 0 : 1)),
        1,
      ),
      settings: { forMinutes: 3, groupMinutes: 2, repageMinutes: 30 },
    },
  ];
}

/** The average over the last minutes, of those that have data. */
function windows(values: readonly (number | null)[], minutes: number): (number | null)[] {
  return values.map((_, index) => {
    const known = values.slice(Math.max(0, index + 1 - minutes), index + 1).filter((value) => value !== null);
    return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0) / known.length;
  });
}
