import type { PointBatch } from '#core/metrics/point.ts';
import { type Id, uuidOf } from '#kernel/ids.ts';
import { bytesOf, lowCardinality, nativeBlock } from '#storage/clickhouse/native_block.ts';
import { uuidBytes } from '#storage/clickhouse/row_binary.ts';

/** The points that one request brought for a service. */
export interface Delivery {
  readonly serviceId: Id<'service'>;
  readonly points: PointBatch;
}

/** One insert may touch a hundred days' partitions; points from older days go in inserts of their own. */
const STRETCH_MS = 90 * 86_400_000;

/** Blocks in ClickHouse's Native format, apart by stretches of 90 days; nearly always there is just one. */
export function encodePoints(deliveries: readonly Delivery[]): ReadonlyMap<number, Buffer> {
  return new Map(
    [...rowsByStretch(deliveries)].map(([stretch, rows]) => [stretch, encodeStretch(deliveries, stretch, rows)]),
  );
}

function rowsByStretch(deliveries: readonly Delivery[]): ReadonlyMap<number, number> {
  const rows = new Map<number, number>();
  for (const { points } of deliveries) {
    let stretch = Number.NaN;
    let run = 0;
    for (let index = 0; index < points.length; index += 1) {
      const next = stretchOf(points, index);
      if (next !== stretch && run > 0) rows.set(stretch, (rows.get(stretch) ?? 0) + run);
      if (next !== stretch) [stretch, run] = [next, 0];
      run += 1;
    }
    if (run > 0) rows.set(stretch, (rows.get(stretch) ?? 0) + run);
  }
  return rows;
}

function stretchOf(points: PointBatch, index: number): number {
  return Math.floor((points.at[index] ?? 0) / STRETCH_MS);
}

function encodeStretch(deliveries: readonly Delivery[], stretch: number, rows: number): Buffer {
  const services = Buffer.allocUnsafe(rows * UUID_BYTES);
  const metrics = new Uint32Array(rows);
  const series = new BigUint64Array(rows);
  const times = new Times(rows);
  const values = new Float64Array(rows);
  const kinds = new Uint8Array(rows);
  const names = new Map<string, number>();
  let row = 0;
  for (const { serviceId, points } of deliveries) {
    const first = row;
    const nameOfSeries = points.series.map(({ name }) => numberOf(names, name));
    for (let index = 0; index < points.length; index += 1) {
      if (stretchOf(points, index) !== stretch) continue;
      const place = points.seriesIndex[index] ?? 0;
      metrics[row] = nameOfSeries[place] ?? 0;
      series[row] = points.series[place]?.key ?? 0n;
      times.set(row, points.at[index] ?? 0);
      values[row] = points.value[index] ?? 0;
      kinds[row] = points.kind[index] ?? 0;
      row += 1;
    }
    services.fill(uuidBytes(uuidOf(serviceId)), first * UUID_BYTES, row * UUID_BYTES);
  }
  return nativeBlock(rows, [
    { name: 'service_id', type: 'UUID', parts: [services] },
    { name: 'metric', type: 'LowCardinality(String)', parts: lowCardinality([...names.keys()], metrics) },
    { name: 'series', type: 'UInt64', parts: [bytesOf(series)] },
    { name: 'ts', type: "DateTime64(3, 'UTC')", parts: [times.bytes] },
    { name: 'value', type: 'Float64', parts: [bytesOf(values)] },
    { name: 'kind', type: KIND_TYPE, parts: [kinds] },
  ]);
}

const UUID_BYTES = 16;
const KIND_TYPE = "Enum8('gauge' = 0, 'counter' = 1, 'delta' = 2, 'stale' = 3)";

function numberOf(names: Map<string, number>, name: string): number {
  const known = names.get(name);
  if (known !== undefined) return known;
  const number = names.size;
  names.set(name, number);
  return number;
}

const TWO_TO_32 = 2 ** 32;

/** Whole milliseconds as numbers of 64 bits, without a bigint for each. */
class Times {
  readonly bytes: Uint8Array;
  readonly #halves: Int32Array;

  constructor(length: number) {
    this.#halves = new Int32Array(length * 2);
    this.bytes = bytesOf(this.#halves);
  }

  set(index: number, at: number): void {
    const high = Math.floor(at / TWO_TO_32);
    this.#halves[index * 2] = at - high * TWO_TO_32;
    this.#halves[index * 2 + 1] = high;
  }
}
