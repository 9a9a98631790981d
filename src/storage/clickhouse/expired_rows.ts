import type { ClickHouseSettings } from '@clickhouse/client';

import { type Id, uuidOf } from '#kernel/ids.ts';
import { Temporal } from '#kernel/time.ts';
import type { ClickHouseClient } from '#storage/clickhouse/clickhouse.ts';
import { type DataTable, ROLLUP_TABLES, type RollupTable } from '#storage/clickhouse/layout.ts';
import { withClickHouseErrors } from '#storage/clickhouse/faults.ts';
import { readRows } from '#storage/clickhouse/read_rows.ts';

/**
 * Settings of deletions: the answer comes when the order is durable, and ClickHouse carries it out later. On a cluster
 * the order lies in Keeper, and a server that is away finds it there when it comes back:
 * https://clickhouse.com/docs/sql-reference/distributed-ddl and, for the mode,
 * https://clickhouse.com/docs/operations/settings/settings#distributed_ddl_output_mode.
 */
const ORDER_DURABLY: ClickHouseSettings = {
  lightweight_deletes_sync: '0',
  mutations_sync: '0',
  distributed_ddl_task_timeout: '10',
  distributed_ddl_output_mode: 'null_status_on_timeout',
};

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
    if ((await readRows(client, `SELECT 1 FROM ${table} WHERE ${condition} LIMIT 1`, parameters)).length === 0) return;
    await client.command({
      query: `DELETE FROM ${client.layout.stored(table)}${client.layout.onCluster} WHERE ${condition}`,
      query_params: parameters,
      clickhouse_settings: ORDER_DURABLY,
    });
  });
}

/** Name of the lease under which expired rows are removed: who holds it keeps them. */
export const REMOVING_EXPIRED = 'enforce_retention';

/** Services with the same retention. */
export interface RetentionTier {
  readonly days: number;
  readonly serviceIds: readonly Id<'service'>[];
}

/** A table with retention: the column with the time of a row, and how many days a partition holds. */
interface AgingTable {
  readonly name: 'metric_points' | 'metric_exemplars' | 'exception_events' | RollupTable;
  readonly time: 'ts' | 'at' | 'start';
  readonly partitionDays: number;
}

export const METRIC_POINTS: AgingTable = { name: 'metric_points', time: 'ts', partitionDays: 1 };
export const METRIC_EXEMPLARS: AgingTable = { name: 'metric_exemplars', time: 'at', partitionDays: 7 };
export const EXCEPTION_EVENTS: AgingTable = { name: 'exception_events', time: 'at', partitionDays: 7 };
/** Rollup tables; the table that says which rollups are valid comes first. */
const ROLLUPS: readonly AgingTable[] = ROLLUP_TABLES.map((name) => ({ name, time: 'start', partitionDays: 7 }));

/** The cutoff is rounded down to this, so that there are few deletions. */
const STRETCH_MS = 30 * 60_000;
/** Number of partitions above which one DELETE for the whole table costs less than one for each. */
const SINGLE_PARTITIONS_MAX = 8;
/** Rewriting a partition is the most expensive step; further partitions wait for the next run. */
const REWRITTEN_AT_ONCE_MAX = 4;

/**
 * Removes rows that are older than the retention of their service. Partitions that are too old for every service are dropped;
 * other rows are removed by lightweight deletes, which hide them at once and which ClickHouse completes even if this process
 * ends. Queries filter out such rows before that. When nothing is due it costs a few small queries; while earlier deletes are
 * running it does nothing.
 */
export class ExpiredRows {
  readonly #client: ClickHouseClient;

  constructor(client: ClickHouseClient) {
    this.#client = client;
  }

