import type { ActionRuntime } from '#actions/run_action.ts';
import { createCipher } from '#auth/cipher.ts';
import type { AuthorizationServer } from '#auth/oauth/authorization_server.ts';
import { type ChangeFeed, createChangeFeed } from '#entry/change_feed.ts';
import { ConfigError, type Config } from '#kernel/config.ts';
import type { Log } from '#kernel/log.ts';
import type { Clock } from '#kernel/time.ts';
import { type AnswerLinks, createAnswerLinks } from '#notify/answer_link.ts';
import type { MailServer } from '#notify/post_letter.ts';
import type { PushSubscriptions } from '#notify/channels/push.ts';
import { createSenders, type Senders } from '#notify/registry.ts';
import type { TwilioAccount } from '#notify/twilio_client.ts';
import { deriveVapidKeys, type VapidKeys } from '#notify/vapid.ts';
import { type ClickHouseClient, openClickHouse } from '#storage/clickhouse/clickhouse.ts';
import { ExceptionReader } from '#storage/clickhouse/exception_reader.ts';
import { MetricReader } from '#storage/clickhouse/metric_reader.ts';
import { type Database, openDatabase } from '#storage/postgres/database.ts';
import { startDatabaseClock } from '#storage/postgres/database_clock.ts';
import { PushSubscriptionStore } from '#storage/postgres/push_subscription_store.ts';
import { ENTITIES } from '#storage/postgres/stores.ts';
import { connectQueue, type QueueConnection } from '#storage/queue/connection.ts';
import { openJobQueue } from '#storage/queue/job_queue.ts';
import { keepJobs, type KeepingQueue } from '#storage/queue/kept_jobs.ts';
import { createOutboxPublisher, type OutboxPublisher } from '#storage/queue/outbox_publisher.ts';

/** Settings with the addresses that every process needs: configured, or given by the supervisor of embedded stores. */
export type RunningConfig = Config & {
  readonly databaseUrl: string;
  readonly clickhouseUrl: string;
  readonly appSecret: string;
};

/** Checks that the stores are known. `npm start` provides embedded ones; a single process must be told. */
export function requireStores(config: Config): RunningConfig {
  const { databaseUrl, clickhouseUrl, appSecret } = config;
  if (databaseUrl === undefined || clickhouseUrl === undefined || appSecret === undefined) {
    const missing = { DATABASE_URL: databaseUrl, CLICKHOUSE_URL: clickhouseUrl, APP_SECRET: appSecret };
    const names = Object.entries(missing).filter(([, value]) => value === undefined);
    throw new ConfigError(
      names.map(([name]) => `${name} is required here; "npm start" provides it for embedded stores`),
    );
  }
  return { ...config, databaseUrl, clickhouseUrl, appSecret };
}

/** The rooms, built once and handed on as arguments. */
export interface House {
  readonly config: RunningConfig;
  readonly clock: Clock;
  readonly log: Log;
  readonly db: Database;
  readonly clickhouse: ClickHouseClient;
  readonly queue: KeepingQueue;
  /** A queue connection for consumers, which need not wait for the disk. */
  readonly connectWorkers: (poolMax: number) => QueueConnection;
  readonly outbox: OutboxPublisher;
  readonly actions: ActionRuntime;
  /** The account of messages and calls; null when none is configured. */
  readonly twilio: TwilioAccount | null;
  readonly senders: Senders;
  /** Mail to people about their accounts; null when none is configured. */
  readonly mail: MailServer | null;
  /** Links in messages that act in the name of whoever got them. */
  readonly answerLinks: AnswerLinks;
  readonly vapidKeys: VapidKeys;
  /** Where apps are connected; loaded when the first one asks, since workers and most processes never need it. */
  readonly authorizationServer: () => Promise<AuthorizationServer>;
  /** Tells consoles what has changed. */
  readonly changes: ChangeFeed;
  /** Undoes `compose` in reverse; idempotent. */
  close(): Promise<void>;
}

/** What tests replace: the clock they move. */
interface ComposeOptions {
  readonly log: Log;
  readonly clock?: Clock;
}

export async function compose(config: RunningConfig, { log, clock: given }: ComposeOptions): Promise<House> {
  const db = await openDatabase({ url: config.databaseUrl, entities: ENTITIES });
  const { clock, stop: stopClock } = given ? { clock: given, stop: () => {} } : await startDatabaseClock(db.sql, log);
  const clickhouse = openClickHouse(config.clickhouseUrl);
  const queue = keepJobs(openJobQueue(connectQueue(config, { durable: true, poolMax: 8 }), log), db, log);
  const outbox = createOutboxPublisher(db, queue, clock, log);
  const twilio = twilioAccountOf(config);
  const answerLinks = createAnswerLinks(config.appSecret, config.baseUrl);
  const vapidKeys = deriveVapidKeys(config.appSecret);
  const mail = mailServerOf(config);
  const senders = createSenders({
    baseUrl: config.baseUrl,
    links: answerLinks,
    twilio,
    mail,
    push: { keys: vapidKeys, subscriptions: pushSubscriptionsOf(db) },
  });
  const actions: ActionRuntime = {
    db,
    metrics: new MetricReader(clickhouse),
    exceptions: new ExceptionReader(clickhouse),
    cipher: createCipher(config.appSecret, 'ingest-keys'),
    configuredChannels: new Set(senders.keys()),
    clock,
    baseUrl: config.baseUrl,
    onOutbox: () => outbox.wake(),
  };
  let authorizationServer: Promise<AuthorizationServer> | null = null;
  const openAuthorizationServer = async (): Promise<AuthorizationServer> => {
    const { openAuthorizationServer: open } = await import('#entry/http/authorization_server.ts');
    return open({ config, db, clock, log });
  };
  const changes = createChangeFeed(db, clock, log);
  let closing: Promise<void> | null = null;
  const close = async (): Promise<void> => {
    changes.close();
    await outbox.settled();
    await queue.close();
    await clickhouse.close();
    stopClock();
    await db.close();
  };
  return {
    config,
    clock,
    log,
    db,
    clickhouse,
    queue,
    connectWorkers: (poolMax) => connectQueue(config, { durable: false, poolMax }),
    outbox,
    actions,
    twilio,
    answerLinks,
    vapidKeys,
    authorizationServer: () => (authorizationServer ??= openAuthorizationServer()),
    senders,
    mail,
    changes,
    close: () => (closing ??= close()),
  };
}

function twilioAccountOf(config: Config): TwilioAccount | null {
  const { twilioAccountSid: accountSid, twilioAuthToken: authToken, twilioFrom: from, twilioApiBase: apiBase } = config;
  if (accountSid === undefined || authToken === undefined || from === undefined) return null;
  return { accountSid, authToken, from, apiBase };
}

function mailServerOf({ smtpUrl: url, mailFrom: from }: Config): MailServer | null {
  return url === undefined || from === undefined ? null : { url, from };
}

function pushSubscriptionsOf(db: Database): PushSubscriptions {
  const store = (): PushSubscriptionStore => new PushSubscriptionStore(db.session());
  return { listOf: (userId) => store().listOf(userId), remove: (subscriptionId) => store().remove(subscriptionId) };
}
