import { setFlagsFromString } from 'node:v8';

import { createExternalPost } from '#auth/external_fetch.ts';
import { type Config, externalFetchOptionsOf } from './config.ts';
import { HEAP_GROWTH } from '#entry/memory/memory.ts';
import { LatencyHistograms } from '#kernel/latency_histograms.ts';
import type { Log } from '#kernel/log.ts';
import { ReachedLimits } from '#kernel/reached_limits.ts';
import type { Clock } from '#kernel/time.ts';
import { PushSubscriptionStore } from '#modules/contacts/store/push_subscription_store.ts';
import { judgePager, type PagerHealth } from '#modules/notifications/decide/pager_health.ts';
import { storesOf } from '#modules/stores.ts';
import { type AnswerLinks, createAnswerLinks } from '#notify/answer_link.ts';
import { deriveVapidKeys, type PushSubscriptions, type VapidKeys } from '#notify/channels/push/sender.ts';
import { type MailServer, mailServerOf } from '#notify/mail/send_mail.ts';
import { createSenders, type Senders } from '#notify/registry.ts';
import { type TwilioAccount, twilioAccountOf } from '#notify/twilio/client.ts';
import { type Database, openDatabase } from '#storage/postgres/database.ts';
import { startDatabaseClock } from '#storage/postgres/database_clock.ts';
import { connectQueue, type QueueConnection } from '#storage/queue/connection.ts';
import { durableQueue, type DurableQueue } from '#storage/queue/durable_queue.ts';
import { type JobQueue, openJobQueue } from '#storage/queue/job_queue.ts';
import { createOutboxPublisher, type OutboxPublisher } from '#storage/queue/outbox_publisher.ts';

/** Reads from the stores how late the pager is. Rejects if a store does not answer. */
export async function checkPager({ db, clock }: Pick<Foundation, 'db' | 'clock'>): Promise<PagerHealth> {
  const now = clock.now();
  return judgePager(await storesOf(db.session()).pagerSigns.find(now), now);
}

/** Settings, with those that every process requires. */
export type FoundationConfig = Config & { readonly databaseUrl: string; readonly appSecret: string };

/** Context of every process: the database, the queue, and the channels by which people are reached. */
export interface Foundation {
  readonly config: FoundationConfig;
  readonly clock: Clock;
  readonly log: Log;
  readonly db: Database;
  readonly queue: DurableQueue;
  /** A queue connection for consumers, which need not wait for the disk. */
  readonly connectWorkers: (poolMax: number) => QueueConnection;
  readonly outbox: OutboxPublisher;
  /** Account for messages and calls; null if none is configured. */
  readonly twilio: TwilioAccount | null;
  readonly senders: Senders;
  /** Mail server for messages about accounts; null if none is configured. */
  readonly mail: MailServer | null;
  /** Links in messages that act on behalf of the recipient. */
  readonly answerLinks: AnswerLinks;
  readonly vapidKeys: VapidKeys;
  /** Durations in this process of the operations with a latency objective. */
  readonly latencies: LatencyHistograms;
  /** Record of which callers reached which limit of this process. */
  readonly reachedLimits: ReachedLimits;
  /** Notified of series that were not known before. */
  readonly newSeries: NewSeriesMemory;
  /** Undoes `openFoundation` in reverse. */
  close(): Promise<void>;
}

export interface FoundationOptions {
  readonly log: Log;
  /** Clock that tests control; by default the clock of the database. */
  readonly clock?: Clock;
  /** Job queue in place of the configured one: tests run the jobs themselves. */
  readonly jobQueue?: JobQueue;
  /** Connections to PostgreSQL that this process may hold, besides those of its job consumers. */
  readonly connections?: Connections;
}

export interface Connections {
  readonly database: number;
  readonly queue: number;
  /**
   * Longest wait for a lock of another process, then the statement fails; undefined: as long as statements may take.
   */
  readonly lockWaitMsMax?: number;
  /** Longest pause within a transaction: a process that is frozen holds its locks no longer. */
  readonly idleMsMax?: number;
}

const CONNECTIONS: Connections = { database: 20, queue: 8 };

/**
 * Timeout of a statement. Work is done in many short statements; one that takes longer has lost its connection,
 * whatever the server says.
 */
const DATABASE_SILENCE_MS_MAX = 15_000;

