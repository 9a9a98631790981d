import type { ServicePoints } from '#modules/metrics/decide/announced_table.ts';
import { freeBytes } from '#kernel/free_bytes.ts';
import { type Id, uuidOf } from '#kernel/ids.ts';
import type { ClickHouseClient } from '#storage/clickhouse/clickhouse.ts';
import { deleteRows } from '#storage/clickhouse/expired_rows.ts';
import { ROLLUP_TABLES } from '#storage/clickhouse/layout.ts';
import { insertRows } from '#storage/clickhouse/insert_rows.ts';
import { encodePoints, type PointBlocks } from '#modules/metrics/store/point_blocks.ts';
import { RowBinary, uuidBytes } from '#storage/clickhouse/row_binary.ts';

/** The order in which `encodeSeries` writes them. */
const SERIES_COLUMNS = 'service_id, metric, series, last_at, tags';

/** The announced series as rows in ClickHouse's RowBinary format; null when there are none. */
export function encodeSeries(batches: readonly ServicePoints[]): Buffer | null {
  const rows = new RowBinary();
  for (const { serviceId, points } of batches) {
    const { length, texts, columns } = points.announced;
    if (length === 0) continue;
    const service = uuidBytes(uuidOf(serviceId));
    let label = 0;
    for (let i = 0; i < length; i += 1) {
      const count = columns.labelCounts[i] ?? 0;
      rows.uuid(service);
      rows.text(texts[columns.names[i] ?? 0] ?? '');
      rows.uint64(columns.keys[i] ?? 0n);
      rows.int64(columns.newest[i] ?? 0);
      rows.varint(count / 2);
      for (const end = label + count; label < end; label += 1) rows.text(texts[columns.labels[label] ?? 0] ?? '');
    }
  }
  return rows.length > 0 ? rows.bytes() : null;
}

/** Brings points into the store, and out of it when their service is over. */
export class MetricWriter {
  readonly #client: ClickHouseClient;

  constructor(client: ClickHouseClient) {
    this.#client = client;
  }

  /**
   * Returns once the points, and the labels that came along, are durable and seen by queries. The same batches under
   * the same token count once, however often they are inserted; the token is 1 to 100 characters.
   */
  insert(batches: readonly ServicePoints[], token: string): Promise<void> {
    // All is encoded before anything is waited for, so that nobody holds the batches while the store works.
    return this.#insertEncoded(encodeSeries(batches), encodePoints(batches), token);
  }

  async #insertEncoded(series: Buffer | null, blocks: PointBlocks, token: string): Promise<void> {
    // Rules look at points and at labels, and must see all that was acknowledged.
    const acknowledged = 'in_sequence';
    if (series !== null) {
      await insertRows(this.#client, `metric_series (${SERIES_COLUMNS})`, series, { token, acknowledged });
      freeBytes(series);
    }
    for (const [period, block] of blocks) {
      const options = { token: `${token}:${period}`, format: 'Native', acknowledged } as const;
      await insertRows(this.#client, 'metric_points', block, options);
      block.forEach(freeBytes);
    }
  }

  /** All points, series, names, exemplars and rollups of the service, before long: see `deleteRows`. */
  async deleteService(serviceId: Id<'service'>): Promise<void> {
    const service = { service: uuidOf(serviceId) };
    await deleteRows(this.#client, 'metric_points', 'service_id = {service:UUID}', service);
    await deleteRows(this.#client, 'metric_series', 'service_id = {service:UUID}', service);
    await deleteRows(this.#client, 'metric_names', 'service_id = {service:UUID}', service);
    await deleteRows(this.#client, 'metric_exemplars', 'service_id = {service:UUID}', service);
    for (const table of ROLLUP_TABLES) await deleteRows(this.#client, table, 'service_id = {service:UUID}', service);
  }
}
