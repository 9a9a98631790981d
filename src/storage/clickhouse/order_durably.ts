import type { ClickHouseSettings } from '@clickhouse/client';

/**
 * Settings of deletions: the answer comes when the order is durable, and ClickHouse carries it out later. On a cluster
 * the order lies in Keeper, and a server that is away finds it there when it comes back:
 * https://clickhouse.com/docs/sql-reference/distributed-ddl and, for the mode,
 * https://clickhouse.com/docs/operations/settings/settings#distributed_ddl_output_mode.
 */
export const ORDER_DURABLY: ClickHouseSettings = {
  lightweight_deletes_sync: '0',
  mutations_sync: '0',
  distributed_ddl_task_timeout: '10',
  distributed_ddl_output_mode: 'null_status_on_timeout',
};
