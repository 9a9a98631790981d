import type { ActionRuntime } from '#actions/run_action.ts';
import { openApiKeys } from '#auth/api_keys.ts';
import { type Cipher, createCipher } from '#auth/cipher.ts';
import { createExternalExchange } from '#auth/external_fetch.ts';
import { refusalOf } from '#auth/may_act.ts';
import { livenessAt } from '#auth/sessions.ts';
import { externalFetchOptionsOf, type RunningConfig } from './config.ts';
import { type Foundation, type FoundationOptions, openFoundation } from '#entry/foundation.ts';
import { installationOf } from '#entry/installation.ts';
import { AppError, messageOf } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import type { Limits } from '#kernel/limit_settings.ts';
import type { Log } from '#kernel/log.ts';
import type { Clock } from '#kernel/time.ts';
import { CHANGES_MAX, type Listener, type StoredChange } from '#modules/accounts/store/change_reader.ts';
import { ExceptionReader } from '#modules/exceptions/store/exception_reader.ts';
import { PatternChecks } from '#modules/metrics/patterns/pattern_checks.ts';
import { MetricReader } from '#modules/metrics/store/metric_reader.ts';
import { MoveInRunner } from '#modules/moving_in/move_in_runner.ts';
import { LIVE_IDS_MAX, LIVE_TOPICS, type LiveChange, type LiveTopic } from '#modules/pages/decide/live_topics.ts';
import { SourceMaps } from '#modules/releases/source_maps/source_maps.ts';
import { ReleaseReader } from '#modules/releases/store/release_reader.ts';
import { signedInBy } from '#modules/sign_in/decide/provider_rule.ts';
import { storesOf } from '#modules/stores.ts';
import type { PlaceHttp } from '#notify/places/exchange.ts';
import { type PlaceBases, placeBasesOf } from '#notify/places/place_sender.ts';
import { createPlaceSenders, type PlaceSenders } from '#notify/places/registry.ts';
import { type ClickHouseClient, openClickHouse } from '#storage/clickhouse/clickhouse.ts';
import type { Database } from '#storage/postgres/database.ts';

/** Context of the API and the worker, built once and passed on as arguments. */
export interface AppContext extends Foundation {
  readonly config: RunningConfig;
  readonly clickhouse: ClickHouseClient;
  readonly actions: ActionRuntime;
  readonly places: PlaceParts;
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

function placePartsOf(config: RunningConfig, clock: Clock): PlaceParts {
  const http = createExternalExchange({ ...externalFetchOptionsOf(config), clock });
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
    apiKeys: openApiKeys(db, clock),
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
    places: placePartsOf(config, clock),
    changes,
    close: () => (closing ??= close()),
  };
}

interface Subscriber {
  notify(changes: readonly LiveChange[]): void;
  /** Called when the session has lost its access, or the process stops. */
  end(): void;
}

interface Subscription {
  readonly listener: Listener;
  readonly at: number;
  /** Keys of the changes before the subscription, which the next polls may find, too. */
  readonly earlierKeys: Set<string>;
}

interface ChangeFeed {
  /**
   * Sends every change from now on, and first those since `shownForMs` ago: a page that was read before it subscribes
   * would miss them. Returns the unsubscribe function. Throws `rate_limited` if one session has too many streams.
   */
  subscribe(listener: Listener, shownForMs: number | null, subscriber: Subscriber): Promise<() => void>;
  /** Ends all subscriptions. */
  close(): void;
}

/** Poll interval, with which people see a change within a second, including the time a console needs to fetch it. */
const POLL_INTERVAL_MS = 500;
/**
 * Overlap of polls: a transaction commits later than the time it writes, and clocks of machines differ, so each poll
 * reads this far back.
 */
const OVERLAP_SECONDS = 30;
/** Time after which no poll reads a change again. */
const KNOWN_MS = 2_000 * OVERLAP_SECONDS;
/** Longest age of shown data that changes can catch up; older data is reloaded in full. */
const SHOWN_FOR_MS_MAX = 60_000;
/** Most entries of timelines, the newest of all organizations, that are read for earlier changes. */
const EARLIER_MAX = 10_000;

/**
 * Creates the change feed. It polls the database twice a second for all subscribers of this process, and only while
 * there are any: two indexed queries per poll and process, for any number of consoles. LISTEN/NOTIFY would be faster,
 * but commits that notify wait for each other, including those that page people, and it does not work through
 * connection poolers.
 */
