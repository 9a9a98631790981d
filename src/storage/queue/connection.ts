import { setTimeout as delay } from 'node:timers/promises';

import {
  assertSchemaCompatibility,
  type BackendFactory,
  createRedisBackend,
  PostgresConnection,
  type PostgresConnectionOptions,
  PostgresQueueBackend,
  runMigrations,
} from 'bullmq';
import type { Cluster, Redis } from 'ioredis';
import { Pool, type PoolConfig } from 'pg';

import { messageOf } from '#kernel/errors.ts';
import { type DatabaseAddress, directUrlOf } from '#storage/postgres/database.ts';
import { READ_ONLY_SQL, readOnlyText } from '#storage/postgres/read_only.ts';
import { failoverEviction, reapDeadConnections } from '#storage/postgres/dead_connections.ts';
import { keyPrefixOf, openRedis, type RedisSilence, type RedisStore } from '#storage/queue/redis.ts';

/** Reason, in words, why a Redis that answers takes no changes. */
export class RedisRefusal extends Error {}

/** Reasons by the word with which Redis begins its answer. */
const REFUSALS: Readonly<Record<string, string>> = {
  CLUSTERDOWN: 'does not serve all of its keys: a master is away, and no replica has taken its place',
  LOADING: 'is still reading its data from disk',
  MASTERDOWN: 'is a replica that has lost its master: name the master in REDIS_URL, or its Sentinels',
  MISCONF: 'cannot write to its disk, and takes no changes until it can: make room there',
  NOPERM: 'does not let this user write: give it the rights, or name another in REDIS_URL',
  NOREPLICAS: 'has fewer replicas than min-replicas-to-write asks for: start them',
  OOM: 'has used all of its memory (maxmemory): give it more',
  READONLY: 'is a replica, which takes no changes: name the master in REDIS_URL, or its Sentinels',
};

/** Writes a small key beside those of the queues: only that tells whether the queues can be written. */
export async function probeRedis(redis: Redis | Cluster, url: string): Promise<void> {
  try {
    await redis.set(`${keyPrefixOf(url) ?? 'bull'}:tocsin-probe`, '1', 'PX', 60_000);
  } catch (error) {
    const [, word = ''] = /^(?:ERR )?-?([A-Z]+)\b/.exec(messageOf(error)) ?? [];
    const text = REFUSALS[word];
    throw text === undefined ? error : new RedisRefusal(text);
  }
}

/**
 * Connection to the store of jobs: Redis when it is configured, else PostgreSQL. The rest of the product cannot tell
 * which.
 */
