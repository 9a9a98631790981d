import { Client } from 'pg';

import { codeOf, findListenFault, type PreflightFault, type StoreName } from '#entry/listen_fault.ts';
import type { Config } from '#entry/config.ts';
import { withTimeout } from '#kernel/with_timeout.ts';
import { openRedis, readRedisAddress } from '#storage/queue/redis.ts';
import { isClickHouseUnreachable, openClickHouse } from '#storage/clickhouse/clickhouse.ts';

const ANSWER_MS_MAX = 5_000;
/** Its first digits: 14. */
const POSTGRES_VERSION_MIN = 140_000;

/** Asks every configured store once, and tries to listen. Takes 5 s at most. */
export async function findPreflightFaults(
  config: Config,
  { listens }: { listens: boolean },
): Promise<PreflightFault[]> {
  const { databaseUrl, directDatabaseUrl, clickhouseUrl, redisUrl, host, port } = config;
  const faults = await Promise.all([
    listens ? findListenFault(host, port) : null,
    databaseUrl === undefined ? null : findPostgresFault(databaseUrl, { isPooler: directDatabaseUrl !== undefined }),
    directDatabaseUrl === undefined ? null : findPostgresFault(directDatabaseUrl, { variable: 'DIRECT_DATABASE_URL' }),
    clickhouseUrl === undefined ? null : tryStore('CLICKHOUSE_URL', 'ClickHouse', clickhouseUrl, askClickHouse),
    redisUrl === undefined ? null : tryStore('REDIS_URL', 'Redis', redisUrl, askRedis),
  ]);
  return faults.filter((fault) => fault !== null);
}

interface Asked {
  /** The setting that holds the address. */
  readonly variable?: string;
  /** Whether it may be a pooler, of which nothing of a session is asked. */
  readonly isPooler?: boolean;
}

export async function findPostgresFault(
  url: string,
  { variable = 'DATABASE_URL', isPooler = false }: Asked = {},
): Promise<PreflightFault | null> {
  return await tryStore(variable, 'PostgreSQL', url, (address, at) => askPostgres(address, at, isPooler));
}

/** A refusal in words, from a store that answers. */
class Refusal extends Error {}

type Ask = (url: string, address: string) => Promise<void>;

async function tryStore(variable: string, name: StoreName, url: string, ask: Ask): Promise<PreflightFault | null> {
  const at = name === 'Redis' ? redisAddressOf(url) : addressOf(url);
  if (at === null)
    return { sentence: `${variable} is not a valid URL: escape special characters in it`, mayPass: false };
  try {
    await withTimeout(ask(url, at), ANSWER_MS_MAX, () => {
      throw new Error('no answer in time');
    });
    return null;
  } catch (error) {
    if (error instanceof Refusal) return { sentence: `${variable}: ${error.message}`, mayPass: false };
    if (codeOf(error) === 'ENOTFOUND') {
      return { sentence: `${variable}: there is no host ${at}; correct the name, or the DNS`, mayPass: false };
    }
    const sentence = `${variable}: ${name} does not answer at ${at}; start it there, or correct the address`;
    return { sentence, mayPass: true, store: name };
  }
}

/** Host and port without name and password; null for a URL that cannot be read. */
function addressOf(url: string): string | null {
  try {
    const { host, username, password } = new URL(url);
    for (const part of [username, password]) decodeURIComponent(part);
    return decodeURIComponent(host);
  } catch {
    return null;
  }
}

/** The hosts, without name and password; null for an address that cannot be read. */
function redisAddressOf(url: string): string | null {
  return (
    readRedisAddress(url)
      ?.hosts.map(({ host, port }) => `${host}:${port}`)
      .join(', ') ?? null
  );
}