export async function openFoundation(
  config: FoundationConfig,
  { log, clock: givenClock, jobQueue, connections = CONNECTIONS }: FoundationOptions,
): Promise<Foundation> {
  const { database: poolMax, lockWaitMsMax, idleMsMax } = connections;
  const isPooler = config.directDatabaseUrl !== undefined;
  const db = await openDatabase({
    url: config.databaseUrl,
    isPooler,
    poolMax,
    lockWaitMsMax,
    idleMsMax,
    silenceMsMax: DATABASE_SILENCE_MS_MAX,
    patience: givenClock?.patience,
  });
  const { clock, stop: stopClock } = givenClock
    ? { clock: givenClock, stop: () => {} }
    : await startDatabaseClock(db.sql, log);
  const connect = (): QueueConnection => connectQueue(config, { durable: true, poolMax: connections.queue });
  const queue = durableQueue(jobQueue ?? openJobQueue(connect(), log), { db, clock, log });
  const outbox = createOutboxPublisher(db, queue, clock, log);
  const twilio = twilioAccountOf(config);
  const answerLinks = createAnswerLinks(config.appSecret, config.baseUrl);
  const vapidKeys = deriveVapidKeys(config.appSecret);
  const mail = mailServerOf(config);
  const senders = createSenders({
    config,
    links: answerLinks,
    twilio,
    mail,
    push: {
      keys: vapidKeys,
      subscriptions: pushSubscriptionsOf(db),
      post: createExternalPost({ ...externalFetchOptionsOf(config), clock }),
    },
  });
  return {
    config,
    clock,
    log,
    db,
    queue,
    connectWorkers: (workersPoolMax) => connectQueue(config, { durable: false, poolMax: workersPoolMax }),
    outbox,
    twilio,
    senders,
    mail,
    answerLinks,
    vapidKeys,
    latencies: new LatencyHistograms(),
    reachedLimits: new ReachedLimits(log, clock),
    newSeries: new NewSeriesMemory(),
    async close() {
      await outbox.settled();
      await queue.close();
      stopClock();
      await db.close();
    },
  };
}

function pushSubscriptionsOf(db: Database): PushSubscriptions {
  const store = (): PushSubscriptionStore => new PushSubscriptionStore(db.session());
  return {
    listOf: (orgId, userId) => store().listOf(orgId, userId),
    remove: (subscriptionId) => store().remove(subscriptionId),
  };
}

/** Size to allocate: V8 starts a collection when 64 MB have been allocated since the last one. */
const BYTES = 128 * 1024 * 1024;

/**
 * Makes V8 begin to collect the old generation, concurrently and in steps of a few milliseconds, as it does by itself
 * when much memory outside of its heap is allocated at once. `gc()` does all of it in one stop: 50 to 90 ms for 100 MB,
 * where the longest stop is 20 ms here. The memory is only reserved, and given back before anything is written to it;
 * where so much cannot be reserved, V8 collects when it would have.
 */
export function collectInSteps(): void {
  try {
    new ArrayBuffer(BYTES).transfer(0);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
}

const LOOK_EVERY_MS = 2_000;
/**
 * New series in one check from which they count as many: half of what one service may bring for long. Fewer have no
 * noticeable effect.
 */
const MANY = 5_000;
/**
 * Number of new series from which growth is limited: a service that starts with new labels has brought all of them
 * before, and leaves 20 MB of garbage at most.
 */
const LIMIT_AFTER = 50_000;
/** Minimum number of points of known series for each time that one of them brings its labels. */
const KNOWN_POINTS = 5;
/** Number of checks without many new series after which growth is no longer limited: half a minute. */
const CALM_LOOKS = 15;

interface Process {
  /** Limits the growth of the heap before it is collected to `percent`; from the next collection on. */
  limitGrowth(percent: number): void;
  limitGrowthAsUsual(): void;
  collect(): void;
}

/**
 * Keeps memory small while many series are new. Each leaves some hundred bytes of garbage that has become old while its
 * request waited to be stored, and a heap that may grow fourfold fills with it. Collecting so often at all times would
 * make senders of exceptions wait.
 */
export class NewSeriesMemory {
  readonly #process: Process;
  #added = 0;
  #points = 0;
  /** New series since the last calm half a minute, one in which hardly any came. */
  #sinceCalm = 0;
  #calmLooks = CALM_LOOKS;
  #isLimited = false;

  constructor(process: Process = thisHeap()) {
    this.#process = process;
  }

  /**
   * Counts new series. A caller that knows only how many series came with their labels passes the number of points,
   * too: known series bring their labels every five minutes, with one in five of the points of each minute.
   */
  add(series: number, points = 0): void {
    this.#added += series;
    this.#points += points;
    // Before the next check 100 MB may arrive. Known series may send all labels at once, so with points it waits.
    if (points === 0 && this.#sinceCalm + this.#new() >= LIMIT_AFTER) this.#limit();
  }

  /** Limits the growth of the heap, or lifts the limit. Call it periodically. */
  look(): void {
    const added = this.#new();
    this.#added = 0;
    this.#points = 0;
    this.#calmLooks = added >= MANY ? 0 : this.#calmLooks + 1;
    if (this.#calmLooks < CALM_LOOKS) {
      this.#sinceCalm += added;
      if (this.#sinceCalm >= LIMIT_AFTER) this.#limit();
      return;
    }
    this.#sinceCalm = 0;
    if (this.#isLimited) this.#process.limitGrowthAsUsual();
    this.#isLimited = false;
  }

  #limit(): void {
    if (this.#isLimited) return;
    this.#isLimited = true;
    this.#process.limitGrowth(HEAP_GROWTH.withNewSeries);
    // The growth allowed at the last collection would apply until the next one.
    this.#process.collect();
  }

  /** Returns the approximate number of new series since the last check. */
  #new(): number {
    return Math.max(0, this.#added - this.#points / KNOWN_POINTS);
  }

  /** Checks periodically for as long as this process lives. */
  watch(): void {
    setInterval(() => this.look(), LOOK_EVERY_MS).unref();
  }
}

function thisHeap(): Process {
  const limitGrowth = (percent: number) => setFlagsFromString(`--heap-growing-percent=${percent}`);
  return { limitGrowth, limitGrowthAsUsual: () => limitGrowth(HEAP_GROWTH.usual()), collect: collectInSteps };
}