export interface QueueConnection {
  readonly backend: BackendFactory;
  /** BullMQ's options. */
  readonly options: { readonly connection: object; readonly prefix?: string };
  /** Name and address-free description for health and the banner. */
  readonly engine: 'redis' | 'postgres';
  /** Throws when jobs cannot be added now, with the reason. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

interface QueueAddress extends DatabaseAddress {
  readonly redisUrl: string | undefined;
  readonly redisCaFile?: string | undefined;
}

/** `durable` waits for the disk at each commit; without it a crash of PostgreSQL re-runs a few finished jobs. */
export function connectQueue(address: QueueAddress, options: { durable: boolean; poolMax: number }): QueueConnection {
  const { redisUrl, redisCaFile } = address;
  return redisUrl === undefined
    ? connectPostgres(directUrlOf(address), options)
    : connectRedis({ redisUrl, redisCaFile });
}

/** A worker waits 10 s for a job, and BullMQ then gives the connection another second. */
const REDIS_SILENCE: RedisSilence = { answerMsMax: 3_000, waitMsMax: 13_000 };

function connectRedis(store: RedisStore): QueueConnection {
  const behaviour = { maxRetriesPerRequest: null, enableReadyCheck: true, lazyConnect: false };
  const redis = openRedis(store, { ...behaviour, silence: REDIS_SILENCE });
  redis.on('error', () => {});
  const prefix = keyPrefixOf(store.redisUrl);
  return {
    backend: createRedisBackend,
    options: { connection: redis, ...(prefix !== undefined && { prefix }) },
    engine: 'redis',
    ping: async () => {
      try {
        await probeRedis(redis, store.redisUrl);
      } catch (error) {
        throw error instanceof RedisRefusal ? new Error(`Redis ${error.message}`) : error;
      }
    },
    close: async () => {
      redis.disconnect();
    },
  };
}

const SCHEMA = 'bullmq';

function connectPostgres(url: string, options: { durable: boolean; poolMax: number }): QueueConnection {
  const pool = openPool({
    connectionString: url,
    application_name: 'tocsin-queue',
    max: options.poolMax,
    keepAlive: true,
    connectionTimeoutMillis: 5_000,
    options: `-c search_path=${SCHEMA},public${options.durable ? '' : ' -c synchronous_commit=off'}`,
  });
  const closeStale = failoverEviction(pool);
  reapDeadConnections(pool, { endAfterMs: Number.POSITIVE_INFINITY, server: { connectionString: url } });
  return {
    backend: createLastingPostgresBackend as BackendFactory,
    options: { connection: pool },
    engine: 'postgres',
    ping: async () => {
      const { rows } = await pool.query<{ value: string }>(READ_ONLY_SQL);
      const [reason] = rows;
      if (reason === undefined) return;
      closeStale();
      throw new Error(`PostgreSQL ${readOnlyText(reason.value)}`);
    },
    close: () => pool.end(),
  };
}

/** A lost connection rejects its queries. Its `error` event would also end the process if nothing listened to it. */
function openPool(config: PoolConfig): Pool {
  const pool = new Pool(config);
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  return pool;
}

/** Brings the queue's own tables up to date; Redis needs none. */
export async function migrateQueue(address: QueueAddress): Promise<void> {
  if (address.redisUrl !== undefined) return;
  const pool = openPool({ connectionString: directUrlOf(address), max: 1 });
  try {
    const client = await pool.connect();
    try {
      await runMigrations(client, SCHEMA);
    } finally {
      client.release();
    }
  } finally {
    await pool.end();
  }
}

/** A worker asks for the next job without end; one that cannot be had is asked for again after so long. */
const ASK_AGAIN_MS = 250;

/**
 * BullMQ's PostgreSQL backend, made to outlive a server that is away. BullMQ checks once whether the schema fits, and a
 * server that was away at that moment would leave it refusing for as long as the process lives.
 */
const createLastingPostgresBackend: BackendFactory<PostgresQueueBackend, PostgresConnectionOptions> = (name, opts) =>
  new LastingBackend(new LastingConnection(opts.connection), name, opts);

class LastingConnection extends PostgresConnection {
  #ready: Promise<void> | null = null;

  /** Rejects while the server is away or its schema does not fit, and checks again each time until it does. */
  override waitUntilReady(): Promise<void> {
    const ready = (this.#ready ??= this.#check());
    ready.catch(() => {
      if (this.#ready === ready) this.#ready = null;
    });
    return ready;
  }

  async #check(): Promise<void> {
    const client = await this.pool.connect();
    let isSound = false;
    try {
      await assertSchemaCompatibility(client, this.schema);
      isSound = true;
    } finally {
      client.release(!isSound);
    }
    this.emit('ready');
  }
}

class LastingBackend extends PostgresQueueBackend {
  override waitUntilReady(): Promise<void> {
    return this.connection.waitUntilReady();
  }

  /** A fault is not answered at once: BullMQ asks again without a pause, and would keep a processor busy with it. */
  override async moveToActive(token: string, name?: string): ReturnType<PostgresQueueBackend['moveToActive']> {
    try {
      return await super.moveToActive(token, name);
    } catch (error) {
      await delay(ASK_AGAIN_MS);
      throw error;
    }
  }
}
