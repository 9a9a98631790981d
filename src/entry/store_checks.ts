import { messageOf } from '#kernel/errors.ts';
import { redact } from '#kernel/log.ts';
import { READ_ONLY_SQL, readOnlyText } from '#storage/postgres/read_only.ts';
import { findStorageFault } from '#storage/clickhouse/storage_check.ts';
import { withTimeout } from '#kernel/promises.ts';
import type { ClickHouseClient } from '#storage/clickhouse/clickhouse.ts';
import type { Database } from '#storage/postgres/database.ts';
import { DISK_FULL_TEXT } from '#storage/postgres/faults.ts';
import type { DurableQueue } from '#storage/queue/durable_queue.ts';

/** Result of checking a store. */
export interface StoreCheck {
  readonly status: 'up' | 'down';
  readonly latencyMs: number;
  /** Error message without secrets. */
  readonly error?: string;
}

export const CHECK_TIMEOUT_MS = 3_000;

/** Checks that PostgreSQL accepts writes: a standby, and a database with a full disk, answer only queries. */
export async function checkPostgres(db: Database): Promise<StoreCheck> {
  return await check(async () => {
    const reason = await db.sql.row<{ found: string }>(READ_ONLY_SQL);
    if (reason !== null) throw new Error(`PostgreSQL ${readOnlyText(reason.found)}`);
    if (db.isFull()) throw new Error(DISK_FULL_TEXT);
  });
}

export async function checkClickHouse(clickhouse: ClickHouseClient): Promise<StoreCheck> {
  return await check(async () => {
    const reason = await findStorageFault(clickhouse);
    if (reason !== null) throw new Error(reason);
  });
}

export async function checkQueue(queue: DurableQueue): Promise<StoreCheck> {
  return await check(() => queue.ping());
}

async function check(work: () => Promise<unknown>): Promise<StoreCheck> {
  const startedAt = performance.now();
  const elapsed = () => Math.round((performance.now() - startedAt) * 10) / 10;
  try {
    await withTimeout(work(), CHECK_TIMEOUT_MS, noAnswer);
    return { status: 'up', latencyMs: elapsed() };
  } catch (error) {
    return { status: 'down', latencyMs: elapsed(), error: redact(messageOf(error)) };
  }
}

export function noAnswer(): never {
  throw new Error(`no answer within ${CHECK_TIMEOUT_MS} ms`);
}
