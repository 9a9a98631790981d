import { type CounterWriter, isSameStart } from '#modules/metrics/decide/counter_writers.ts';
import { SeriesIndex } from '#ingest/series/series_index.ts';
import { freeBytes } from '#kernel/free_bytes.ts';
import type { Id } from '#kernel/ids.ts';
import { withTimeout } from '#kernel/promises.ts';
import type { SentHistogram } from '#modules/metrics/decide/exponential_buckets.ts';
import { limitBy, type Clock, systemClock } from '#kernel/time.ts';

/** Limit on the scopes of one service that are told apart by version or schema. */
const SCOPES_MAX = 1_000;

/**
 * Scopes of which one resource had several versions, or schemas, in one request: their streams are told apart by them
 * from then on. Where there is one at a time, a new version of a library goes on with the series of the one before.
 */
class ScopeVersions {
  readonly #mixed = new Set<string>();

  get size(): number {
    return this.#mixed.size;
  }

  has(scope: string): boolean {
    return this.#mixed.has(scope);
  }

  addAll(scopes: Iterable<string>): void {
    for (const scope of scopes) if (this.#mixed.size < SCOPES_MAX) this.#mixed.add(scope);
  }
}

/** The versions of scopes in one request, beside what is known from the requests before. */
export class RequestScopes {
  /** Scopes whose versions turned out to differ in this request. */
  readonly mixed = new Set<string>();
  readonly #earlier: ScopeVersions;
  readonly #seen = new Map<string, string>();

  constructor(earlier: ScopeVersions) {
    this.#earlier = earlier;
  }

  /** Notes a version of a scope, which may be empty, and returns whether it is needed to tell streams apart. */
  note(scope: string, version: string): boolean {
    if (this.mixed.has(scope) || this.#earlier.has(scope)) return true;
    const before = this.#seen.get(scope);
    if (before === undefined) this.#seen.set(scope, version);
    else if (before !== version && this.mixed.size < SCOPES_MAX) this.mixed.add(scope);
    return this.mixed.has(scope);
  }

  remember(): void {
    this.#earlier.addAll(this.mixed);
  }
}

/** An export of a histogram that sends only buckets which hold anything. */
export interface HistogramExport {
  /** Start time; NaN if unknown. */
  readonly startAt: number;
  readonly at: number;
  readonly histogram: SentHistogram;
  /** Time of the first export after the last reset that no start tells of; negative infinity without one. */
  readonly resetAt: number;
}

/** Limit on the processes that write one histogram in turn. */
const WRITERS_MAX = 4;

/** The last exports of histograms, one for each process that writes, by the key of the series of their count. */
class HistogramMemory {
  /** The newest export last. */
  readonly #exports = new Map<bigint, readonly HistogramExport[]>();
  #buckets = 0;

  /** Approximate number of counters that take as much memory. */
  get size(): number {
    return this.#exports.size + this.#buckets;
  }

  of(key: bigint): readonly HistogramExport[] | undefined {
    return this.#exports.get(key);
  }

  set(key: bigint, exports: readonly HistogramExport[]): void {
    this.#buckets += bucketsOf(exports) - bucketsOf(this.#exports.get(key) ?? []);
    this.#exports.set(key, exports);
  }

  addAll(newer: HistogramMemory): void {
    for (const [key, exports] of newer.#exports) this.set(key, exports);
  }
}

/** The exports once this one was sent: it takes the place of the one of the same process before it. */
export function withExport(exports: readonly HistogramExport[], sent: HistogramExport): readonly HistogramExport[] {
  return [...exports.filter((writer) => !isSameWriter(writer, sent)), sent].slice(-WRITERS_MAX);
}

type Writer = Pick<HistogramExport, 'startAt'>;

export function isSameWriter(a: Writer, b: Writer): boolean {
  if (Number.isNaN(a.startAt) || Number.isNaN(b.startAt)) return Number.isNaN(a.startAt) && Number.isNaN(b.startAt);
  return isSameStart(a.startAt, b.startAt);
}

function bucketsOf(exports: readonly HistogramExport[]): number {
  return exports.reduce((sum, { histogram }) => {
    const bounds = 'bounds' in histogram ? histogram.bounds.length : 0;
    return sum + histogram.buckets.length + bounds;
  }, 0);
}

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
  readonly #clock: Clock;
  #requests = 0;

  constructor(findShared: FindShared = async () => [], clock: Clock = systemClock) {
    this.#findShared = findShared;
    this.#clock = clock;
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
    const held = { starts, reading: withTimeout(learning, limitBy(this.#clock, FINDING_MS_MAX), () => {}) };
    this.#services.set(serviceId, held);
    return held;
  }

  #bound(): void {
    let size = 0;
    for (const { starts } of this.#services.values()) size += starts.size;
    if (size > SERIES_MAX) this.#services.clear();
  }
}
