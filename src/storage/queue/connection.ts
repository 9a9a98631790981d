import { type BackendFactory, createRedisBackend, runMigrations } from 'bullmq';
import { Pool, type PoolConfig } from 'pg';

import { type DatabaseAddress, directUrlOf } from '#storage/postgres/database.ts';
import { keyPrefixOf, openRedis } from '#storage/queue/redis.ts';
import { createLastingPostgresBackend } from '#storage/queue/postgres_backend.ts';

/** Where jobs wait: Redis when it is configured, else PostgreSQL. The rest of the product cannot tell which. */
export interface QueueConnection {
  readonly backend: BackendFactory;
  /** BullMQ's options. */
  readonly options: { readonly connection: object; readonly prefix?: string };
  /** Name and address-free description for health and the banner. */
  readonly engine: 'redis' | 'postgres';
  ping(): Promise<void>;
  close(): Promise<void>;
}

interface QueueAddress extends DatabaseAddress {
  readonly redisUrl: string | undefined;
}

/** `durable` waits for the disk at each commit; without it a crash of PostgreSQL re-runs a few finished jobs. */
export function connectQueue(address: QueueAddress, options: { durable: boolean; poolMax: number }): QueueConnection {
  return address.redisUrl === undefined
    ? connectPostgres(directUrlOf(address), options)
    : connectRedis(address.redisUrl);
}

function connectRedis(url: string): QueueConnection {
  const redis = openRedis(url, { maxRetriesPerRequest: null, enableReadyCheck: true, lazyConnect: false });
  redis.on('error', () => {});
  const prefix = keyPrefixOf(url);
  return {
    backend: createRedisBackend,
    options: { connection: redis, ...(prefix !== undefined && { prefix }) },
    engine: 'redis',
    ping: async () => {
      await redis.ping();
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
  return {
    backend: createLastingPostgresBackend as BackendFactory,
    options: { connection: pool },
    engine: 'postgres',
    ping: async () => {
      await pool.query('select 1');
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
