import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';

import { type ClickHouseClient, withClickHouseErrors } from '#storage/clickhouse/clickhouse.ts';

/**
 * Inserts rows and returns once they are durable. The same rows under the same token, within the table's last thousand
 * inserts, are one insert, so a batch can be sent again when its outcome is unknown.
 */
export async function insertRows(
  client: ClickHouseClient,
  into: string,
  rows: Buffer,
  token: string,
  format: 'RowBinary' | 'Native' = 'RowBinary',
): Promise<void> {
  await withClickHouseErrors(async () => {
    const { stream } = await client.exec({
      query: `INSERT INTO ${into} FORMAT ${format}`,
      values: Readable.from([rows], { objectMode: false }),
      clickhouse_settings: {
        insert_deduplication_token: token,
        insert_deduplicate: 1,
        async_insert: 0,
        // Rows that stand twice in one insert are folded by merges, as those of several inserts are.
        optimize_on_insert: 0,
      },
    });
    await text(stream);
  });
}
