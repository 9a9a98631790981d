import { SeriesTimes } from '#ingest/series/series_times.ts';
import type { Id } from '#kernel/ids.ts';

/** A series that continues is announced again after this long, by the times of its points. */
const ANNOUNCE_AGAIN_MS = 5 * 60_000;
/** Limit on the series, about 50 MB. Beyond it everything is forgotten, and announced again. */
const SERIES_MAX = 1_000_000;

/** The announcements of one job: remembered once the job is stored. */
export interface Announcements {
  /** Returns whether the series has to be announced; `newestAt` is 0 for one with nothing but stale markers. */
  isDue(serviceId: Id<'service'>, key: bigint, newestAt: number): boolean;
  /** Records that the job is stored. Returns how many of its series were not known. */
  commit(): number;
}

/**
 * The series whose labels this process has sent to the store. Labels do not go with every point, because they would be
 * most of what is packed, carried and stored. Each series is announced again every five minutes: that records when it was
 * last seen and repairs what a store may have lost.
 */
export class AnnouncedSeries {
  readonly #services = new Map<Id<'service'>, SeriesTimes>();
  #size = 0;
  /** The last service that was looked up: many questions about one service follow each other. */
  #current: { readonly serviceId: Id<'service'>; readonly times: SeriesTimes | undefined } | null = null;

  begin(): Announcements {
    const pending = new Map<Id<'service'>, SeriesTimes>();
    return {
      isDue: (serviceId, key, newestAt) => {
        const announcedAt = this.#timesOf(serviceId)?.get(key) ?? Number.NaN;
        if (newestAt < announcedAt + ANNOUNCE_AGAIN_MS) return false;
        let queued = pending.get(serviceId);
        if (queued === undefined) pending.set(serviceId, (queued = new SeriesTimes()));
        // A series may come several times in one job.
        return queued.advance(key, newestAt, ANNOUNCE_AGAIN_MS);
      },
      commit: () => {
        let added = 0;
        for (const [serviceId, times] of pending) added += this.#remember(serviceId, times);
        return added;
      },
    };
  }

  #timesOf(serviceId: Id<'service'>): SeriesTimes | undefined {
    if (this.#current?.serviceId !== serviceId) {
      this.#current = { serviceId, times: this.#services.get(serviceId) };
    }
    return this.#current.times;
  }

  #remember(serviceId: Id<'service'>, announced: SeriesTimes): number {
    if (this.#size >= SERIES_MAX) {
      this.#services.clear();
      this.#size = 0;
      this.#current = null;
    }
    const times = this.#timesOf(serviceId) ?? this.#open(serviceId);
    const before = times.size;
    times.setAll(announced);
    this.#size += times.size - before;
    return times.size - before;
  }

  #open(serviceId: Id<'service'>): SeriesTimes {
    const times = new SeriesTimes();
    this.#services.set(serviceId, times);
    this.#current = { serviceId, times };
    return times;
  }
}
