import { createClient } from '@clickhouse/client';

import { loadConfig, runningConfig } from '#entry/config.ts';

/** Lists what the installation has stored: ids as senders write them, and values of the metric `load`. */
export async function listStored(dataDir: string): Promise<{ eventIds: Set<string>; values: Set<number> }> {
  const { clickhouseUrl } = await runningConfig(loadConfig({ DATA_DIR: dataDir }));
  return await listStoredAt(clickhouseUrl ?? '', `metric = 'load'`);
}

/** The same of a ClickHouse, with the values of the points that meet the condition. */
export async function listStoredAt(
  url: string,
  condition: string,
): Promise<{ eventIds: Set<string>; values: Set<number> }> {
  const clickhouse = createClient({ url });
  const column = async <Value>(query: string): Promise<Set<Value>> => {
    const rows = await (await clickhouse.query({ query, format: 'JSONCompactEachRow' })).json<[Value]>();
    return new Set(rows.map(([value]) => value));
  };
  try {
    return {
      eventIds: await column(`select replaceAll(toString(event_id), '-', '') from exception_events`),
      values: await column(`select value from metric_points where ${condition}`),
    };
  } finally {
    await clickhouse.close();
  }
}
