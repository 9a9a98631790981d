import { type Id, uuidOf } from '#kernel/ids.ts';
import { fromEpochMilliseconds, type Temporal } from '#kernel/time.ts';
import type { ClickHouseClient } from '#storage/clickhouse/clickhouse.ts';
import { readRows } from '#storage/clickhouse/read_rows.ts';

/** Counts of each service, by the hour in epoch milliseconds; hours without any are absent. */
export type HourlyCounts = ReadonlyMap<Id<'service'>, ReadonlyMap<number, number>>;

/** Runs a query that answers with service, beginning of the hour in epoch seconds, and count. */
export async function queryHourlyCounts(
  client: ClickHouseClient,
  query: string,
  serviceIds: readonly Id<'service'>[],
  since: Temporal.Instant,
): Promise<HourlyCounts> {
  if (serviceIds.length === 0) return new Map();
  const rows = await readRows<[service: string, hour: number | string, count: number | string]>(client, query, {
    services: serviceIds.map(uuidOf),
    since: since.epochMilliseconds,
  });
  const idOf = new Map(serviceIds.map((serviceId) => [uuidOf(serviceId), serviceId]));
  const counts = new Map<Id<'service'>, Map<number, number>>();
  for (const [uuid, hour, count] of rows) {
    const serviceId = idOf.get(uuid);
    if (serviceId === undefined) continue;
    const byHour = counts.get(serviceId) ?? new Map<number, number>();
    byHour.set(Number(hour) * 1_000, Number(count));
    counts.set(serviceId, byHour);
  }
  return counts;
}

export interface RecentActivity {
  /** Null if nothing is still kept. */
  readonly lastAt: Temporal.Instant | null;
  readonly count: number;
}

/** Runs a query that answers with one row: the newest time in epoch milliseconds, 0 for none, and the count. */
export async function queryRecentActivity(
  client: ClickHouseClient,
  query: string,
  serviceId: Id<'service'>,
  since: Temporal.Instant,
): Promise<RecentActivity> {
  const rows = await readRows<[lastAt: number | string, count: number | string]>(client, query, {
    service: uuidOf(serviceId),
    since: since.epochMilliseconds,
  });
  const [lastAt, count] = (rows[0] ?? [0, 0]).map(Number);
  return { lastAt: lastAt ? fromEpochMilliseconds(lastAt) : null, count: count ?? 0 };
}
