import { SeriesTimes } from '#core/metrics/series_times.ts';
import type { Id } from '#kernel/ids.ts';

/** A series that goes on is told again this much later, by the times of its points. */
const AGAIN_MS = 5 * 60_000;
/** At most some 50 MB; beyond it all is forgotten, and told again. */
const SERIES_MAX = 1_000_000;

/** What one job tells of series: kept in mind once the job is stored. */
export interface Telling {
  /** `newestAt` is 0 for a series of which there are only marks of its end. */
  isDue(serviceId: Id<'service'>, key: bigint, newestAt: number): boolean;
  /** The job is stored. */
  done(): void;
}

/**
 * Which series this process has told the store of: their labels need not go with each of their points, which would be
 * most of what there is to pack, carry and store. Each is told again every five minutes, which says when it was last
 * seen and makes good what a store may have lost.
 */
export class ToldSeries {
  readonly #services = new Map<Id<'service'>, SeriesTimes>();
  #size = 0;
  /** Of whom was asked last: many questions about one service follow each other. */
  #asked: { readonly serviceId: Id<'service'>; readonly times: SeriesTimes | undefined } | null = null;

  begin(): Telling {
    const told: [serviceId: Id<'service'>, key: bigint, newestAt: number][] = [];
    return {
      isDue: (serviceId, key, newestAt) => {
        const toldAt = this.#timesOf(serviceId)?.get(key) ?? Number.NaN;
        if (newestAt < toldAt + AGAIN_MS) return false;
        told.push([serviceId, key, newestAt]);
        return true;
      },
      done: () => {
        for (const [serviceId, key, newestAt] of told) this.#keep(serviceId, key, newestAt);
      },
    };
  }

  #timesOf(serviceId: Id<'service'>): SeriesTimes | undefined {
    if (this.#asked?.serviceId !== serviceId) {
      this.#asked = { serviceId, times: this.#services.get(serviceId) };
    }
    return this.#asked.times;
  }

  #keep(serviceId: Id<'service'>, key: bigint, newestAt: number): void {
    if (this.#size >= SERIES_MAX) {
      this.#services.clear();
      this.#size = 0;
      this.#asked = null;
    }
    const times = this.#timesOf(serviceId) ?? this.#open(serviceId);
    const before = times.size;
    times.set(key, newestAt);
    this.#size += times.size - before;
  }

  #open(serviceId: Id<'service'>): SeriesTimes {
    const times = new SeriesTimes();
    this.#services.set(serviceId, times);
    this.#asked = { serviceId, times };
    return times;
  }
}
