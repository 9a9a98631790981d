import { randomInt } from 'node:crypto';

import { DAY_MS } from '#modules/metrics/decide/rollup_plan.ts';
import { type Id, uuidOf } from '#kernel/ids.ts';
import type { RetentionTier } from '#storage/clickhouse/expired_rows.ts';

/** An hour or a day of a service. */
export interface Period {
  /** UUID of the service. */
  readonly service: string;
  /** Epoch seconds. */
  readonly start: number;
  /** Stamp of what was inserted into the period, as of when it was looked at. */
  readonly stamp: string;
  readonly points: number;
  /** Version of the rollup that was begun or completed last; '0' if there is none. */
  readonly version: string;
  readonly isComplete: boolean;
}

export type Span = 'hour' | 'day';

export interface RolledUp {
  /** Services with new rows. */
  readonly serviceIds: readonly Id<'service'>[];
  /** Reasons why periods could not be rolled up: they are read from points, and tried again in an hour. */
  readonly failures: readonly unknown[];
}

/** One call of `rollUp`. */
export class RollupRun {
  readonly nowMs: number;
  readonly mayGoOn: () => boolean;
  readonly rolledUp = new Set<Id<'service'>>();
  readonly failures: unknown[] = [];
  /** Time from which each service keeps points, by its UUID. */
  readonly #kept: ReadonlyMap<string, { readonly serviceId: Id<'service'>; readonly sinceMs: number }>;

  constructor(tiers: readonly RetentionTier[], nowMs: number, mayGoOn: () => boolean) {
    this.nowMs = nowMs;
    this.mayGoOn = mayGoOn;
    this.#kept = new Map(
      tiers.flatMap(({ days, serviceIds }) =>
        serviceIds.map((serviceId) => [uuidOf(serviceId), { serviceId, sinceMs: nowMs - days * DAY_MS }] as const),
      ),
    );
  }

  get services(): string[] {
    return [...this.#kept.keys()];
  }

  knows(service: string): boolean {
    return this.#kept.has(service);
  }

  keeps(service: string, start: number): boolean {
    return start * 1_000 >= (this.#kept.get(service)?.sinceMs ?? Infinity);
  }

  add(service: string): void {
    const cached = this.#kept.get(service);
    if (cached !== undefined) this.rolledUp.add(cached.serviceId);
  }
}

export const NEW_PERIOD = { stamp: '0', points: 0, version: '0', isComplete: false };

export function keyOf(span: Span, { service, start }: Period): string {
  return `${span} ${service} ${start}`;
}

/** Limit on the points that one statement rolls up: it takes a few seconds and little memory. */
const POINTS_AT_ONCE = 4_000_000;
const PERIODS_AT_ONCE = 500;

/** Splits periods into chunks with a bounded number of points and of periods; a single period is never split. */
export function* chunksOf(periods: readonly Period[]): Generator<readonly Period[]> {
  let chunk: Period[] = [];
  let points = 0;
  for (const period of periods) {
    if (chunk.length > 0 && (points + period.points > POINTS_AT_ONCE || chunk.length >= PERIODS_AT_ONCE)) {
      yield chunk;
      [chunk, points] = [[], 0];
    }
    chunk.push(period);
    points += period.points;
  }
  if (chunk.length > 0) yield chunk;
}

const VERSIONS_A_MS = 1_048_576;

/** Greater than those of the periods, and no two alike: the time with a random number behind it. */
export function newVersion(nowMs: number, periods: readonly Pick<Period, 'version'>[]): string {
  const latest = periods.reduce((most, { version }) => (BigInt(version) > most ? BigInt(version) : most), 0n);
  const ownVersion = BigInt(nowMs) * BigInt(VERSIONS_A_MS);
  return String((latest > ownVersion ? latest + 1n : ownVersion) + BigInt(randomInt(VERSIONS_A_MS)));
}

export function timeOf(version: string): number {
  return Number(BigInt(version) / BigInt(VERSIONS_A_MS));
}

export const WEEK_MS = 7 * DAY_MS;

/** The Monday that begins the week. */
export function weekOf(atMs: number): number {
  const monday = 4 * DAY_MS;
  return Math.floor((atMs - monday) / WEEK_MS) * WEEK_MS + monday;
}
