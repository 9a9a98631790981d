import { SeriesTimes } from '#ingest/series/series_times.ts';
import type { Id } from '#kernel/ids.ts';

/** About 50 MB, over all services of a process. */
const SERIES_MAX = 1_000_000;
const LOOK_AFTER_REQUESTS = 256;

/**
 * Since when the counters of a service count, and when its histograms were last sent, by the keys of their series, in
 * epoch milliseconds. A start is stored when it is first heard of; storing it again changes nothing, so it may be forgotten.
 */
export class SeriesStarts {
  readonly #starts = new KeyedTimes();
  readonly #lasts = new KeyedTimes();

  get size(): number {
    return this.#starts.size + this.#lasts.size;
  }

  /** NaN for a series of which nothing is known, as with the next. */
  get(key: bigint): number {
    return this.#starts.get(key);
  }

  lastAt(key: bigint): number {
    return this.#lasts.get(key);
  }

  set(key: bigint, startAt: number): void {
    this.#starts.set(key, startAt);
  }

  setLast(key: bigint, at: number): void {
    this.#lasts.set(key, at);
  }

  addAll(others: SeriesStarts): void {
    this.#starts.addAll(others.#starts);
    this.#lasts.addAll(others.#lasts);
  }
}

/** The same for all services of a process. */
export class ServiceStarts {
  readonly #services = new Map<Id<'service'>, SeriesStarts>();
  #requests = 0;

  of(serviceId: Id<'service'>): SeriesStarts {
    this.#requests += 1;
    if (this.#requests % LOOK_AFTER_REQUESTS === 0) this.#bound();
    let starts = this.#services.get(serviceId);
    if (starts === undefined) this.#services.set(serviceId, (starts = new SeriesStarts()));
    return starts;
  }

  #bound(): void {
    let size = 0;
    for (const starts of this.#services.values()) size += starts.size;
    if (size > SERIES_MAX) this.#services.clear();
  }
}

class KeyedTimes {
  readonly #keys: bigint[] = [];
  #times: SeriesTimes | null = null;

  get size(): number {
    return this.#keys.length;
  }

  get(key: bigint): number {
    return this.#times?.get(key) ?? Number.NaN;
  }

  set(key: bigint, at: number): void {
    this.#times ??= new SeriesTimes();
    if (Number.isNaN(this.#times.get(key))) this.#keys.push(key);
    this.#times.set(key, at);
  }

  addAll(others: KeyedTimes): void {
    for (const key of others.#keys) this.set(key, others.get(key));
  }
}
