import type { ActionRuntime } from '#actions/run_action.ts';
import { createCipher } from '#auth/cipher.ts';
import type { AuthorizationServer } from '#auth/oauth/authorization_server.ts';
import { type ChangeFeed, createChangeFeed } from '#entry/change_feed.ts';
import { type Foundation, type FoundationOptions, openFoundation } from '#entry/foundation.ts';
import type { RunningConfig } from '#entry/running_config.ts';
import { type ClickHouseClient, openClickHouse } from '#storage/clickhouse/clickhouse.ts';
import { ExceptionReader } from '#storage/clickhouse/exception_reader.ts';
import { MetricReader } from '#storage/clickhouse/metric_reader.ts';

/** What the API and the worker run on, built once and handed on as arguments. */
export interface House extends Foundation {
  readonly config: RunningConfig;
  readonly clickhouse: ClickHouseClient;
  readonly actions: ActionRuntime;
  /** Where apps are connected; loaded when the first one asks, since workers and most processes never need it. */
  readonly authorizationServer: () => Promise<AuthorizationServer>;
  /** Tells consoles what has changed. */
  readonly changes: ChangeFeed;
  /** Undoes `compose` in reverse; idempotent. */
  close(): Promise<void>;
}

export async function compose(config: RunningConfig, options: FoundationOptions): Promise<House> {
  const foundation = await openFoundation(config, options);
  const { db, clock, log, senders, outbox } = foundation;
  const clickhouse = openClickHouse(config.clickhouseUrl);
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
    await clickhouse.close();
    await foundation.close();
  };
  return {
    ...foundation,
    config,
    clickhouse,
    actions,
    authorizationServer: () => (authorizationServer ??= openAuthorizationServer()),
    changes,
    close: () => (closing ??= close()),
  };
}
