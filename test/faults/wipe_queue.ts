import { Redis } from 'ioredis';

import type { Sql } from '#storage/postgres/database.ts';

const DEADLOCK = '40P01';

/** Every job that waits, runs or is delayed is gone, with all that the queue knows of itself. */
export async function wipeQueue({ sql, redisUrl }: { sql: Sql; redisUrl?: string | undefined }): Promise<void> {
  if (redisUrl === undefined) await wipePostgres(sql);
  else await wipeRedis(redisUrl);
}

/** Empties the queue's tables; their users may be in the way at first. */
async function wipePostgres(sql: Sql): Promise<void> {
  const tables = await sql.rows<{ name: string }>(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables
     where schemaname = 'bullmq' and tablename not like '%migration%'`,
  );
  if (tables.length < 3) throw new Error('these are not the tables of a queue');
  for (;;) {
    try {
      await sql.run(`truncate ${tables.map(({ name }) => name).join(', ')} cascade`);
      return;
    } catch (error) {
      if ((error as { code?: unknown }).code !== DEADLOCK) throw error;
    }
  }
}

async function wipeRedis(url: string): Promise<void> {
  const redis = new Redis(url);
  await redis.flushall();
  redis.disconnect();
}
