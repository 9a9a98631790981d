import type { CounterWriter } from '#modules/metrics/decide/counter_writers.ts';
import { HistogramMemory } from '#ingest/series/histogram_memory.ts';
import { ScopeVersions } from '#ingest/series/scope_versions.ts';
import { SeriesIndex } from '#ingest/series/series_index.ts';
import { freeBytes } from '#kernel/free_bytes.ts';
import type { Id } from '#kernel/ids.ts';
import { withTimeout } from '#kernel/promises.ts';

/** Limit on the series over all services of a process, about 50 MB. */
const SERIES_MAX = 1_000_000;
const LOOK_AFTER_REQUESTS = 256;
const FINDING_MS_MAX = 3_000;
/** Limit on the writers of one series besides the last one: servers fork as many workers. */
const OTHER_WRITERS_MAX = 64;
const CAPACITY_FIRST = 32;
const COLUMNS = 3;

/**
 * Start times of a service's counters, and the last count of each process that writes them, by the keys of their
 * series. A start is stored when it is first seen; storing it again changes nothing, so it may be forgotten.
 */
export class SeriesStarts {
  readonly #index = new SeriesIndex();
  readonly #key = new BigUint64Array(1);
  /** The low half first, as on every processor that Node runs on. */
  readonly #halves = new Int32Array(this.#key.buffer);
  /** Start, time and value in turn. */
  #columns = new Float64Array(CAPACITY_FIRST * COLUMNS);
  /** Writers of series that several processes have written. */
  readonly #others = new Map<bigint, readonly CounterWriter[]>();
  #otherWriters = 0;
  /** Series that several processes write, as what is stored of them shows. */
  readonly #shared = new Set<bigint>();
  readonly histograms = new HistogramMemory();
  readonly scopes = new ScopeVersions();

  get size(): number {
    return this.#index.size + this.#otherWriters + this.#shared.size + this.histograms.size + this.scopes.size;
  }

  /** The process that wrote the newest sample; null for a series of which nothing is known. */
  current(key: bigint): CounterWriter | null {
    const number = this.#find(key);
    if (number === -1) return null;
    const place = number * COLUMNS;
    const columns = this.#columns;
    return { startAt: columns[place] ?? 0, at: columns[place + 1] ?? 0, value: columns[place + 2] ?? 0 };
  }

  others(key: bigint): readonly CounterWriter[] | undefined {
    return this.#others.get(key);
  }

  /** Whether several processes are known to write a series, also before this process was started. */
  isShared(key: bigint): boolean {
    return this.#others.has(key) || this.#shared.has(key);
  }

  addShared(keys: Iterable<bigint>): void {
    for (const key of keys) this.#shared.add(key);
  }

  set(key: bigint, { startAt, at, value }: CounterWriter): void {
    const index = this.#find(key);
    const place = (index === -1 ? this.#add() : index) * COLUMNS;
    this.#columns[place] = startAt;
    this.#columns[place + 1] = at;
    this.#columns[place + 2] = value;
  }

  setOthers(key: bigint, others: readonly CounterWriter[]): void {
    const kept = others.slice(-OTHER_WRITERS_MAX);
    this.#otherWriters += kept.length - (this.#others.get(key)?.length ?? 0);
    this.#others.set(key, kept);
  }

  addAll(newer: SeriesStarts): void {
    for (let number = 0; number < newer.#index.size; number += 1) {
      const key = joined(newer.#index.highOf(number), newer.#index.lowOf(number));
      const writer = newer.current(key);
      if (writer !== null) this.set(key, writer);
    }
    for (const [key, others] of newer.#others) this.setOthers(key, others);
    this.histograms.addAll(newer.histograms);
  }

  #find(key: bigint): number {
    this.#key[0] = key;
    return this.#index.find(this.#halves[1] ?? 0, this.#halves[0] ?? 0);
  }

  #add(): number {
    const number = this.#index.addSought();
    if ((number + 1) * COLUMNS > this.#columns.length) {
      const columns = new Float64Array(this.#columns.length * 2);
      columns.set(this.#columns);
      freeBytes(this.#columns);
      this.#columns = columns;
    }
    return number;
  }
}

function joined(high: number, low: number): bigint {
  return (BigInt(high >>> 0) << 32n) | BigInt(low >>> 0);
}

interface Held {
  readonly starts: SeriesStarts;
  readonly reading: Promise<void>;
}

type FindShared = (serviceId: Id<'service'>) => Promise<readonly bigint[]>;

/** Start times of the counters of all services of a process. */
export class ServiceStarts {
  readonly #services = new Map<Id<'service'>, Held>();
  readonly #findShared: FindShared;
  #requests = 0;

  constructor(findShared: FindShared = async () => []) {
    this.#findShared = findShared;
  }

  /** Returns once it is known which series several processes write, unless that takes long or cannot be found out. */
  async of(serviceId: Id<'service'>): Promise<SeriesStarts> {
    this.#requests += 1;
    if (this.#requests % LOOK_AFTER_REQUESTS === 0) this.#bound();
    const held = this.#services.get(serviceId) ?? this.#hold(serviceId);
    await held.reading;
    return held.starts;
  }

  #hold(serviceId: Id<'service'>): Held {
    const starts = new SeriesStarts();
    const learning = this.#findShared(serviceId).then(
      (keys) => starts.addShared(keys),
      () => {},
    );
    const held = { starts, reading: withTimeout(learning, FINDING_MS_MAX, () => {}) };
    this.#services.set(serviceId, held);
    return held;
  }

  #bound(): void {
    let size = 0;
    for (const { starts } of this.#services.values()) size += starts.size;
    if (size > SERIES_MAX) this.#services.clear();
  }
}
