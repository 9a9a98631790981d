import type { ClickHouseSettings } from '@clickhouse/client';

import { type AppError, invalidInput } from '#kernel/errors.ts';
import type { ClickHouseClient } from '#storage/clickhouse/clickhouse.ts';
import { LOOKED_AT } from '#storage/clickhouse/insert_rows.ts';
import { withClickHouseErrors } from '#storage/clickhouse/faults.ts';

/** Returns the rows of a query, each with its columns in their order. Throws as `withClickHouseErrors`. */
export async function readRows<Row>(
  client: ClickHouseClient,
  query: string,
  parameters: Record<string, unknown>,
  settings: ClickHouseSettings = {},
): Promise<Row[]> {
  return await withClickHouseErrors(async () => {
    const result = await client.query({
      query,
      query_params: parameters,
      use_multipart_params_auto: true,
      format: 'JSONCompactEachRow',
      clickhouse_settings: settings,
    });
    return await result.json<Row>();
  });
}

export class ClickHouseStore {
  protected readonly client: ClickHouseClient;

  constructor(client: ClickHouseClient) {
    this.client = client;
  }

  /** Returns the rows of a query, as `readRows`. */
  protected rows<Row>(
    query: string,
    parameters: Record<string, unknown>,
    settings?: ClickHouseSettings,
  ): Promise<Row[]> {
    return readRows<Row>(this.client, query, parameters, settings);
  }
}

/**
 * Settings of reads for charts and histories, which may span long periods and many series. A caller gives up after 10
 * s.
 */
const LIMITS: ClickHouseSettings = {
  output_format_json_quote_denormals: 1,
  // A sample lies in the partition of its day, so no two rows of one sample lie in two.
  do_not_merge_across_partitions_select_final: 1,
  max_execution_time: 10,
  max_rows_to_read: '300000000',
  max_result_rows: '400000',
  result_overflow_mode: 'throw',
  max_memory_usage: '2000000000',
  ...LOOKED_AT,
};

/** The rows of a query that meets one of the limits are refused as `tooMuch` says. */
export async function readLong<Row>(
  client: ClickHouseClient,
  { sql, parameters }: { readonly sql: string; readonly parameters: Record<string, unknown> },
  tooMuch: (cause?: unknown) => AppError,
): Promise<Row[]> {
  try {
    return await readRows<Row>(client, sql, parameters, LIMITS);
  } catch (error) {
    if (!isTooMuch(error)) throw error;
    throw tooMuch(error);
  }
}

/** Returns the error for a history of a rule that would read too many points. */
export function tooManyDays(): AppError {
  const message = 'this metric has too many points for so many days: take fewer days, or narrow its labels';
  return invalidInput([{ path: 'days', message }]);
}

/** The query met one of its limits. */
function isTooMuch(error: unknown): boolean {
  const types = ['TIMEOUT_EXCEEDED', 'TOO_MANY_ROWS', 'TOO_MANY_ROWS_OR_BYTES', 'MEMORY_LIMIT_EXCEEDED'];
  return error instanceof Error && 'type' in error && types.some((type) => type === error.type);
}
