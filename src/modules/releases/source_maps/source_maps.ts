import type { ExceptionEvent } from '#modules/exceptions/decide/event.ts';
import { codeOf, mapEvent, type PlacedCode, type RunCode } from '#modules/releases/decide/source_maps/map_event.ts';
import type { OriginalPlace } from '#modules/releases/decide/source_maps/original_code.ts';
import type { Id } from '#kernel/ids.ts';
import type { Log } from '#kernel/log.ts';
import { TimeBudget } from '#kernel/threads/run_with_time_limit.ts';
import { type Clock, limitBy } from '#kernel/time.ts';
import {
  type CodePlace,
  type MapAnswer,
  type MapQuestion,
  MapThread,
  type MapThreadLimits,
  WeightedCache,
} from './map_thread.ts';
import type { Database } from '#storage/postgres/database.ts';
import type { CodeAddress, FoundPlace } from '#modules/releases/store/source_map_store.ts';
import { storesOf } from '#modules/stores.ts';

export interface EventOfService {
  readonly orgId: Id<'org'>;
  readonly serviceId: Id<'service'>;
  readonly event: ExceptionEvent;
}

interface Options {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  /** Approximate limit on the memory of maps. */
  readonly memoryBytesMax: number;
  /** Time per minute that the worker may spend reading maps for the events of one organization. */
  readonly readingMsPerMinute: number;
  /** Called when that time is used up. */
  readonly onLimit?: (orgId: Id<'org'>) => void;
  /** Other limits of the thread in which maps are read. */
  readonly thread?: Partial<MapThreadLimits>;
}

/** Maps one of the events that were prepared to its source. */
export type MapToSource = <E extends EventOfService>(event: E) => E;

/** Budget left for the events that are prepared together. */
interface Batch {
  loads: number;
  leftMs: number;
  /** Time budget of the organization; null for a person, who waits for no one else. */
  readonly budget: TimeBudget | null;
}

/** Time after which a place is looked up again. A debug id names one build, an address may get another map. */
const PLACE_MS = 60_000;
const PLACES_MAX = 20_000;
/** Time limit for reading a map: real ones of the largest size take a third of it. */
const MAP_MS_MAX = 2_000;
/** Time that the worker waits for the maps of a batch, whose events page people. */
const BATCH_MS_MAX = 3_000;
/** Limit on the decompressed size of a stored map; the stored size is bounded too, see `SOURCE_MAP_LIMITS`. */
const STORED_BYTES_MAX = 96 * 1024 * 1024;
/** Limit on the maps loaded for one batch; the rest is mapped when events are read. */
const LOADS_MAX = 20;
/** Memory limit of the thread: the largest map, and the cached ones. */
const THREAD_MEMORY_MB = 320;
/** Limit on the places per question, as taking in the answer for this many is a millisecond or two of work. */
const PLACES_A_QUESTION = 200;

interface AskedCode {
  readonly orgId: Id<'org'>;
  readonly hash: string;
  /** Places by line and column. */
  readonly places: Map<string, CodePlace>;
}

/** Maps the frames of events to the source, by the maps that builds have uploaded. One for each process. */
export class SourceMaps {
  readonly #options: Options;
  readonly #places = new WeightedCache<FoundPlace | null>(PLACES_MAX);
  readonly #budget: TimeBudget;
  /** Maps that are gone or take too much. */
  readonly #unusable = new WeightedCache<true>(PLACES_MAX);
  readonly #thread: MapThread;

