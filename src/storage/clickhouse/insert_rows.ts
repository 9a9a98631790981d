import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';

import type { ClickHouseSettings } from '@clickhouse/client';

import { retry } from '#kernel/promises.ts';
import type { ClickHouseClient } from '#storage/clickhouse/clickhouse.ts';
import { faultTypeOf, withClickHouseErrors } from '#storage/clickhouse/faults.ts';

/**
 * Settings that acknowledge an insert into a replicated table when the majority of the replicas of each shard has the rows, so
 * that none is lost with one machine. `in_sequence` lets one insert follow another, which alone allows a read that sees
 * all that was acknowledged (see `SEES_ALL_ACKNOWLEDGED`).
 * https://clickhouse.com/docs/operations/settings/settings#insert_quorum and #insert_quorum_parallel.
 */
const QUORUM: Readonly<Record<Acknowledged, ClickHouseSettings>> = {
  at_once: { insert_quorum: 'auto', insert_quorum_parallel: 1, insert_quorum_timeout: 30_000 },
  in_sequence: { insert_quorum: 'auto', insert_quorum_parallel: 0, insert_quorum_timeout: 30_000 },
};

type Acknowledged = 'at_once' | 'in_sequence';

/**
 * Settings of reads that decide whether somebody is paged: a replica that lacks something acknowledged refuses them.
 * One server, which has everything, ignores the setting; ClickHouse Cloud brings the replica up to date first. Charts
 * wait for these reads. https://clickhouse.com/docs/operations/settings/settings#select_sequential_consistency
 */
export const SEES_ALL_ACKNOWLEDGED: ClickHouseSettings = { select_sequential_consistency: '1', priority: '1' };

/**
 * Settings of reads that people look at, such as charts and searches: they come after those that page people, and the
 * embedded server answers a few at a time.
 */
export const LOOKED_AT: ClickHouseSettings = { priority: '10' };

/** While one insert waits for its replicas, others into the table are refused: they come again soon. */
const TURN = { pauseMs: 20, pauseMsMax: 320, timeoutMs: 15_000 };

interface InsertOptions {
  /** The same rows under the same token are one insert, so a batch can be sent again when its outcome is unknown. */
  readonly token: string;
  readonly format?: 'RowBinary' | 'Native';
  readonly acknowledged: Acknowledged;
}

/**
 * Inserts rows and returns once they are durable: on disk, and on a cluster on the majority of the replicas of each shard.
 * `rows` may be in parts, which are sent one after the other and must not change until this returns.
 * Tokens are remembered for the table's last ten thousand inserts, on a cluster for hours.
 */
export async function insertRows(
  client: ClickHouseClient,
  into: string,
  rows: Buffer | readonly Uint8Array[],
  { token, format = 'RowBinary', acknowledged }: InsertOptions,
): Promise<void> {
  const insert = async (): Promise<void> => {
    const { stream } = await client.exec({
      query: `INSERT INTO ${into} FORMAT ${format}`,
      values: Readable.from(Buffer.isBuffer(rows) ? [rows] : rows, { objectMode: false }),
      clickhouse_settings: {
        insert_deduplication_token: token,
        insert_deduplicate: 1,
        // A batch that was stored while its views were not is not skipped for these when it is sent again.
        deduplicate_blocks_in_dependent_materialized_views: 1,
        async_insert: 0,
        // Rows that stand twice in one insert are folded by merges, as those of several inserts are.
        optimize_on_insert: 0,
        ...(client.layout.cluster !== null && QUORUM[acknowledged]),
      },
    });
    await text(stream);
  };
  const isAnothersTurn = (error: unknown): boolean => faultTypeOf(error) === 'UNSATISFIED_QUORUM_FOR_PREVIOUS_WRITE';
  await withClickHouseErrors(() => retry(insert, { ...TURN, mayRetry: isAnothersTurn }));
}

/**
 * The token by which ClickHouse recognizes a batch that is inserted again. It is made from the content: the id of the
 * job would not do, because the queue counts from 1 again when its store is lost, and ClickHouse silently drops a batch
 * with an old token.
 */
export function deduplicationToken(...parts: readonly (string | Uint8Array)[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(`${part.length}:`).update(part);
  return hash.digest('hex');
}
