import { ANY_SERIES, type SeriesAllowance } from '#ingest/admission/point_admission.ts';
import { NewSeriesLimiter, TOO_MANY_AT_ONCE } from '#ingest/series/new_series_limiter.ts';
import { SeriesIndex } from '#ingest/series/series_index.ts';
import type { Id } from '#kernel/ids.ts';
import type { Log } from '#kernel/log.ts';
import { type Clock, limitBy } from '#kernel/time.ts';
import { withTimeout } from '#kernel/promises.ts';
import { DAY_MS } from '#kernel/zone_clock.ts';
import { POINTS_MAX } from '#modules/metrics/decide/limits.ts';
import { SeriesDayStore } from '#modules/metrics/store/series_day_store.ts';
import { holdLock } from '#storage/postgres/store.ts';
import type { Database } from '#storage/postgres/database.ts';

const KEY_BYTES = 8;

/** Keys of series, two 32-bit halves each. It only ever grows. */
export class SeriesSet {
  readonly #index = new SeriesIndex();

  get size(): number {
    return this.#index.size;
  }

  has(high: number, low: number): boolean {
    return this.#index.find(high, low) !== -1;
  }

  /** Adds a key; returns false if it was there already. */
  add(high: number, low: number): boolean {
    if (this.has(high, low)) return false;
    this.#index.addSought();
    return true;
  }

  /** Adds the key that `has` has just not found. */
  addSought(): void {
    this.#index.addSought();
  }

  /** Adds keys in the form that `packKeys` writes. */
  addPacked(keys: Buffer): void {
    for (let at = 0; at + KEY_BYTES <= keys.length; at += KEY_BYTES) {
      this.add(keys.readInt32LE(at), keys.readInt32LE(at + 4));
    }
  }
}

/** High and low halves in turn as bytes, eight per key, the least first as on every processor that Node runs on. */
export function packKeys(halves: readonly number[]): Buffer {
  return Buffer.from(Int32Array.from(halves).buffer);
}

interface SeriesQuotaOptions {
  /** Limit on new series per day; 0 for no limit. */
  readonly perDayMax: number;
  /** Returns the number of processes that are alive and accept series at the same time. */
  readonly processes: () => number;
  readonly db: Pick<Database, 'session' | 'transaction'>;
  readonly clock: Clock;
  readonly log: Log;
}

/** Today's series of a service, as far as this process knows. */
interface HeldDay {
  readonly day: string;
  readonly series: SeriesSet;
  /** Halves of the keys that this process has added and not shared yet. */
  fresh: number[];
  /** Halves of the keys that are to be settled with other processes first. */
  wanted: number[];
  /** Number of series deferred so far. */
  deferred: number;
  reconciling: Promise<void> | null;
  readonly allowance: SeriesAllowance;
}

/** Share of the remaining limit that all processes together may use before they share it. */
const UNSHARED_SHARE = 0.1;

/** Time until other processes, and this one after a restart, know of a new series. */
const SHARE_MS = 2_000;
/**
 * Timeout for loading a service's series, for which senders wait; a database that takes longer counts as unavailable.
 */
const TIMEOUT_MS = 1_000;
/**
 * Limit on the series held, at most 90 MB. The services that were not requested for longest are dropped and loaded
 * again when needed.
 */
const HELD_SERIES_MAX = 3_000_000;
/** Number of marks that are read again, as rows may become visible behind this many with later marks. */
const MARKS_ASKED_AGAIN = 1_000;

/**
 * Limits how many series each service may have a day. Known series are accepted, new ones only below the limit. All
 * processes share one count, every two seconds and before one of them takes more than a small part of what is left: so
 * together they exceed the limit by a tenth at most. A restart loses only what was new in the last two seconds. Refuses
 * nothing while the database is unavailable.
 */
export class SeriesQuota {
  readonly #options: SeriesQuotaOptions;
  /** Series held per service, least recently used first. */
  readonly #held = new Map<Id<'service'>, HeldDay>();
  readonly #lookingUp = new Map<Id<'service'>, Promise<HeldDay>>();
  readonly #timer: NodeJS.Timeout;
  #isAsked = false;
  #sharing: Promise<void> = Promise.resolve();
  #isAway = false;
  #day = { number: Number.NaN, text: '' };
  /** The highest row ids that were read in the last two rounds. */
  #marks: readonly [before: number, last: number] | null = null;

