import { type PointBatch, POINT_KINDS } from '#core/metrics/point.ts';
import { uuidOf } from '#kernel/ids.ts';
import type { Delivery } from '#storage/clickhouse/point_blocks.ts';
import { RowBinary, uuidBytes } from '#storage/clickhouse/row_binary.ts';

/** The order in which `encodeSeries` writes them. */
export const SERIES_COLUMNS = 'service_id, metric, series, last_at, tags';

/** Rows, in ClickHouse's RowBinary format, of those series whose labels came along; null when there are none. */
export function encodeSeries(deliveries: readonly Delivery[]): Buffer | null {
  const rows = new RowBinary();
  for (const { serviceId, points } of deliveries) {
    const service = uuidBytes(uuidOf(serviceId));
    const newest = newestOf(points);
    for (const [index, { name, key, labels }] of points.series.entries()) {
      if (labels === null) continue;
      rows.uuid(service);
      rows.text(name);
      rows.uint64(key);
      rows.int64(newest[index] ?? 0);
      rows.varint(labels.length / 2);
      for (const text of labels) rows.text(text);
    }
  }
  return rows.length > 0 ? rows.bytes() : null;
}

const STALE = POINT_KINDS.indexOf('stale');

/** When each series' newest point was taken; 0 where it has none but marks of its end. */
function newestOf(points: PointBatch): Float64Array {
  const newest = new Float64Array(points.series.length);
  for (let index = 0; index < points.length; index += 1) {
    const place = points.seriesIndex[index] ?? 0;
    const at = points.at[index] ?? 0;
    if (points.kind[index] !== STALE && at > (newest[place] ?? 0)) newest[place] = at;
  }
  return newest;
}
