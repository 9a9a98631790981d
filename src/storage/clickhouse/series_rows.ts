import { uuidOf } from '#kernel/ids.ts';
import type { Delivery } from '#storage/clickhouse/point_blocks.ts';
import { RowBinary, uuidBytes } from '#storage/clickhouse/row_binary.ts';

/** The order in which `encodeSeries` writes them. */
export const SERIES_COLUMNS = 'service_id, metric, series, last_at, tags';

/** Rows, in ClickHouse's RowBinary format, of those series that are told; null when there are none. */
export function encodeSeries(deliveries: readonly Delivery[]): Buffer | null {
  const rows = new RowBinary();
  for (const { serviceId, points } of deliveries) {
    if (points.told.length === 0) continue;
    const service = uuidBytes(uuidOf(serviceId));
    for (const { name, key, labels, newestAt } of points.told) {
      rows.uuid(service);
      rows.text(name);
      rows.uint64(key);
      rows.int64(newestAt);
      rows.varint(labels.length / 2);
      for (const text of labels) rows.text(text);
    }
  }
  return rows.length > 0 ? rows.bytes() : null;
}
