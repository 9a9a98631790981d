import { Temporal } from '#kernel/time.ts';

export const DAY_MS = 86_400_000;

/**
 * The wall clock of a time zone, in milliseconds as if it were UTC's. Lookups of a day, which take some 20 µs, are
 * cached: for callers with many questions about few days. No zone changes its clocks twice within three days.
 */
export class ZoneClock {
  readonly #zone: string;
  /** Offsets at the beginnings of days of UTC, counted from 1970-01-01. */
  readonly #offsets = new Map<number, number>();

  constructor(zone: string) {
    this.#zone = zone;
  }

  /** Returns the wall clock's time at an instant. */
  wallOf(ms: number): number {
    const day = Math.floor(ms / DAY_MS);
    const offset = this.#offsetOn(day);
    return ms + (offset === this.#offsetOn(day + 1) ? offset : this.#offsetAt(ms));
  }

  /** Returns the instant of a time on the wall clock; the first of two. A time that the clock skips moves forward. */
  instantOf(wallMs: number): number {
    const day = Math.floor(wallMs / DAY_MS);
    const offset = this.#offsetOn(day - 1);
    if (offset === this.#offsetOn(day + 2)) return wallMs - offset;
    const wall = Temporal.Instant.fromEpochMilliseconds(wallMs).toZonedDateTimeISO('UTC').toPlainDateTime();
    return wall.toZonedDateTime(this.#zone).epochMilliseconds;
  }

  #offsetOn(day: number): number {
    const known = this.#offsets.get(day);
    if (known !== undefined) return known;
    const offset = this.#offsetAt(day * DAY_MS);
    this.#offsets.set(day, offset);
    return offset;
  }

  #offsetAt(ms: number): number {
    return Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(this.#zone).offsetNanoseconds / 1e6;
  }
}

/** The clocks of some zones, one for each. */
export class ZoneClocks {
  readonly #clocks = new Map<string, ZoneClock>();

  of(zone: string): ZoneClock {
    const clock = this.#clocks.get(zone) ?? new ZoneClock(zone);
    this.#clocks.set(zone, clock);
    return clock;
  }
}