async function askPostgres(url: string, at: string, isPooler: boolean): Promise<void> {
  const client = new Client({
    connectionString: url,
    connectionTimeoutMillis: ANSWER_MS_MAX,
    ...(!isPooler && { statement_timeout: ANSWER_MS_MAX }),
  });
  client.on('error', () => {});
  try {
    await client.connect();
    const { rows } = await client.query<{ version: number }>(
      `select current_setting('server_version_num')::int as version`,
    );
    if ((rows[0]?.version ?? 0) < POSTGRES_VERSION_MIN) throw new Refusal(`PostgreSQL at ${at} is older than 14`);
  } catch (error) {
    if (error instanceof Error && /unsupported startup parameter/.test(error.message)) {
      throw new Refusal(
        `a pooler at ${at} refuses settings of a session; set DIRECT_DATABASE_URL to PostgreSQL itself`,
      );
    }
    throw POSTGRES_REFUSALS.has(codeOf(error)) ? new Refusal(`${POSTGRES_REFUSALS.get(codeOf(error))} (${at})`) : error;
  } finally {
    await client.end().catch(() => {});
  }
}

const POSTGRES_REFUSALS: ReadonlyMap<string, string> = new Map([
  ['28P01', 'PostgreSQL refuses this user or password; correct them'],
  ['28000', 'PostgreSQL refuses this user from this machine; correct the user, or allow it in pg_hba.conf'],
  ['3D000', 'PostgreSQL has no database of this name; create it, or name another'],
  ['42501', 'PostgreSQL does not let this user connect to the database; grant it, or name another user'],
]);

async function askClickHouse(url: string, at: string): Promise<void> {
  const client = openClickHouse(url, ANSWER_MS_MAX);
  try {
    const answer = await client.query({ query: 'SELECT version() AS version', format: 'JSONEachRow' });
    await answer.json();
  } catch (error) {
    if (isClickHouseUnreachable(error)) throw error;
    throw new Refusal(`${CLICKHOUSE_REFUSALS.get(codeOf(error)) ?? notClickHouse(error)} (${at})`);
  } finally {
    await client.close();
  }
}

const CLICKHOUSE_CREDENTIALS = 'ClickHouse refuses this user or password; correct them';

const CLICKHOUSE_REFUSALS: ReadonlyMap<string, string> = new Map([
  ['81', 'ClickHouse has no database of this name; create it, or name another'],
  ['192', CLICKHOUSE_CREDENTIALS],
  ['193', CLICKHOUSE_CREDENTIALS],
  ['194', CLICKHOUSE_CREDENTIALS],
  ['516', CLICKHOUSE_CREDENTIALS],
]);

function notClickHouse(error: unknown): string {
  const isAnswer = /^\d+$/.test(codeOf(error));
  return isAnswer
    ? `ClickHouse refuses a plain query with its error ${codeOf(error)}; look it up in its log`
    : 'the server at this address is not the HTTP interface of ClickHouse; its port is usually 8123';
}

async function askRedis(url: string, at: string): Promise<void> {
  const redis = openRedis(url, {
    lazyConnect: true,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
    sentinelRetryStrategy: () => null,
    connectTimeout: ANSWER_MS_MAX,
    enableReadyCheck: false,
  });
  let failure: unknown = null;
  redis.on('error', (error) => (failure ??= error));
  try {
    await redis.connect();
    await redis.ping();
    const memory = await redis.info('memory');
    const policy = /^maxmemory_policy:(\S+)/m.exec(memory)?.[1] ?? 'noeviction';
    if (policy !== 'noeviction' && !/^maxmemory:0\r?$/m.test(memory)) {
      throw new Refusal(
        `Redis at ${at} drops keys when its memory is full (${policy}); set maxmemory-policy noeviction`,
      );
    }
  } catch (error) {
    if (error instanceof Refusal) throw error;
    const cause = failure ?? error;
    const text = cause instanceof Error ? cause.message : '';
    if (/NOAUTH/.test(text)) throw new Refusal(`Redis wants a password; put it into the address (${at})`);
    if (/WRONGPASS|invalid password|ERR AUTH/i.test(text)) {
      throw new Refusal(`Redis refuses this user or password; correct them (${at})`);
    }
    throw cause;
  } finally {
    redis.disconnect();
  }
}
