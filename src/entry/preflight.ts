import { Client } from 'pg';

import { findRestoreMarker, UNFINISHED_RESTORE } from '#entry/backup/restore_marker.ts';
import { codeOf, findListenFault, type PreflightFault, type StoreName } from '#entry/listen_fault.ts';
import type { Config } from './config.ts';
import { findSchemaFault } from '#entry/schema_age.ts';
import { withTimeout } from '#kernel/promises.ts';
import { findPoolerFault } from '#storage/postgres/pooler.ts';
import { READ_ONLY_SQL, readOnlyText } from '#storage/postgres/read_only.ts';
import { openRedis, readRedisAddress, type RedisStore } from '#storage/queue/redis.ts';
import { probeRedis, RedisRefusal } from '#storage/queue/connection.ts';
import { type ClickHouseAddress, databaseOf, hostOf, nodeUrlsOf, withDatabase } from '#storage/clickhouse/address.ts';
import { openClickHouse } from '#storage/clickhouse/clickhouse.ts';
import { findClusterFault } from '#storage/clickhouse/cluster_check.ts';
import { isClickHouseUnreachable } from '#storage/clickhouse/faults.ts';
import { requireOwnSecret } from '#entry/secret_fingerprint.ts';
import { ConfigError } from '#kernel/config.ts';
import { certificateFault, messageOf } from '#kernel/errors.ts';

const ANSWER_MS_MAX = 5_000;
/** Oldest supported version of PostgreSQL, 14, as the server reports it. */
const POSTGRES_VERSION_MIN = 140_000;

/** Checks every configured store once, and whether it can listen. Takes 5 s at most. */
export async function findPreflightFaults(
  config: Config,
  { listens, migrates = false }: { listens: boolean; migrates?: boolean },
): Promise<PreflightFault[]> {
  const { databaseUrl, directDatabaseUrl, clickhouseUrl, redisUrl, appSecret, host, port } = config;
  const faults = await Promise.all([
    listens ? findListenFault(host, port) : null,
    databaseUrl === undefined
      ? null
      : findPostgresFault(databaseUrl, { isPooler: directDatabaseUrl !== undefined, appSecret }),
    directDatabaseUrl === undefined ? null : findPostgresFault(directDatabaseUrl, { variable: 'DIRECT_DATABASE_URL' }),
    clickhouseUrl === undefined ? null : findClickHouseFault({ ...config, clickhouseUrl }, { migrates }),
    redisUrl === undefined
      ? null
      : tryStore('REDIS_URL', 'Redis', redisUrl, (at) => askRedis({ ...config, redisUrl }, at)),
  ]);
  return faults.filter((fault) => fault !== null);
}

interface Asked {
  /** Setting that holds the address. */
  readonly variable?: string;
  /** Whether it may be a pooler, where nothing that needs a session is checked. */
  readonly isPooler?: boolean;
  /** Secret that belongs to the database, if it matters. */
  readonly appSecret?: string | undefined;
}

export async function findPostgresFault(
  url: string,
  { variable = 'DATABASE_URL', ...asked }: Asked = {},
): Promise<PreflightFault | null> {
  return await tryStore(variable, 'PostgreSQL', url, (at) => askPostgres(url, at, asked));
}

export async function findClickHouseFault(
  address: ClickHouseAddress,
  { migrates }: { readonly migrates: boolean },
): Promise<PreflightFault | null> {
  const { clickhouseUrl } = address;
  return await tryStore('CLICKHOUSE_URL', 'ClickHouse', clickhouseUrl, (at) => askClickHouse(address, at, migrates));
}

/** Refusal of a store that answers, as a sentence. */
class Refusal extends Error {}

/** Error of a store that answers but is not complete yet; the message says why. It may be complete before long. */
class NotYet extends Error {}

type Ask = (address: string) => Promise<void>;

