import { type Id, uuidOf } from '#kernel/ids.ts';
import type { ClickHouseClient } from '#storage/clickhouse/clickhouse.ts';
import { deleteRows } from '#storage/clickhouse/delete_rows.ts';
import { insertRows } from '#storage/clickhouse/insert_rows.ts';
import { type Delivery, encodePoints } from '#storage/clickhouse/point_blocks.ts';
import { encodeSeries, SERIES_COLUMNS } from '#storage/clickhouse/series_rows.ts';

/** Brings points into the store, and out of it when their service is over. */
export class MetricWriter {
  readonly #client: ClickHouseClient;

  constructor(client: ClickHouseClient) {
    this.#client = client;
  }

  /**
   * Returns once the points, and the labels that came along, are durable and seen by queries. The same deliveries under
   * the same token count once, however often they are inserted; the token is 1 to 100 characters.
   */
  async insert(deliveries: readonly Delivery[], token: string): Promise<void> {
    const series = encodeSeries(deliveries);
    if (series !== null) await insertRows(this.#client, `metric_series (${SERIES_COLUMNS})`, series, token);
    for (const [stretch, block] of encodePoints(deliveries)) {
      await insertRows(this.#client, 'metric_points', block, `${token}:${stretch}`, 'Native');
    }
  }

  /** All points, series and names of the service, before long: see `deleteRows`. */
  async deleteService(serviceId: Id<'service'>): Promise<void> {
    const service = { service: uuidOf(serviceId) };
    await deleteRows(this.#client, 'metric_points', 'service_id = {service:UUID}', service);
    await deleteRows(this.#client, 'metric_series', 'service_id = {service:UUID}', service);
    await deleteRows(this.#client, 'metric_names', 'service_id = {service:UUID}', service);
  }
}
