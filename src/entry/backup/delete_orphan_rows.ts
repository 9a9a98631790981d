import type { Client } from 'pg';

import type { ClickHouseClient } from '#storage/clickhouse/clickhouse.ts';
import { deleteRows } from '#storage/clickhouse/expired_rows.ts';
import { ROLLUP_TABLES } from '#storage/clickhouse/layout.ts';
import { idOfUuid } from '#kernel/ids.ts';

const BATCH = 2_000;

/**
 * Deletes rows of ClickHouse whose service or group PostgreSQL does not have: they were written after its snapshot. An
 * event among them that was accepted before the snapshot is stored again by its job, in the group it finds then.
 */
export async function deleteOrphanRows(client: Client, clickhouse: ClickHouseClient): Promise<void> {
  for (const table of [
    'metric_points',
    'metric_series',
    'metric_names',
    'metric_exemplars',
    'exception_events',
    'exception_origins',
    ...ROLLUP_TABLES,
  ] as const) {
    await deleteUnknown(client, clickhouse, table, 'service');
  }
  await deleteUnknown(client, clickhouse, 'exception_events', 'group');
  await deleteUnknown(client, clickhouse, 'exception_origins', 'group');
}

async function deleteUnknown(
  client: Client,
  clickhouse: ClickHouseClient,
  table: Parameters<typeof deleteRows>[1],
  kind: 'service' | 'group',
): Promise<void> {
  const ownerTable = kind === 'service' ? 'services' : 'exception_groups';
  const answer = await clickhouse.query({
    query: `SELECT DISTINCT ${kind}_id AS id FROM ${table}`,
    format: 'JSONEachRow',
  });
  const uuids = (await answer.json<{ id: string }>()).map(({ id }) => id);
  for (let at = 0; at < uuids.length; at += BATCH) {
    const ids = new Map(uuids.slice(at, at + BATCH).map((uuid) => [idOfUuid(kind, uuid) as string, uuid]));
    const { rows } = await client.query<{ id: string }>(`select id from ${ownerTable} where id = any ($1)`, [
      [...ids.keys()],
    ]);
    for (const { id } of rows) ids.delete(id);
    if (ids.size === 0) continue;
    await deleteRows(clickhouse, table, `${kind}_id IN {ids:Array(UUID)}`, { ids: [...ids.values()] });
  }
}
