import type { ServicePoints } from '#modules/metrics/decide/point_columns.ts';
import { uuidOf } from '#kernel/ids.ts';
import { RowBinary, uuidBytes } from '#storage/clickhouse/row_binary.ts';

/** The order in which `encodeSeries` writes them. */
export const SERIES_COLUMNS = 'service_id, metric, series, last_at, tags';

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