  async remove(table: AgingTable, tiers: readonly RetentionTier[], now: Temporal.Instant): Promise<void> {
    if (tiers.length === 0 || (await this.#isDeleting(table))) return;
    await this.#dropPartitions(table, cutoffOf(Math.max(...tiers.map(({ days }) => days)), now));
    for (const tier of tiers) await this.#deleteOlder(table, tier, cutoffOf(tier.days, now));
    await this.#freePartitions(
      table,
      tiers.map(({ days }) => cutoffOf(days, now)),
    );
  }

  /** A further table is begun when nothing of those before it is left: an hour without its rollup is read from points. */
  async removeRollups(tiers: readonly RetentionTier[], now: Temporal.Instant): Promise<void> {
    for (const table of ROLLUPS) {
      await this.remove(table, tiers, now);
      if (await this.#isDeleting(table)) return;
    }
  }

  /** Removes names and series that have no points left. */
  async removeNames(tiers: readonly RetentionTier[], now: Temporal.Instant): Promise<void> {
    for (const { days, serviceIds } of tiers) {
      const cutoff = cutoffOf(days, now);
      const before = (time: Temporal.Instant) => ({ services: serviceIds.map(uuidOf), before: time.epochMilliseconds });
      await deleteRows(this.#client, 'metric_names', SEEN_BEFORE, before(cutoff));
      await deleteRows(this.#client, 'metric_series', SEEN_BEFORE, before(cutoff.subtract(SERIES_MARGIN)));
    }
  }

  /** Removes what is known of groups whose events are gone. */
  async removeOrigins(tiers: readonly RetentionTier[], now: Temporal.Instant): Promise<void> {
    for (const { days, serviceIds } of tiers) {
      const parameters = { services: serviceIds.map(uuidOf), before: cutoffOf(days, now).epochMilliseconds };
      await deleteRows(this.#client, 'exception_origins', SEEN_BEFORE, parameters);
    }
  }

  async #isDeleting(table: AgingTable): Promise<boolean> {
    const pending = await readRows<[string]>(
      this.#client,
      `SELECT mutation_id FROM ${this.#client.layout.system('mutations')}
       WHERE database = {database:String} AND table = {table:String} AND NOT is_done LIMIT 1
       SETTINGS skip_unavailable_shards = 1`,
      this.#storedIn(table),
    );
    return pending.length > 0;
  }

  async #dropPartitions(table: AgingTable, cutoff: Temporal.Instant): Promise<void> {
    const isOver = (partition: string): boolean => endOf(table, partition) <= cutoff.epochMilliseconds;
    for (const partition of (await this.#partitions(table)).filter(isOver)) {
      await this.#command(`ALTER TABLE ${this.#stored(table)} DROP PARTITION ID '${partition}'`);
    }
  }

  async #deleteOlder(table: AgingTable, { serviceIds }: RetentionTier, cutoff: Temporal.Instant): Promise<void> {
    const scope = { services: serviceIds.map(uuidOf), before: cutoff.epochMilliseconds };
    const condition = `${OF_SERVICES} AND ${table.time} < ${BEFORE}`;
    const outdated = await readRows<[string]>(
      this.#client,
      `SELECT DISTINCT _partition_id FROM ${table.name} WHERE ${condition}`,
      scope,
    );
    const partitions = outdated.map(([partition]) => partition).filter(isPartition);
    const places =
      partitions.length > SINGLE_PARTITIONS_MAX
        ? ['']
        : partitions.map((partition) => `IN PARTITION ID '${partition}'`);
    for (const place of places) {
      await this.#command(`DELETE FROM ${this.#stored(table)} ${place} WHERE ${condition}`, scope);
    }
  }

  /** Deleted rows stay on disk until a merge, and old partitions may never be merged: this rewrites them without those rows. */
  async #freePartitions(table: AgingTable, cutoffs: readonly Temporal.Instant[]): Promise<void> {
    const isBeingOutdated = (partition: string): boolean =>
      cutoffs.some(({ epochMilliseconds }) => {
        const end = endOf(table, partition);
        return epochMilliseconds < end && epochMilliseconds >= end - table.partitionDays * DAY_MS;
      });
    const holey = (await this.#partitions(table, 'has_lightweight_delete')).filter(
      (partition) => !isBeingOutdated(partition),
    );
    for (const partition of holey.slice(0, REWRITTEN_AT_ONCE_MAX)) {
      await this.#command(`ALTER TABLE ${this.#stored(table)} APPLY DELETED MASK IN PARTITION ID '${partition}'`);
    }
  }

  /** Oldest first. */
  async #partitions(table: AgingTable, condition = '1'): Promise<string[]> {
    const affected = await readRows<[string]>(
      this.#client,
      `SELECT DISTINCT partition_id FROM ${this.#client.layout.system('parts')}
       WHERE database = {database:String} AND table = {table:String} AND active AND ${condition} ORDER BY partition_id
       SETTINGS skip_unavailable_shards = 1`,
      this.#storedIn(table),
    );
    return affected.map(([partition]) => partition).filter(isPartition);
  }

  /** The table that holds the rows, as statements name it that are for every server. */
  #stored({ name }: AgingTable): string {
    const { layout } = this.#client;
    return `${layout.stored(name)}${layout.onCluster}`;
  }

  #storedIn({ name }: AgingTable): Record<string, unknown> {
    return { database: this.#client.database, table: this.#client.layout.stored(name) };
  }

  async #command(query: string, parameters: Record<string, unknown> = {}): Promise<void> {
    await withClickHouseErrors(async () => {
      await this.#client.command({
        query,
        query_params: parameters,
        use_multipart_params_auto: true,
        clickhouse_settings: ORDER_DURABLY,
      });
    });
  }
}

const OF_SERVICES = 'service_id IN {services:Array(UUID)}';
const BEFORE = "fromUnixTimestamp64Milli({before:Int64}, 'UTC')";
const SEEN_BEFORE = `${OF_SERVICES} AND last_at < ${BEFORE}`;
const DAY_MS = 86_400_000;
/** `last_at` of a series may be older than its newest point, but by less than this. */
const SERIES_MARGIN = { hours: 1 };

function cutoffOf(days: number, now: Temporal.Instant): Temporal.Instant {
  const dueMs = now.epochMilliseconds - days * DAY_MS;
  return Temporal.Instant.fromEpochMilliseconds(dueMs - (dueMs % STRETCH_MS));
}

/** The id of a partition is its first day. */
function isPartition(id: string): boolean {
  return /^\d{8}$/.test(id);
}

function endOf({ partitionDays }: AgingTable, partition: string): number {
  return Temporal.PlainDate.from(partition).toZonedDateTime('UTC').epochMilliseconds + partitionDays * DAY_MS;
}
