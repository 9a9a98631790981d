import { type Id, uuidOf } from '#kernel/ids.ts';
import { fromEpochMilliseconds, type Temporal } from '#kernel/time.ts';
import type { ClickHouseClient } from '#storage/clickhouse/clickhouse.ts';
import { withClickHouseErrors } from '#storage/clickhouse/faults.ts';

/** Recent activity of a service. */
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
  const rows = await withClickHouseErrors(async () => {
    const result = await client.query({
      query,
      query_params: { service: uuidOf(serviceId), since: since.epochMilliseconds },
      format: 'JSONCompactEachRow',
    });
    return await result.json<[lastAt: number | string, count: number | string]>();
  });
  const [lastAt, count] = (rows[0] ?? [0, 0]).map(Number);
  return { lastAt: lastAt ? fromEpochMilliseconds(lastAt) : null, count: count ?? 0 };
}
