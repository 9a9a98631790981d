import { promisify } from 'node:util';
import zlib from 'node:zlib';

import type { ExceptionEvent } from '#core/exceptions/event.ts';
import { codeOf, mapEvent, type PlacedCode, type RunCode } from '#core/source_maps/map_event.ts';
import type { OriginalCode, OriginalPlace } from '#core/source_maps/original_code.ts';
import type { Id } from '#kernel/ids.ts';
import type { Log } from '#kernel/log.ts';
import { runWithTimeLimit, TimeLimitExceeded } from '#kernel/run_with_time_limit.ts';
import type { Clock } from '#kernel/time.ts';
import { type CodePlace, MapThread, type MapThreadLimits } from '#releases/source_maps/map_thread.ts';
import { WeightedCache } from '#releases/source_maps/weighted_cache.ts';
import type { Database } from '#storage/postgres/database.ts';
import type { CodeAddress, FoundPlace } from '#storage/postgres/source_map_store.ts';
import { storesOf } from '#storage/postgres/stores.ts';

const zstdDecompress = promisify(zlib.zstdDecompress);

/** An event of a service. */
export interface EventOfService {
  readonly orgId: Id<'org'>;
  readonly serviceId: Id<'service'>;
  readonly event: ExceptionEvent;
}

interface Options {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  /** About how much memory maps may take. */
  readonly memoryBytesMax: number;
  /** Other limits of the thread in which maps are read for people. */
  readonly thread?: Partial<MapThreadLimits>;
}

/** What was looked up is looked up again after this time. A debug id names one build, an address may get another map. */
const PLACE_MS = 60_000;
const CODE_MS = 3_600_000;
const PLACES_MAX = 20_000;
/** For the events of a batch: a hundred times what they normally take. Beyond, they stay as they were sent. */
const MAP_MS_MAX = 2_000;
/** Stored maps are bounded, see `SOURCE_MAP_LIMITS`; so is what one decompresses to. */
const STORED_BYTES_MAX = 96 * 1024 * 1024;
/** New maps for one batch; what is left is mapped when it is read. */
const LOADS_MAX = 20;
/** Of the thread in which maps are read for people: the largest map, and those that are kept. */
const THREAD_MEMORY_MB = 320;
/** Answers of the thread are taken in by so many places, a millisecond or two of work. */
const PLACES_A_QUESTION = 200;

interface AskedCode {
  readonly orgId: Id<'org'>;
  readonly hash: string;
  /** By line and column. */
  readonly places: Map<string, CodePlace>;
}

/** Maps the frames of events to the source, by the maps that builds have uploaded. One for each process. */
export class SourceMaps {
  readonly #options: Options;
  readonly #places = new WeightedCache<FoundPlace | null>(PLACES_MAX);
  readonly #codes: WeightedCache<OriginalCode | null>;
  /** Maps that are gone or take too much. */
  readonly #unusable = new WeightedCache<true>(PLACES_MAX);
  readonly #thread: MapThread;

  constructor(options: Options) {
    this.#options = options;
    this.#codes = new WeightedCache(options.memoryBytesMax);
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
   * In the same order; those without code that has a map stay as they are. Code that had no map is looked up again after
   * a minute; at once for a person who looks at events that came before their map. For a person maps are read in a
   * thread, because others wait for answers of this process.
   */
  async mapEvents<E extends EventOfService>(events: readonly E[], by: 'worker' | 'reader'): Promise<E[]> {
    const wanted = events.map(({ event }) => codeOf(event));
    if (wanted.every((codes) => codes.length === 0)) return [...events];
    const places = await this.#findPlaces(events, wanted, by);
    if (by === 'reader') return await this.#mapAside(events, places);
    const codes = await this.#load(events, places);
    try {
      return runWithTimeLimit(MAP_MS_MAX, () => mapAll(events, places, (key) => codes.get(key) ?? null));
    } catch (error) {
      if (!(error instanceof TimeLimitExceeded)) throw error;
      this.#options.log.warn(
        { events: events.length },
        'mapping events to their source took too long; they are stored without',
      );
      return [...events];
    }
  }

  /** With what the thread finds at the places of their frames. */
  async #mapAside<E extends EventOfService>(events: readonly E[], places: readonly PlacesOfEvent[]): Promise<E[]> {
    const asked = new Map<string, AskedCode>();
    mapAll(events, places, (key, orgId, { hash }) => ({
      find(line, column) {
        const code = asked.get(key) ?? { orgId, hash, places: new Map<string, CodePlace>() };
        asked.set(key, code);
        code.places.set(`${line} ${column}`, [line, column]);
        return null;
      },
    }));
    const found = new Map<string, ReadonlyMap<string, OriginalPlace | null>>();
    const loads = { left: LOADS_MAX };
    for (const [key, code] of asked) found.set(key, await this.#ask(key, code, loads));
    return mapAll(events, places, (key) => ({
      find: (line, column) => found.get(key)?.get(`${line} ${column}`) ?? null,
    }));
  }

