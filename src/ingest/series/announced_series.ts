import { SeriesIndex } from '#ingest/series/series_index.ts';
import { freeBytes } from '#kernel/free_bytes.ts';
import type { Id } from '#kernel/ids.ts';

const CAPACITY_FIRST = 32;

/** A time per series key, in 22 to 40 bytes each. It only ever grows. */
export class SeriesTimes {
  readonly #index = new SeriesIndex();
  #times = new Float64Array(CAPACITY_FIRST);
  readonly #key = new BigUint64Array(1);
  /** The low half first, as on every processor that Node runs on. */
  readonly #halves = new Int32Array(this.#key.buffer);

  get size(): number {
    return this.#index.size;
  }

  /** Returns the time of a key; NaN for a key without one. */
  get(key: bigint): number {
    const number = this.#find(key);
    return number === -1 ? Number.NaN : (this.#times[number] ?? Number.NaN);
  }

  set(key: bigint, time: number): void {
    const index = this.#find(key);
    this.#setAt(index, time);
  }

  /** Sets a time that is at least `afterMs` later than the one before, or the first one; whether it was set. */
  advance(key: bigint, time: number, afterMs: number): boolean {
    const index = this.#find(key);
    if (index !== -1 && time < (this.#times[index] ?? 0) + afterMs) return false;
    this.#setAt(index, time);
    return true;
  }

  /** Sets all of the others' times. */
  setAll(others: SeriesTimes): void {
    for (let number = 0; number < others.size; number += 1) {
      const index = this.#index.find(others.#index.highOf(number), others.#index.lowOf(number));
      this.#setAt(index, others.#times[number] ?? Number.NaN);
    }
  }

  /** Sets the time of a known number; -1 adds the key first. */
  #setAt(index: number, time: number): void {
    const number = index === -1 ? this.#add() : index;
    this.#times[number] = time;
  }

  #find(key: bigint): number {
    this.#key[0] = key;
    return this.#index.find(this.#halves[1] ?? 0, this.#halves[0] ?? 0);
  }

  #add(): number {
    const number = this.#index.addSought();
    if (number === this.#times.length) {
      const times = new Float64Array(number * 2);
      times.set(this.#times);
      freeBytes(this.#times);
      this.#times = times;
    }
    return number;
  }
}

/** A series that continues is announced again after this long, by the times of its points. */
const ANNOUNCE_AGAIN_MS = 5 * 60_000;
/** Limit on the series, about 50 MB. Beyond it everything is forgotten, and announced again. */
const SERIES_MAX = 1_000_000;

/** The announcements of one job: remembered once the job is stored. */
interface Announcements {
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
    if (this.#current?.serviceId !== serviceId) this.#current = { serviceId, times: this.#services.get(serviceId) };
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