function createChangeFeed(
  db: Database,
  clock: Clock,
  log: Log,
  { consoleStreamsMax }: Pick<Limits, 'consoleStreamsMax'>,
): ChangeFeed {
  const subscribers = new Map<Subscriber, Subscription>();
  /** Keys of changes that a poll has read; removed once they are too old to be read again. */
  const sent = new Map<string, number>();
  let timer: NodeJS.Timeout | null = null;

  const read = async (orgIds: readonly Id<'org'>[]): Promise<StoredChange[]> => {
    const now = clock.now();
    const changes = await storesOf(db.session()).changes.listSince(orgIds, now.subtract({ seconds: OVERLAP_SECONDS }));
    const fresh = changes.filter(({ key }) => !sent.has(key));
    for (const { key } of fresh) sent.set(key, now.epochMilliseconds);
    for (const [key, at] of sent) {
      if (at > now.epochMilliseconds - KNOWN_MS) break;
      sent.delete(key);
    }
    return fresh;
  };
  /** Returns the changes since the listener's data was shown; null if there are too many or the data is too old. */
  const readEarlier = async ({ orgId }: Listener, shownForMs: number): Promise<StoredChange[] | null> => {
    if (shownForMs > SHOWN_FOR_MS_MAX) return null;
    const since = clock.now().subtract({ milliseconds: shownForMs, seconds: OVERLAP_SECONDS });
    const changes = await storesOf(db.session()).changes.listSince([orgId], since, EARLIER_MAX);
    return changes.length < CHANGES_MAX ? changes : null;
  };
  const endUnauthorized = async (): Promise<void> => {
    // A browser that subscribes meanwhile is not checked.
    const asked = [...subscribers];
    const listeners = asked.map(([, { listener }]) => listener);
    const live = await storesOf(db.session()).changes.listLiveListeners(listeners, livenessAt(clock.now()));
    const standings = new Map(live.map((standing) => [`${standing.sessionId} ${standing.orgId}`, standing]));
    for (const [subscriber, { listener }] of asked) {
      const { sessionId, orgId, address } = listener;
      const standing = standings.get(`${sessionId} ${orgId}`) ?? null;
      const by = signedInBy(standing?.providerOrgId ?? null, orgId);
      const way = { kind: 'session', secondFactorAt: standing?.secondFactorAt ?? null, by, address } as const;
      if (refusalOf(standing, way) !== null) subscriber.end();
    }
  };
  const poll = async (): Promise<void> => {
    try {
      await endUnauthorized();
      const orgIds = [...new Set([...subscribers.values()].map(({ listener }) => listener.orgId))];
      const byOrganization = Map.groupBy(orgIds.length === 0 ? [] : await read(orgIds), ({ orgId }) => orgId);
      for (const [subscriber, { listener, at, earlierKeys }] of subscribers) {
        if (clock.now().epochMilliseconds - at > KNOWN_MS) earlierKeys.clear();
        const missed = byOrganization.get(listener.orgId) ?? [];
        const changes = toLiveChanges(missed.filter(({ key }) => !earlierKeys.has(key)));
        if (changes.length > 0) subscriber.notify(changes);
      }
    } catch (error) {
      log.warn({ err: messageOf(error) }, 'failed to read changes for open consoles; trying again at the next poll');
    }
    timer = subscribers.size === 0 ? null : setTimeout(() => void poll(), POLL_INTERVAL_MS);
  };

  return {
    async subscribe(listener, shownForMs, subscriber) {
      const others = [...subscribers.values()];
      if (others.filter((other) => other.listener.sessionId === listener.sessionId).length >= consoleStreamsMax) {
        throw new AppError('rate_limited', 'this session has too many open event streams; close some browser tabs', {
          limit: 'consoleStreamsMax',
          retryAfterSeconds: 60,
        });
      }
      // What was sent to others that are gone is nothing that this subscriber knows.
      if (others.length === 0) sent.clear();
      const subscription = { listener, at: clock.now().epochMilliseconds, earlierKeys: new Set<string>() };
      // From now on, polls send their changes to this subscriber, too; earlier changes are read here.
      subscribers.set(subscriber, subscription);
      timer ??= setTimeout(() => void poll(), POLL_INTERVAL_MS);
      const unsubscribe = (): void => void subscribers.delete(subscriber);
      try {
        const earlier = await readEarlier(listener, shownForMs ?? 0);
        for (const { key } of earlier ?? []) subscription.earlierKeys.add(key);
        const changes = earlier === null ? LIVE_TOPICS.map((topic) => ({ topic, ids: null })) : toLiveChanges(earlier);
        if (shownForMs !== null && changes.length > 0) subscriber.notify(changes);
      } catch (error) {
        unsubscribe();
        throw error;
      }
      return unsubscribe;
    },
    close() {
      for (const subscriber of subscribers.keys()) subscriber.end();
      subscribers.clear();
      if (timer !== null) clearTimeout(timer);
      timer = null;
    },
  };
}

const TOPICS: Readonly<Record<string, LiveTopic>> = {
  incident: 'incidents',
  group: 'exceptions',
  service: 'services',
  rule: 'services',
  team: 'teams',
  member: 'teams',
  schedule: 'teams',
  override: 'teams',
  policy: 'teams',
  user: 'teams',
  invitation: 'teams',
  dashboard: 'dashboards',
};

/** Kinds that are identified by their own id; the others by the id of their owner. */
const SHOWN_BY_ID: ReadonlySet<string> = new Set(['incident', 'group', 'service', 'team', 'dashboard']);

/**
 * Returns each changed object once, by its id in the console: a member by the team, a rule by itself and its service.
 */
function toLiveChanges(changes: readonly StoredChange[]): LiveChange[] {
  const ids = new Map<LiveTopic, Set<string | null>>();
  for (const { target, owner } of changes) {
    const kind = target.split('_')[0] ?? '';
    const topic = TOPICS[kind];
    if (topic === undefined) continue;
    if (kind === 'rule') ids.set('rules', (ids.get('rules') ?? new Set()).add(target));
    const isShown = SHOWN_BY_ID.has(kind);
    ids.set(topic, (ids.get(topic) ?? new Set()).add(isShown ? target : owner));
  }
  return [...ids].map(([topic, of]) => {
    const named = [...of].filter((id) => id !== null);
    return { topic, ids: of.has(null) || named.length > LIVE_IDS_MAX ? null : named };
  });
}
