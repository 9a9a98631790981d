import type { ServicePoints } from '#core/metrics/point_columns.ts';
import { uuidOf } from '#kernel/ids.ts';
import { RowBinary, uuidBytes } from '#storage/clickhouse/row_binary.ts';

/** The order in which `encodeSeries` writes them. */
export const SERIES_COLUMNS = 'service_id, metric, series, last_at, tags';

/** The announced series as rows in ClickHouse's RowBinary format; null when there are none. */
export function encodeSeries(batches: readonly ServicePoints[]): Buffer | null {
  const rows = new RowBinary();
  for (const { serviceId, points } of batches) {
    if (points.announced.length === 0) continue;
    const service = uuidBytes(uuidOf(serviceId));
    for (const { name, key, labels, newestAt } of points.announced) {
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
