import { messageOf } from '#kernel/errors.ts';
import { redact } from '#kernel/log.ts';
import { READ_ONLY_SQL, readOnlyText } from '#storage/postgres/read_only.ts';
import { findStorageFault } from '#storage/clickhouse/storage_check.ts';
import { withTimeout } from '#kernel/promises.ts';
import type { ClickHouseClient } from '#storage/clickhouse/clickhouse.ts';
import type { Database } from '#storage/postgres/database.ts';
import { DISK_FULL_TEXT } from '#storage/postgres/faults.ts';
import type { DurableQueue } from '#storage/queue/durable_queue.ts';
import { limitBy, type Clock } from '#kernel/time.ts';

export interface StoreCheck {
  readonly status: 'up' | 'down';
  readonly latencyMs: number;
  /** Error message without secrets. */
  readonly error?: string;
}

const CHECK_TIMEOUT_MS = 3_000;

/** Checks that PostgreSQL accepts writes: a standby, and a database with a full disk, answer only queries. */
export async function checkPostgres(db: Database, clock: Clock): Promise<StoreCheck> {
  return await check(clock, async () => {
    const reason = await db.sql.row<{ value: string }>(READ_ONLY_SQL);
    if (reason !== null) throw new Error(`PostgreSQL ${readOnlyText(reason.value)}`);
    if (db.isFull()) throw new Error(DISK_FULL_TEXT);
  });
}

export async function checkClickHouse(clickhouse: ClickHouseClient, clock: Clock): Promise<StoreCheck> {
  return await check(clock, async () => {
    const reason = await findStorageFault(clickhouse);
    if (reason !== null) throw new Error(reason);
  });
}

export async function checkQueue(queue: DurableQueue, clock: Clock): Promise<StoreCheck> {
  return await check(clock, () => queue.ping());
}

async function check(clock: Clock, work: () => Promise<unknown>): Promise<StoreCheck> {
  const startedAt = performance.now();
  const elapsed = () => Math.round((performance.now() - startedAt) * 10) / 10;
  try {
    await answered(work(), clock);
    return { status: 'up', latencyMs: elapsed() };
  } catch (error) {
    return { status: 'down', latencyMs: elapsed(), error: redact(messageOf(error)) };
  }
}

/** Returns the result of a check. Throws if it takes longer than it may. */
export async function answered<Result>(work: Promise<Result>, clock: Clock): Promise<Result> {
  return await withTimeout(work, limitBy(clock, CHECK_TIMEOUT_MS), () => {
    throw new Error(`no answer within ${CHECK_TIMEOUT_MS} ms`);
  });
}
