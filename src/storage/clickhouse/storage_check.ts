import type { ClickHouseClient } from '#storage/clickhouse/clickhouse.ts';
import { findClusterFault, findReplicaFault } from '#storage/clickhouse/cluster_check.ts';
import { faultTypeOf } from '#storage/clickhouse/faults.ts';

/** Free disk space below which ClickHouse refuses inserts, or soon will. */
const FREE_BYTES_MIN = 32 * 1024 * 1024;

/**
 * Returns the reason, in words, why data cannot be stored or read now; null when nothing prevents it. Throws when
 * nobody answers.
 */
export async function findStorageFault(client: ClickHouseClient): Promise<string | null> {
  const full = await ifAllowed(() => findFullDisk(client));
  if (full !== null) return `the disk "${full}" of ClickHouse is full: make room there`;
  const fault = await ifAllowed(() => findClusterFault(client, { everyServer: false }));
  return fault?.sentence ?? (await ifAllowed(() => findReplicaFault(client)));
}

/** A user who may not look at system tables, as a careful operator's, can store and read all the same. */
async function ifAllowed<Found>(find: () => Promise<Found | null>): Promise<Found | null> {
  try {
    return await find();
  } catch (error) {
    if (faultTypeOf(error) === 'ACCESS_DENIED') return null;
    throw error;
  }
}

async function findFullDisk(client: ClickHouseClient): Promise<string | null> {
  const disks = await client.query({
    query: `SELECT name FROM system.disks WHERE unreserved_space < ${FREE_BYTES_MIN} AND total_space > 0 AND NOT is_read_only LIMIT 1`,
    format: 'JSONCompactEachRow',
  });
  const [disk] = await disks.json<[name: string]>();
  return disk?.[0] ?? null;
}
