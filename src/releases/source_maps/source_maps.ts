import { promisify } from 'node:util';
import zlib from 'node:zlib';

import type { ExceptionEvent } from '#core/exceptions/event.ts';
import { codeOf, mapEvent, type RunCode } from '#core/source_maps/map_event.ts';
import type { OriginalCode } from '#core/source_maps/original_code.ts';
import type { StoredMap } from '#core/source_maps/source_map.ts';
import type { Id } from '#kernel/ids.ts';
import type { Log } from '#kernel/log.ts';
import { runWithTimeLimit, TimeLimitExceeded } from '#kernel/run_with_time_limit.ts';
import type { Clock } from '#kernel/time.ts';
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
}

/** What was looked up is looked up again after this time. A debug id names one build, an address may get another map. */
const PLACE_MS = 60_000;
const CODE_MS = 3_600_000;
const PLACES_MAX = 20_000;
/** About what each costs in memory. */
const SEGMENT_BYTES = 90;
const CHARACTER_BYTES = 3;
/** For the events of a batch: a hundred times what they normally take. Beyond, they stay as they were sent. */
const MAP_MS_MAX = 2_000;
/** Stored maps are bounded, see `SOURCE_MAP_LIMITS`; so is what one decompresses to. */
const STORED_BYTES_MAX = 96 * 1024 * 1024;
/** New maps for one batch; what is left is mapped when it is read. */
const LOADS_MAX = 20;

/** Maps the frames of events to the source, by the maps that builds have uploaded. One for each process. */
export class SourceMaps {
  readonly #options: Options;
  readonly #places = new WeightedCache<FoundPlace | null>(PLACES_MAX);
  readonly #codes: WeightedCache<OriginalCode | null>;

  constructor(options: Options) {
    this.#options = options;
    this.#codes = new WeightedCache(options.memoryBytesMax);
  }

  /**
   * In the same order; those without code that has a map stay as they are. Code that had no map is looked up again after
   * a minute; at once for a person who looks at events that came before their map.
   */
  async mapEvents<E extends EventOfService>(events: readonly E[], by: 'worker' | 'reader'): Promise<E[]> {
    const wanted = events.map(({ event }) => codeOf(event));
    if (wanted.every((codes) => codes.length === 0)) return [...events];
    const places = await this.#findPlaces(events, wanted, by);
    const codes = await this.#load(events, places);
    try {
      return runWithTimeLimit(MAP_MS_MAX, () =>
        events.map((arrived, index) => {
          const ofEvent = places[index] ?? new Map<string, FoundPlace>();
          if (ofEvent.size === 0) return arrived;
          const codeAt = (path: string): OriginalCode | null => {
            const place = ofEvent.get(path);
            return place === undefined ? null : (codes.get(keyOfCode(arrived.orgId, place)) ?? null);
          };
          return { ...arrived, event: mapEvent(arrived.event, codeAt) };
        }),
      );
    } catch (error) {
      if (!(error instanceof TimeLimitExceeded)) throw error;
      this.#options.log.warn(
        { events: events.length },
        'mapping events to their source took too long; they are stored without',
      );
      return [...events];
    }
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
      const { OriginalCode } = await import('#core/source_maps/original_code.ts');
      const text = (await zstdDecompress(content, { maxOutputLength: STORED_BYTES_MAX })).toString('utf8');
      try {
        const map = runWithTimeLimit(MAP_MS_MAX, () => readStoredMap(text));
        code = new OriginalCode(map);
        weight = weightOf(map);
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

/** Written by `assembleBundle`. */
function readStoredMap(text: string): StoredMap {
  return JSON.parse(text) as StoredMap;
}

function weightOf({ mappings, contents, functions }: StoredMap): number {
  const characters = contents.reduce((sum, content) => sum + (content?.length ?? 0), 0);
  return (mappings.length / 5) * SEGMENT_BYTES + characters * CHARACTER_BYTES + functions.length * SEGMENT_BYTES;
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
