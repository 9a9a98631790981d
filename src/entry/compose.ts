import type { ActionRuntime } from '#actions/run_action.ts';
import { MoveInRunner } from '#modules/moving_in/move_in_runner.ts';
import { PatternChecks } from '#modules/metrics/patterns/pattern_checks.ts';
import { type Cipher, createCipher } from '#auth/cipher.ts';
import { createExternalExchange } from '#auth/external_fetch.ts';
import { type ChangeFeed, createChangeFeed } from '#entry/change_feed.ts';
import { externalFetchOptionsOf } from '#entry/external_fetch_options.ts';
import { installationOf } from '#entry/installation.ts';
import { type Foundation, type FoundationOptions, openFoundation } from '#entry/foundation.ts';
import type { RunningConfig } from '#entry/running_config.ts';
import type { PlaceHttp } from '#notify/places/exchange.ts';
import { createPlaceSenders, type PlaceSenders } from '#notify/places/registry.ts';
import { type PlaceBases, placeBasesOf } from '#notify/places/place_sender.ts';
import { type ClickHouseClient, openClickHouse } from '#storage/clickhouse/clickhouse.ts';
import { SourceMaps } from '#modules/releases/source_maps/source_maps.ts';
import { ExceptionReader } from '#modules/exceptions/store/exception_reader.ts';
import { MetricReader } from '#modules/metrics/store/metric_reader.ts';
import { ReleaseReader } from '#modules/releases/store/release_reader.ts';

/** Context of the API and the worker, built once and passed on as arguments. */
export interface AppContext extends Foundation {
  readonly config: RunningConfig;
  readonly clickhouse: ClickHouseClient;
  readonly actions: ActionRuntime;
  readonly places: PlaceParts;
  /** Feed that notifies consoles of changes. */
  readonly changes: ChangeFeed;
  /** Undoes `compose` in reverse; idempotent. */
  close(): Promise<void>;
}

/** Means of reaching places where incidents are announced. */
interface PlaceParts {
  readonly senders: PlaceSenders;
  readonly cipher: Cipher;
  readonly http: PlaceHttp;
  readonly bases: PlaceBases;
}

function placePartsOf(config: RunningConfig): PlaceParts {
  const http = createExternalExchange(externalFetchOptionsOf(config));
  const bases = placeBasesOf(config);
  const cipher = createCipher(config.appSecret, 'places');
  return { senders: createPlaceSenders({ http, bases }), cipher, http, bases };
}

/** Approximate limit on the memory of source maps in each process that needs them. */
const SOURCE_MAP_MEMORY_BYTES = 48 * 1024 * 1024;

export async function compose(config: RunningConfig, options: FoundationOptions): Promise<AppContext> {
  const foundation = await openFoundation(config, options);
  const { db, clock, log, senders, outbox } = foundation;
  const clickhouse = openClickHouse(config);
  const sourceMaps = new SourceMaps({
    db,
    clock,
    log,
    memoryBytesMax: SOURCE_MAP_MEMORY_BYTES,
    readingMsPerMinute: config.sourceMapSeconds * 1_000,
    onLimit: (orgId) => foundation.reachedLimits.record('sourceMapSeconds', orgId),
  });
  const patterns = new PatternChecks({ clock, secondsPerMinute: config.patternSeconds });
  const moveIns = new MoveInRunner(() => actions, log);
  const actions: ActionRuntime = {
    db,
    metrics: new MetricReader(clickhouse),
    exceptions: new ExceptionReader(clickhouse),
    releases: new ReleaseReader(clickhouse),
    sourceMaps,
    patterns,
    cipher: createCipher(config.appSecret, 'ingest-keys'),
    configuredChannels: new Set(senders.keys()),
    clock,
    baseUrl: config.baseUrl,
    installation: installationOf(config, clock),
    moveIns,
    onOutbox: () => outbox.wake(),
    reachedLimits: foundation.reachedLimits,
  };
  const changes = createChangeFeed(db, clock, log, config);
  let closing: Promise<void> | null = null;
  const close = async (): Promise<void> => {
    changes.close();
    await moveIns.close();
    await patterns.close();
    await sourceMaps.close();
    await clickhouse.close();
    await foundation.close();
  };
  return {
    ...foundation,
    config,
    clickhouse,
    actions,
    places: placePartsOf(config),
    changes,
    close: () => (closing ??= close()),
  };
}