  constructor(options: SeriesQuotaOptions) {
    this.#options = options;
    this.#timer = setInterval(() => {
      this.#sharing = this.#sharing.then(() => this.#share());
    }, SHARE_MS);
    this.#timer.unref();
  }

  /** Returns the service's current allowance. Called for each request, because days end. */
  async allowanceOf(serviceId: Id<'service'>): Promise<SeriesAllowance> {
    if (this.#options.perDayMax === 0) return ANY_SERIES;
    this.#isAsked = true;
    const day = this.#today();
    const held = this.#held.get(serviceId);
    if (held?.day === day) {
      this.#held.delete(serviceId);
      this.#held.set(serviceId, held);
      return held.allowance;
    }
    const timeoutMs = limitBy(this.#options.clock, TIMEOUT_MS);
    try {
      const answer = await withTimeout(this.#lookUpOnce(serviceId, day), timeoutMs, () => {
        throw slow();
      });
      this.#noteAvailability(null);
      return answer.allowance;
    } catch (error) {
      this.#noteAvailability(error);
      return ANY_SERIES;
    }
  }

  /**
   * Reads a request with what its service may send now, and once more when it had new series that might have been too many
   * and were settled with the other processes first.
   */
  async read<Result>(serviceId: Id<'service'>, read: (allowance: SeriesAllowance) => Promise<Result>): Promise<Result> {
    const allowance = await this.allowanceOf(serviceId);
    const held = this.#held.get(serviceId);
    const deferred = held?.deferred;
    const result = await read(allowance);
    if (held === undefined || held.deferred === deferred) return result;
    // The round under way or the next one settles the series of this request.
    await held.reconciling;
    if (held.wanted.length > 0) {
      held.reconciling ??= this.#reconcile(serviceId, held).finally(() => (held.reconciling = null));
    }
    await held.reconciling;
    return await read(allowance);
  }

  async #reconcile(serviceId: Id<'service'>, held: HeldDay): Promise<void> {
    const { wanted } = held;
    held.wanted = [];
    try {
      await this.#reconcileInPostgres(serviceId, held, wanted);
      this.#noteAvailability(null);
    } catch (error) {
      // Nothing is refused while it cannot be counted.
      this.#admit(held, wanted);
      this.#noteAvailability(error);
    }
  }

  async #reconcileInPostgres(serviceId: Id<'service'>, held: HeldDay, wanted: readonly number[]): Promise<void> {
    const { fresh } = held;
    held.fresh = [];
    try {
      await this.#options.db.transaction(async (session) => {
        await holdLock(session, `series ${serviceId} ${held.day}`);
        const store = new SeriesDayStore(session);
        for (const { day, keys } of await store.listAddedAfter(this.#marks?.[0] ?? 0, [serviceId])) {
          if (day === held.day) held.series.addPacked(keys);
        }
        this.#admit(held, wanted);
        const keys = packKeys([...fresh, ...held.fresh]);
        if (keys.length > 0) await store.add([{ serviceId, day: held.day, keys }]);
      });
      held.fresh = [];
    } catch (error) {
      held.fresh = [...fresh, ...held.fresh];
      throw error;
    }
  }

  #admit({ series, fresh }: HeldDay, wanted: readonly number[]): void {
    for (let at = 0; at + 1 < wanted.length && series.size < this.#options.perDayMax; at += 2) {
      const [high = 0, low = 0] = [wanted[at], wanted[at + 1]];
      if (series.add(high, low)) fresh.push(high, low);
    }
  }

  /** Shares the rest. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#sharing;
    await this.#share();
  }

  #lookUpOnce(serviceId: Id<'service'>, day: string): Promise<HeldDay> {
    const underWay = this.#lookingUp.get(serviceId);
    if (underWay !== undefined) return underWay;
    const looking = this.#lookUp(serviceId, day).finally(() => this.#lookingUp.delete(serviceId));
    this.#lookingUp.set(serviceId, looking);
    return looking;
  }

  async #lookUp(serviceId: Id<'service'>, day: string): Promise<HeldDay> {
    const store = this.#store();
    if (this.#marks === null) {
      const mark = Math.max(0, (await store.latestMark()) - MARKS_ASKED_AGAIN);
      this.#marks ??= [mark, mark];
    }
    const series = new SeriesSet();
    for (const keys of await store.list(serviceId, day)) series.addPacked(keys);
    const held = this.#hold(day, series);
    this.#held.delete(serviceId);
    this.#held.set(serviceId, held);
    return held;
  }

  #hold(day: string, series: SeriesSet): HeldDay {
    const { perDayMax, clock, processes } = this.#options;
    const tooMany = `a new series beyond the ${perDayMax} that the service may have a day (UTC)`;
    const pace = new NewSeriesLimiter(clock);
    const isTooFar = ({ fresh }: HeldDay): boolean =>
      processes() > 1 && fresh.length / 2 >= Math.floor(((perDayMax - series.size) * UNSHARED_SHARE) / processes());
    const held: HeldDay = {
      day,
      series,
      fresh: [],
      wanted: [],
      deferred: 0,
      reconciling: null,
      allowance: {
        sign: Symbol(day),
        pay: (bodyBytes) => pace.pay(bodyBytes),
        admit(high, low) {
          if (series.has(high, low)) return null;
          if (series.size >= perDayMax) return tooMany;
          if (!pace.take()) return TOO_MANY_AT_ONCE;
          if (!isTooFar(held)) {
            series.addSought();
            held.fresh.push(high, low);
            return null;
          }
          if (held.wanted.length < 2 * POINTS_MAX) {
            held.wanted.push(high, low);
            held.deferred += 1;
          }
          return tooMany;
        },
      },
    };
    return held;
  }

  /** Writes the new series, reads those of other processes, and drops what is not needed. Never throws. */
  async #share(): Promise<void> {
    if (!this.#isAsked) return;
    this.#isAsked = false;
    try {
      await this.#write();
      await this.#read();
      this.#prune();
      this.#noteAvailability(null);
    } catch (error) {
      this.#isAsked = true;
      this.#noteAvailability(error);
    }
  }

  async #write(): Promise<void> {
    const unshared = [...this.#held].flatMap(([serviceId, held]) => {
      const { day, fresh } = held;
      if (fresh.length === 0) return [];
      held.fresh = [];
      return [{ serviceId, day, held, fresh, keys: packKeys(fresh) }];
    });
    if (unshared.length === 0) return;
    try {
      await this.#store().add(unshared);
    } catch (error) {
      for (const { held, fresh } of unshared) held.fresh = [...fresh, ...held.fresh];
      throw error;
    }
  }

  async #read(): Promise<void> {
    if (this.#marks === null) return;
    const store = this.#store();
    const [before, last] = this.#marks;
    const mark = await store.latestMark();
    if (mark > before) {
      for (const { serviceId, day, keys } of await store.listAddedAfter(before, [...this.#held.keys()])) {
        const held = this.#held.get(serviceId);
        if (held?.day === day) held.series.addPacked(keys);
      }
    }
    this.#marks = [last, mark];
  }

  /** The most recently used one stays, however many series it has. */
  #prune(): void {
    const today = this.#today();
    let later = 0;
    for (const [serviceId, { day, series, fresh }] of [...this.#held].toReversed()) {
      const isInTheWay = later > 0 && later + series.size > HELD_SERIES_MAX;
      if (day !== today || (isInTheWay && fresh.length === 0)) this.#held.delete(serviceId);
      else later += series.size;
    }
  }

  #store(): SeriesDayStore {
    return new SeriesDayStore(this.#options.db.session());
  }

  /** Returns the current date in UTC; cached, because every request needs it. */
  #today(): string {
    const now = this.#options.clock.now();
    const number = Math.floor(now.epochMilliseconds / DAY_MS);
    if (number !== this.#day.number) this.#day = { number, text: now.toString().slice(0, 'YYYY-MM-DD'.length) };
    return this.#day.text;
  }

  #noteAvailability(error: unknown): void {
    const isAway = error !== null;
    if (isAway && !this.#isAway)
      this.#options.log.warn({ err: error }, 'failed to count series; all of them are accepted');
    this.#isAway = isAway;
  }
}

function slow(): Error {
  return new Error(`no answer within ${TIMEOUT_MS} ms`);
}
