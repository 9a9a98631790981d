import { POINT_KINDS, type PointKind } from '#modules/metrics/decide/point.ts';
import type { PointColumns } from '#modules/metrics/decide/announced_table.ts';
import type { PointBatch } from '#ingest/admission/point_batch.ts';
import { ColumnWriter } from '#ingest/packing/column_writer.ts';

/** One point by itself. `at` is in epoch milliseconds. */
export interface MetricPoint {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly at: number;
  readonly value: number;
  readonly kind: PointKind;
}

export function pointAt(batch: PointBatch, index: number): MetricPoint {
  const series = batch.series[batch.seriesIndex[index]!]!;
  const labels: Record<string, string> = Object.create(null);
  for (let i = 0; i < series.labels.length; i += 2) labels[series.labels[i]!] = series.labels[i + 1]!;
  return {
    name: series.name,
    labels,
    at: batch.at[index]!,
    value: batch.value[index]!,
    kind: POINT_KINDS[batch.kind[index]!]!,
  };
}

export { seriesKey } from '#modules/metrics/decide/series_key.ts';

/** All points of the batch, with the labels of all series. */
export function columnsOf(points: PointBatch): PointColumns {
  const writer = new ColumnWriter(points.length);
  writer.add(points, 0, points.length, () => true);
  const { memory, names, announced } = writer;
  return { ...memory.rows(0, points.length), length: points.length, names, announced: announced.table() };
}
