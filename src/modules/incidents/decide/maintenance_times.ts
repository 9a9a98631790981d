import {
  isFor,
  MAINTENANCE_DAYS_MAX,
  type MaintenanceSubject,
  type MaintenanceTarget,
  type MaintenanceTimes,
  type Occurrence,
  occurrencesBetween,
} from '#modules/maintenance/decide/maintenance.ts';
import { fromEpochMilliseconds, type Temporal } from '#kernel/time.ts';
import { DAY_MS, ZoneClocks } from '#kernel/zone_clock.ts';

/** Limit on the consecutive windows without a gap that count together. */
const CHAINED_MAX = 100;

/** Time until which pages about a subject wait, and the first window that causes it. */
export interface Quiet<Window> {
  readonly until: Temporal.Instant;
  readonly window: Window;
}

/**
 * Computes until when pages wait, by maintenance windows. Results for a day are cached: many queries about many windows
 * take little longer than one.
 */
export class SuppressionTimes<Window extends MaintenanceTimes & MaintenanceTarget> {
  readonly #windows: readonly Window[];
  readonly #clocks = new ZoneClocks();
  /** Occurrences by day of UTC, in the order of the windows. */
  readonly #days = new Map<number, readonly (Occurrence & { readonly window: Window })[]>();

  constructor(windows: readonly Window[]) {
    this.#windows = windows;
  }

  /**
   * Returns until when pages that would begin at this instant wait; null when they do not. Windows that overlap or
   * follow one another count together; after 31 days pages no longer wait, whatever the windows say.
   */
  find(subject: MaintenanceSubject, at: Temporal.Instant): Quiet<Window> | null {
    const atMs = at.epochMilliseconds;
    const latestMs = atMs + MAINTENANCE_DAYS_MAX * DAY_MS;
    const first = this.#inEffect(subject, atMs)[0];
    if (first === undefined) return null;
    let untilMs = atMs;
    for (let chained = 0; chained < CHAINED_MAX && untilMs < latestMs; chained += 1) {
      const ends = this.#inEffect(subject, untilMs).map(({ toMs }) => toMs);
      if (ends.length === 0) break;
      untilMs = Math.min(latestMs, Math.max(...ends));
    }
    return { until: fromEpochMilliseconds(untilMs), window: first.window };
  }

  #inEffect(subject: MaintenanceSubject, atMs: number) {
    return this.#on(Math.floor(atMs / DAY_MS)).filter(
      ({ fromMs, toMs, window }) => fromMs <= atMs && atMs < toMs && isFor(window, subject),
    );
  }

  #on(day: number) {
    const cachedDay = this.#days.get(day);
    if (cachedDay !== undefined) return cachedDay;
    const occurrences = this.#windows.flatMap((window) =>
      occurrencesBetween(window, day * DAY_MS, (day + 1) * DAY_MS, this.#clocks).map((occurrence) => ({
        ...occurrence,
        window,
      })),
    );
    this.#days.set(day, occurrences);
    return occurrences;
  }
}
