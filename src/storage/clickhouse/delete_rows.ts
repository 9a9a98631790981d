import type { ClickHouseClient } from '#storage/clickhouse/clickhouse.ts';
import { withClickHouseErrors } from '#storage/clickhouse/faults.ts';
import type { DataTable, RollupTable } from '#storage/clickhouse/layout.ts';
import { ORDER_DURABLY } from '#storage/clickhouse/order_durably.ts';

/**
 * Orders the deletion and returns once the order is durable; ClickHouse carries it out even if something happens to
 * us, within moments or, in many parts, minutes. Until then the rows are still there, so reads must not rely on it.
 * Costs next to nothing where there is nothing to delete. `condition` names its values as ClickHouse parameters.
 */
export async function deleteRows(
  client: ClickHouseClient,
  table: DataTable | RollupTable,
  condition: string,
  parameters: Record<string, unknown>,
): Promise<void> {
  await withClickHouseErrors(async () => {
    const answer = await client.query({
      query: `SELECT 1 FROM ${table} WHERE ${condition} LIMIT 1`,
      query_params: parameters,
      format: 'JSONCompactEachRow',
    });
    if ((await answer.json()).length === 0) return;
    await client.command({
      query: `DELETE FROM ${client.layout.stored(table)}${client.layout.onCluster} WHERE ${condition}`,
      query_params: parameters,
      clickhouse_settings: ORDER_DURABLY,
    });
  });
}