  async #ask(
    key: string,
    { orgId, hash, places }: AskedCode,
    loads: { left: number },
  ): Promise<ReadonlyMap<string, OriginalPlace | null>> {
    const nowMs = this.#options.clock.now().epochMilliseconds;
    const found = new Map<string, OriginalPlace | null>();
    const wanted = [...places];
    for (let at = 0; at < wanted.length && this.#unusable.get(key, nowMs) === undefined; at += PLACES_A_QUESTION) {
      const some = wanted.slice(at, at + PLACES_A_QUESTION);
      const question = { key, content: null, places: some.map(([, place]) => place) };
      let answer = await this.#thread.ask(orgId, question);
      if (answer.kind === 'unknown') {
        if (loads.left === 0) break;
        loads.left -= 1;
        const content = await storesOf(this.#options.db.session()).sourceMaps.findContent(orgId, hash);
        if (content !== null) answer = await this.#thread.ask(orgId, { ...question, content });
      }
      if (answer.kind === 'found') {
        for (const [index, [name]] of some.entries()) found.set(name, answer.places[index] ?? null);
        continue;
      }
      this.#unusable.set(key, true, { until: nowMs + PLACE_MS });
      if (answer.kind === 'too_much') this.#options.log.warn({ orgId, hash }, 'a source map takes too long to read');
    }
    return found;
  }

  /** For each event, where the maps of its files are. */
  async #findPlaces(
    events: readonly EventOfService[],
    wanted: readonly (readonly RunCode[])[],
    by: 'worker' | 'reader',
  ): Promise<Map<string, FoundPlace>[]> {
    const nowMs = this.#options.clock.now().epochMilliseconds;
    const debugIds = new Map<Id<'org'>, Set<string>>();
    const addresses = new Map<string, CodeAddress>();
    /** Those of this batch, so that none is lost when the cache is full. */
    const found = new Map<string, FoundPlace | null>();
    const isKnown = (key: string): boolean => {
      if (found.has(key)) return true;
      const known = this.#places.get(key, nowMs);
      if (known === undefined || (known === null && by === 'reader')) return false;
      found.set(key, known);
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
      found.set(key, place);
      this.#places.set(key, place, { until });
    };
    for (const [orgId, ids] of debugIds) {
      const byId = await sourceMaps.findByDebugIds(orgId, [...ids]);
      for (const id of ids) keep(keyOfDebugId(orgId, id), byId.get(id) ?? null);
    }
    const byAddress = await sourceMaps.findByAddresses([...addresses.values()]);
    for (const [index, key] of [...addresses.keys()].entries()) keep(key, byAddress[index] ?? null);
    const used = new Set([...found].flatMap(([, place]) => (place === null ? [] : [place.bundleId])));
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
        const place = keys.map((key) => found.get(key)).find((known) => known != null);
        return place == null ? [] : [[path, place] as const];
      });
      return new Map(codes);
    });
  }

  async #load(
    events: readonly EventOfService[],
    places: readonly ReadonlyMap<string, FoundPlace>[],
  ): Promise<Map<string, OriginalCode | null>> {
    const nowMs = this.#options.clock.now().epochMilliseconds;
    const codes = new Map<string, OriginalCode | null>();
    let loads = 0;
    for (const [index, { orgId }] of events.entries()) {
      for (const place of places[index]?.values() ?? []) {
        const key = keyOfCode(orgId, place);
        if (codes.has(key)) continue;
        let code = this.#codes.get(key, nowMs);
        if (code === undefined && loads < LOADS_MAX) {
          loads += 1;
          code = await this.#open(orgId, place.hash, nowMs);
        }
        codes.set(key, code ?? null);
      }
    }
    return codes;
  }

  async #open(orgId: Id<'org'>, hash: string, nowMs: number): Promise<OriginalCode | null> {
    const content = await storesOf(this.#options.db.session()).sourceMaps.findContent(orgId, hash);
    let code: OriginalCode | null = null;
    let weight = 1;
    if (content !== null) {
      // Loaded with the first map.
      const { openMap } = await import('#releases/source_maps/open_map.ts');
      const text = (await zstdDecompress(content, { maxOutputLength: STORED_BYTES_MAX })).toString('utf8');
      try {
        ({ code, weight } = runWithTimeLimit(MAP_MS_MAX, () => openMap(text)));
      } catch (error) {
        if (!(error instanceof TimeLimitExceeded)) throw error;
        this.#options.log.warn({ orgId, hash }, 'a source map takes too long to read');
      }
    }
    const until = nowMs + (code === null ? PLACE_MS : CODE_MS);
    this.#codes.set(keyOf(orgId, hash), code, { weight, until });
    return code;
  }
}

/** By the path that stands in its frames. */
type PlacesOfEvent = ReadonlyMap<string, FoundPlace>;

function mapAll<E extends EventOfService>(
  events: readonly E[],
  places: readonly PlacesOfEvent[],
  codeOfKey: (key: string, orgId: Id<'org'>, place: FoundPlace) => PlacedCode | null,
): E[] {
  return events.map((arrived, index) => {
    const ofEvent = places[index];
    if (ofEvent === undefined || ofEvent.size === 0) return arrived;
    const codeAt = (path: string): PlacedCode | null => {
      const place = ofEvent.get(path);
      return place === undefined ? null : codeOfKey(keyOfCode(arrived.orgId, place), arrived.orgId, place);
    };
    return { ...arrived, event: mapEvent(arrived.event, codeAt) };
  });
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

function keyOfCode(orgId: Id<'org'>, { hash }: FoundPlace): string {
  return keyOf(orgId, hash);
}

function keyOf(orgId: Id<'org'>, hash: string): string {
  return `${orgId} ${hash}`;
}