async function tryStore(variable: string, name: StoreName, url: string, ask: Ask): Promise<PreflightFault | null> {
  const at = ADDRESSES[name](url);
  if (at === null)
    return { sentence: `${variable} is not a valid URL: escape special characters in it`, mayPass: false };
  try {
    await withTimeout(ask(at), ANSWER_MS_MAX, () => {
      throw new Error('no answer in time');
    });
    return null;
  } catch (error) {
    if (error instanceof ConfigError) return { sentence: error.message, mayPass: false };
    if (error instanceof NotYet) return { sentence: `${variable}: ${error.message}`, mayPass: true, store: name };
    const encryption = encryptionFault(error, variable, name, at);
    if (encryption !== null) return { sentence: encryption, mayPass: false };
    if (error instanceof Refusal) return { sentence: `${variable}: ${error.message}`, mayPass: false };
    if (codeOf(error) === 'ENOTFOUND') {
      return { sentence: `${variable}: there is no host ${at}; correct the name, or the DNS`, mayPass: false };
    }
    const sentence = `${variable}: ${name} does not answer at ${at}; start it there, or correct the address`;
    return { sentence, mayPass: true, store: name };
  }
}

const ADDRESSES: Readonly<Record<StoreName, (url: string) => string | null>> = {
  PostgreSQL: addressOf,
  ClickHouse: (url) => nodeUrlsOf(url)?.map(hostOf).join(', ') ?? null,
  Redis: redisAddressOf,
};

const NO_TLS = /WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|does not support SSL connections/;

/** Returns why TLS failed, as a sentence; null for any other error. */
function encryptionFault(error: unknown, variable: string, name: StoreName, at: string): string | null {
  const cause = codeOf(error) === '' && error instanceof Error && error.cause !== undefined ? error.cause : error;
  const text = `${codeOf(cause)} ${cause instanceof Error ? cause.message : ''}`;
  const file = CA_FILES[name];
  const fault = certificateFault(cause);
  if (fault === 'untrusted') {
    return `${variable}: the certificate of ${name} (${at}) is not signed by an authority that is trusted here: name the file of that authority in ${file}`;
  }
  if (text.includes('ERR_TLS_CERT_ALTNAME_INVALID')) {
    return `${variable}: the certificate of ${name} is not for ${at}: name the host as the certificate does, or have it issued again`;
  }
  if (text.includes('CERT_HAS_EXPIRED')) return `${variable}: the certificate of ${name} (${at}) has expired: renew it`;
  if (fault === 'invalid') {
    return `${variable}: the certificate of ${name} (${at}) is not valid (${messageOf(cause)}): have it issued again`;
  }
  if (NO_TLS.test(text))
    return `${variable}: ${name} does not use TLS at ${at}: correct the port, or the beginning of the address`;
  return null;
}

const CA_FILES: Readonly<Record<StoreName, string>> = {
  PostgreSQL: 'DATABASE_CA_FILE',
  ClickHouse: 'CLICKHOUSE_CA_FILE',
  Redis: 'REDIS_CA_FILE',
};

/** Returns host and port without name and password; null for an invalid URL. */
function addressOf(url: string): string | null {
  try {
    const { host, username, password } = new URL(url);
    for (const part of [username, password]) decodeURIComponent(part);
    return decodeURIComponent(host);
  } catch {
    return null;
  }
}

/** Returns the hosts, without name and password; null for an invalid address. */
function redisAddressOf(url: string): string | null {
  return (
    readRedisAddress(url)
      ?.hosts.map(({ host, port }) => `${host}:${port}`)
      .join(', ') ?? null
  );
}