  constructor(options: Options) {
    this.#options = options;
    this.#budget = new TimeBudget(options.readingMsPerMinute, options.clock);
    this.#thread = new MapThread({
      milliseconds: MAP_MS_MAX,
      keptBytesMax: options.memoryBytesMax,
      memoryMb: THREAD_MEMORY_MB,
      storedBytesMax: STORED_BYTES_MAX,
      ...options.thread,
    });
  }

  async close(): Promise<void> {
    await this.#thread.close();
  }

  /**
   * Reads the maps of the code that events of an organization come from, and returns what maps such events: one without
   * code that has a map stays as it is. Maps are read in a thread, because others wait for this process.
   *
   * Code that had no map is looked up again after a minute; at once for a person, who looks at events that came before
   * their map. For the worker, reading takes no more than some time a minute of each organization, and some time of one
   * batch: what is left is mapped when a person reads it.
   */
  async prepare(events: readonly EventOfService[], by: 'worker' | 'reader'): Promise<MapToSource> {
    const wanted = events.map(({ event }) => codeOf(event));
    if (wanted.every((codes) => codes.length === 0)) return (event) => event;
    const places = await this.#findPlaces(events, wanted, by);
    const originals = await this.#lookUp(events, places, by);
    const placesOf = new Map(
      events.map(({ serviceId, event }, index) => [keyOfEvent(serviceId, event), places[index]]),
    );
    return (arrived) => {
      const ofEvent = placesOf.get(keyOfEvent(arrived.serviceId, arrived.event));
      return mapArrived(arrived, ofEvent, (key) => ({
        find: (line, column) => originals.get(key)?.get(`${line} ${column}`) ?? null,
      }));
    };
  }

  /** Returns the events with mapped frames, in the same order. */
  async mapEvents<E extends EventOfService>(events: readonly E[], by: 'worker' | 'reader'): Promise<E[]> {
    const map = await this.prepare(events, by);
    return events.map((event) => map(event));
  }

  /** Returns what the thread finds at the places of the frames, by map and place. */
  async #lookUp(
    events: readonly EventOfService[],
    places: readonly PlacesOfEvent[],
    by: 'worker' | 'reader',
  ): Promise<ReadonlyMap<string, ReadonlyMap<string, OriginalPlace | null>>> {
    const asked = new Map<string, AskedCode>();
    for (const [index, arrived] of events.entries()) {
      mapArrived(arrived, places[index], (key, orgId, { hash }) => ({
        find(line, column) {
          const code = asked.get(key) ?? { orgId, hash, places: new Map<string, CodePlace>() };
          asked.set(key, code);
          code.places.set(`${line} ${column}`, [line, column]);
          return null;
        },
      }));
    }
    const originals = new Map<string, ReadonlyMap<string, OriginalPlace | null>>();
    const budget = by === 'worker' ? this.#budget : null;
    const batch: Batch = {
      loads: LOADS_MAX,
      leftMs: budget === null ? Infinity : limitBy(this.#options.clock, BATCH_MS_MAX),
      budget,
    };
    for (const [key, code] of asked) originals.set(key, await this.#ask(key, code, batch));
    return originals;
  }

  async #ask(
    key: string,
    { orgId, hash, places }: AskedCode,
    batch: Batch,
  ): Promise<ReadonlyMap<string, OriginalPlace | null>> {
    const nowMs = this.#options.clock.now().epochMilliseconds;
    const originals = new Map<string, OriginalPlace | null>();
    const wanted = [...places];
    for (let at = 0; at < wanted.length && this.#unusable.get(key, nowMs) === undefined; at += PLACES_A_QUESTION) {
      if ((batch.budget?.secondsToWait(orgId) ?? 0) > 0) {
        this.#options.onLimit?.(orgId);
        break;
      }
      if (batch.leftMs <= 0) break;
      const some = wanted.slice(at, at + PLACES_A_QUESTION);
      const question = { key, stored: null, places: some.map(([, place]) => place) };
      let answer = await this.#askThread(orgId, question, batch);
      if (answer.kind === 'unknown') {
        if (batch.loads === 0) break;
        batch.loads -= 1;
        const stored = await storesOf(this.#options.db.session()).sourceMaps.findContent(orgId, hash);
        if (stored !== null) answer = await this.#askThread(orgId, { ...question, stored }, batch);
      }
      if (answer.kind === 'found') {
        for (const [index, [name]] of some.entries()) originals.set(name, answer.places[index] ?? null);
        continue;
      }
      this.#unusable.set(key, true, { until: nowMs + PLACE_MS });
      if (answer.kind === 'too_much') this.#options.log.warn({ orgId, hash }, 'a source map takes too long to read');
    }
    return originals;
  }

  async #askThread(orgId: Id<'org'>, question: MapQuestion, batch: Batch): Promise<MapAnswer> {
    const began = performance.now();
    const { tookMs, ...answer } = await this.#thread.ask(orgId, question);
    // This includes the time spent waiting for others.
    batch.leftMs -= performance.now() - began;
    batch.budget?.spend(orgId, tookMs);
    return answer;
  }

  /** Returns for each event the places of the maps of its files. */
  async #findPlaces(
    events: readonly EventOfService[],
    wanted: readonly (readonly RunCode[])[],
    by: 'worker' | 'reader',
  ): Promise<Map<string, FoundPlace>[]> {
    const nowMs = this.#options.clock.now().epochMilliseconds;
    const debugIds = new Map<Id<'org'>, Set<string>>();
    const addresses = new Map<string, CodeAddress>();
    /** Places of this batch, so that none is lost when the cache is full. */
    const places = new Map<string, FoundPlace | null>();
    const isKnown = (key: string): boolean => {
      if (places.has(key)) return true;
      const place = this.#places.get(key, nowMs);
      if (place === undefined || (place === null && by === 'reader')) return false;
      places.set(key, place);
      return true;
    };
    for (const [index, { orgId, serviceId, event }] of events.entries()) {
      for (const { debugId, addresses: urls } of wanted[index] ?? []) {
        if (debugId !== null && !isKnown(keyOfDebugId(orgId, debugId))) {
          debugIds.set(orgId, (debugIds.get(orgId) ?? new Set()).add(debugId));
        }
        for (const url of urls) {
          const address = addressOf(serviceId, event, url);
          const key = keyOfAddress(address);
          if (!isKnown(key)) addresses.set(key, address);
        }
      }
    }
    const { sourceMaps } = storesOf(this.#options.db.session());
    const until = nowMs + PLACE_MS;
    const keep = (key: string, place: FoundPlace | null): void => {
      places.set(key, place);
      this.#places.set(key, place, { until });
    };
    for (const [orgId, ids] of debugIds) {
      const byId = await sourceMaps.findByDebugIds(orgId, [...ids]);
      for (const id of ids) keep(keyOfDebugId(orgId, id), byId.get(id) ?? null);
    }
    const byAddress = await sourceMaps.findByAddresses([...addresses.values()]);
    for (const [index, key] of [...addresses.keys()].entries()) keep(key, byAddress[index] ?? null);
    const used = new Set([...places].flatMap(([, place]) => (place === null ? [] : [place.bundleId])));
    const isNew = debugIds.size > 0 || addresses.size > 0;
    if (isNew && used.size > 0) {
      await storesOf(this.#options.db.session()).artifacts.markUsed([...used], this.#options.clock.now());
    }
    return events.map(({ orgId, serviceId, event }, index) => {
      const codes = (wanted[index] ?? []).flatMap(({ path, debugId, addresses: urls }) => {
        const keys = [
          ...(debugId === null ? [] : [keyOfDebugId(orgId, debugId)]),
          ...urls.map((url) => keyOfAddress(addressOf(serviceId, event, url))),
        ];
        const place = keys.map((key) => places.get(key)).find((place) => place != null);
        return place == null ? [] : [[path, place] as const];
      });
      return new Map(codes);
    });
  }
}

/** Places of an event's maps, by the path in its frames. */
type PlacesOfEvent = ReadonlyMap<string, FoundPlace>;

function mapArrived<E extends EventOfService>(
  arrived: E,
  places: PlacesOfEvent | undefined,
  codeOfKey: (key: string, orgId: Id<'org'>, place: FoundPlace) => PlacedCode | null,
): E {
  if (places === undefined || places.size === 0) return arrived;
  const codeAt = (path: string): PlacedCode | null => {
    const place = places.get(path);
    return place === undefined ? null : codeOfKey(keyOf(arrived.orgId, place.hash), arrived.orgId, place);
  };
  return { ...arrived, event: mapEvent(arrived.event, codeAt) };
}

function keyOfEvent(serviceId: Id<'service'>, { eventId }: ExceptionEvent): string {
  return `${serviceId} ${eventId}`;
}

function addressOf(serviceId: Id<'service'>, { release, dist }: ExceptionEvent, url: string): CodeAddress {
  return { serviceId, release: release ?? '', dist: dist ?? null, url };
}

function keyOfDebugId(orgId: Id<'org'>, debugId: string): string {
  return `${orgId} ${debugId}`;
}

function keyOfAddress({ serviceId, release, dist, url }: CodeAddress): string {
  return [serviceId, release, dist ?? '', url].join('\n');
}

function keyOf(orgId: Id<'org'>, hash: string): string {
  return `${orgId} ${hash}`;
}
