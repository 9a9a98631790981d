import type { ServicePoints } from '#modules/metrics/decide/point_columns.ts';
import { freeBytes } from '#kernel/free_bytes.ts';
import { type Id, uuidOf } from '#kernel/ids.ts';
import type { ClickHouseClient } from '#storage/clickhouse/clickhouse.ts';
import { deleteRows } from '#storage/clickhouse/delete_rows.ts';
import { ROLLUP_TABLES } from '#storage/clickhouse/layout.ts';
import { insertRows } from '#storage/clickhouse/insert_rows.ts';
import { encodePoints, type PointBlocks } from '#modules/metrics/store/point_blocks.ts';
import { encodeSeries, SERIES_COLUMNS } from '#modules/metrics/store/series_rows.ts';

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