async function askPostgres(
  url: string,
  at: string,
  { isPooler = false, appSecret }: Omit<Asked, 'variable'>,
): Promise<void> {
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
    const readOnly = await client.query<{ value: string }>(READ_ONLY_SQL);
    const [reason] = readOnly.rows;
    if (reason !== undefined) throw new NotYet(`PostgreSQL at ${at} ${readOnlyText(reason.value)}`);
    const fault = await findSchemaFault(client);
    if (fault !== null) throw new Refusal(fault);
    if (appSecret !== undefined) {
      await requireOwnSecret(
        async (text, parameters) => (await client.query<{ value: string | null }>(text, [...parameters])).rows,
        appSecret,
      );
    }
    if ((await findRestoreMarker(client)) !== null) throw new Refusal(UNFINISHED_RESTORE);
    const poolerFault = isPooler ? null : await findPoolerFault(url);
    if (poolerFault !== null) throw new Refusal(poolerText(at, poolerFault));
  } catch (error) {
    if (error instanceof Error && /unsupported startup parameter/.test(error.message)) {
      throw new Refusal(poolerText(at, 'refuses settings of a session'));
    }
    throw POSTGRES_REFUSALS.has(codeOf(error)) ? new Refusal(`${POSTGRES_REFUSALS.get(codeOf(error))} (${at})`) : error;
  } finally {
    await client.end().catch(() => {});
  }
}

function poolerText(at: string, fault: string): string {
  return `a pooler at ${at} ${fault}; set DIRECT_DATABASE_URL to PostgreSQL itself`;
}

const POSTGRES_REFUSALS: ReadonlyMap<string, string> = new Map([
  ['28P01', 'PostgreSQL refuses this user or password; correct them'],
  ['28000', 'PostgreSQL refuses this user from this machine; correct the user, or allow it in pg_hba.conf'],
  ['3D000', 'PostgreSQL has no database of this name; create it, or name another'],
  ['42501', 'PostgreSQL does not let this user connect to the database; grant it, or name another user'],
]);

/** Checks ClickHouse. The migrations create the database of a cluster, on every server. */
async function askClickHouse(address: ClickHouseAddress, at: string, migrates: boolean): Promise<void> {
  const isMade = migrates && address.clickhouseCluster !== undefined;
  const database = databaseOf(address.clickhouseUrl);
  const clickhouseUrl = isMade ? withDatabase(address.clickhouseUrl, 'default') : address.clickhouseUrl;
  const client = openClickHouse({ ...address, clickhouseUrl }, ANSWER_MS_MAX);
  try {
    const answer = await client.query({ query: 'SELECT version() AS version', format: 'JSONEachRow' });
    await answer.json();
    const fault = await findClusterFault(client, { everyServer: migrates, database });
    if (fault !== null) throw fault.mayPass ? new NotYet(fault.sentence) : new Refusal(fault.sentence);
  } catch (error) {
    if (isClickHouseUnreachable(error) || encryptionFault(error, '', 'ClickHouse', at) !== null) throw error;
    if (error instanceof Refusal || error instanceof NotYet) throw error;
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
  ['164', 'ClickHouse lets this user only read; give it the rights to write and to create tables, or name another'],
]);

function notClickHouse(error: unknown): string {
  const isAnswer = /^\d+$/.test(codeOf(error));
  return isAnswer
    ? `ClickHouse refuses a plain query with its error ${codeOf(error)}; look it up in its log`
    : 'the server at this address is not the HTTP interface of ClickHouse; its port is usually 8123';
}

async function askRedis(address: RedisStore, at: string): Promise<void> {
  const redis = openRedis(address, {
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
    await probeRedis(redis, address.redisUrl);
    const memory = await redis.info('memory');
    const policy = /^maxmemory_policy:(\S+)/m.exec(memory)?.[1] ?? 'noeviction';
    if (policy !== 'noeviction' && !/^maxmemory:0\r?$/m.test(memory)) {
      throw new Refusal(
        `Redis at ${at} drops keys when its memory is full (${policy}); set maxmemory-policy noeviction`,
      );
    }
  } catch (error) {
    if (error instanceof Refusal) throw error;
    if (error instanceof RedisRefusal) throw new NotYet(`Redis at ${at} ${error.message}`);
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
