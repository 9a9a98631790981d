import { createExternalPost } from '#auth/external_fetch.ts';
import type { Config } from '#entry/config.ts';
import { externalFetchOptionsOf } from '#entry/external_fetch_options.ts';
import { NewSeriesMemory } from '#entry/memory/new_series_memory.ts';
import { LatencyHistograms } from '#kernel/latency_histograms.ts';
import { ReachedLimits } from '#kernel/reached_limits.ts';
import type { Log } from '#kernel/log.ts';
import type { Clock } from '#kernel/time.ts';
import { type AnswerLinks, createAnswerLinks } from '#notify/answer_link.ts';
import { deriveVapidKeys, type PushSubscriptions, type VapidKeys } from '#notify/channels/push/sender.ts';
import { type MailServer, mailServerOf } from '#notify/mail/send_mail.ts';
import { createSenders, type Senders } from '#notify/registry.ts';
import { type TwilioAccount, twilioAccountOf } from '#notify/twilio/client.ts';
import { type Database, openDatabase } from '#storage/postgres/database.ts';
import { startDatabaseClock } from '#storage/postgres/database_clock.ts';
import { PushSubscriptionStore } from '#modules/contacts/store/push_subscription_store.ts';
import { connectQueue, type QueueConnection } from '#storage/queue/connection.ts';
import { type JobQueue, openJobQueue } from '#storage/queue/job_queue.ts';
import { durableQueue, type DurableQueue } from '#storage/queue/durable_queue.ts';
import { createOutboxPublisher, type OutboxPublisher } from '#storage/queue/outbox_publisher.ts';
import { judgePager, type PagerHealth } from '#modules/notifications/decide/pager_health.ts';
import { storesOf } from '#modules/stores.ts';

/** Reads from the stores how late the pager is. Rejects if a store does not answer. */
export async function checkPager({ db, clock }: Pick<Foundation, 'db' | 'clock'>): Promise<PagerHealth> {
  const now = clock.now();
  return judgePager(await storesOf(db.session()).pagerSigns.find(now), now);
}

/** Settings, with those that every process requires. */
export type FoundationConfig = Config & {
  readonly databaseUrl: string;
  readonly appSecret: string;
};

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
      post: createExternalPost(externalFetchOptionsOf(config)),
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
  return { listOf: (userId) => store().listOf(userId), remove: (subscriptionId) => store().remove(subscriptionId) };
}
