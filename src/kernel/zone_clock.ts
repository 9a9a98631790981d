import { Temporal } from '#kernel/time.ts';

export const DAY_MS = 86_400_000;

const SECOND_MS = 1_000;

/** Limit on the days whose offsets are cached, some megabytes. */
const DAYS_CACHED = 40_000;

/**
 * The wall clock of a time zone, in milliseconds as if it were UTC's. Lookups of a day, which take some 20 µs, are
 * cached: for callers with many questions about few days. No zone changes its clocks twice within three days.
 */
export class ZoneClock {
  readonly #zone: string;
  /** Offsets at the beginnings of days of UTC, counted from 1970-01-01. */
  readonly #offsets = new Map<number, number>();
  /** Instants of the changes of the clocks, by the day of UTC that they end. */
  readonly #changes = new Map<number, number>();
  /** Time in which the clocks are known not to change, both ends included. */
  #steady = { since: Infinity, until: -Infinity, offset: 0 };

  constructor(zone: string) {
    this.#zone = zone;
  }

  /** Returns the wall clock's time at an instant. */
  wallOf(ms: number): number {
    if (this.#isSteady(ms, ms)) return ms + this.#steady.offset;
    const day = Math.floor(ms / DAY_MS);
    const offset = this.#offsetOn(day);
    return ms + (offset === this.#offsetOn(day + 1) ? offset : this.#offsetAt(ms));
  }

  /** Returns the instant of a time on the wall clock; the first of two. A time that the clock skips moves forward. */
  instantOf(wallMs: number): number {
    const day = Math.floor(wallMs / DAY_MS);
    const offset = this.#offsetOn(day - 1);
    if (offset === this.#offsetOn(day + 2)) return wallMs - offset;
    return this.#plainOf(wallMs).toZonedDateTime(this.#zone).epochMilliseconds;
  }

  /** Returns the instant of a time on the wall clock; the last of two. A time that the clock skips moves forward. */
  lastInstantOf(wallMs: number): number {
    return this.#plainOf(wallMs).toZonedDateTime(this.#zone, { disambiguation: 'later' }).epochMilliseconds;
  }

  /** Returns the first change of the clocks in `(from, to]`; null if there is none. Looks at every day between. */
  firstChange(from: number, to: number): number | null {
    if (this.#isSteady(from, to)) return null;
    const last = Math.floor(to / DAY_MS);
    for (let day = Math.floor(from / DAY_MS); day <= last; day += 1) {
      const change = this.#changeIn(day);
      if (change !== null && change > from && change <= to) return change;
    }
    this.#keepSteady(from, to);
    return null;
  }

  /** Returns the last change of the clocks in `(from, to]`; null if there is none. Looks at every day between. */
  lastChange(from: number, to: number): number | null {
    if (this.#isSteady(from, to)) return null;
    const first = Math.floor(from / DAY_MS);
    for (let day = Math.floor(to / DAY_MS); day >= first; day -= 1) {
      const change = this.#changeIn(day);
      if (change !== null && change <= to && change > from) return change;
    }
    this.#keepSteady(from, to);
    return null;
  }

  #isSteady(from: number, to: number): boolean {
    return this.#steady.since <= from && to <= this.#steady.until;
  }

  #keepSteady(from: number, to: number): void {
    const { since, until } = this.#steady;
    const meets = from <= until && since <= to;
    const offset = this.wallOf(to) - to;
    this.#steady = meets
      ? { since: Math.min(since, from), until: Math.max(until, to), offset }
      : { since: from, until: to, offset };
  }

  #plainOf(wallMs: number): Temporal.PlainDateTime {
    return Temporal.Instant.fromEpochMilliseconds(wallMs).toZonedDateTimeISO('UTC').toPlainDateTime();
  }

  /** Returns the instant after the beginning of this day of UTC, and until that of the next, at which clocks change. */
  #changeIn(day: number): number | null {
    const [before, after] = [this.#offsetOn(day), this.#offsetOn(day + 1)];
    if (before === after) return null;
    const change = this.#changes.get(day);
    if (change !== undefined) return change;
    let [low, high] = [(day * DAY_MS) / SECOND_MS, ((day + 1) * DAY_MS) / SECOND_MS];
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      if (this.#offsetAt(middle * SECOND_MS) === before) low = middle;
      else high = middle;
    }
    this.#changes.set(day, high * SECOND_MS);
    return high * SECOND_MS;
  }

  #offsetOn(day: number): number {
    const cachedOffset = this.#offsets.get(day);
    if (cachedOffset !== undefined) return cachedOffset;
    const offset = this.#offsetAt(day * DAY_MS);
    if (this.#offsets.size === DAYS_CACHED) this.#offsets.clear();
    this.#offsets.set(day, offset);
    return offset;
  }

  #offsetAt(ms: number): number {
    return Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(this.#zone).offsetNanoseconds / 1e6;
  }
}

export class ZoneClocks {
  readonly #clocks = new Map<string, ZoneClock>();

  of(zone: string): ZoneClock {
    const clock = this.#clocks.get(zone) ?? new ZoneClock(zone);
    this.#clocks.set(zone, clock);
    return clock;
  }
}
