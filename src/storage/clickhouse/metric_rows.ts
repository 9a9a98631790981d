import type { PointBatch, Series } from '#core/metrics/point.ts';
import { type Id, uuidOf } from '#kernel/ids.ts';

/** The points that one request brought for a service. */
export interface Delivery {
  readonly serviceId: Id<'service'>;
  readonly points: PointBatch;
}

/** The order in which `encodePoints` writes them. */
export const POINT_COLUMNS = 'service_id, metric, series, tags, ts, value, kind';

/** One insert may touch a hundred days' partitions; points from older days go in inserts of their own. */
const STRETCH_MS = 90 * 86_400_000;

/** time, value and kind. */
const POINT_BYTES = 17;
const TWO_TO_32 = 2 ** 32;

/** Rows in ClickHouse's RowBinary format, apart by stretches of 90 days; nearly always there is just one. */
export function encodePoints(deliveries: readonly Delivery[]): ReadonlyMap<number, Buffer> {
  const heads = deliveries.map(({ serviceId, points }) => points.series.map((series) => headOf(serviceId, series)));
  const bytes = new Map<number, number>();
  eachPoint(deliveries, heads, (head, stretch) => {
    bytes.set(stretch, (bytes.get(stretch) ?? 0) + head.length + POINT_BYTES);
  });
  const writers = new Map([...bytes].map(([stretch, size]) => [stretch, { rows: Buffer.allocUnsafe(size), end: 0 }]));
  eachPoint(deliveries, heads, (head, stretch, points, index) => {
    const writer = writers.get(stretch);
    if (writer === undefined) throw new Error('a stretch was not measured');
    writer.end = writePoint(writer.rows, writer.end, head, points, index);
  });
  return new Map([...writers].map(([stretch, { rows }]) => [stretch, rows]));
}

function eachPoint(
  deliveries: readonly Delivery[],
  heads: readonly (readonly Buffer[])[],
  visit: (head: Buffer, stretch: number, points: PointBatch, index: number) => void,
): void {
  for (const [place, { points }] of deliveries.entries()) {
    for (let index = 0; index < points.length; index += 1) {
      const head = heads[place]?.[points.seriesIndex[index] ?? -1];
      if (head === undefined) throw new RangeError(`point ${index} is of no series`);
      visit(head, Math.floor((points.at[index] ?? 0) / STRETCH_MS), points, index);
    }
  }
}

function writePoint(rows: Buffer, start: number, head: Buffer, points: PointBatch, index: number): number {
  const at = points.at[index] ?? 0;
  rows.set(head, start);
  let end = start + head.length;
  end = rows.writeUInt32LE(((at % TWO_TO_32) + TWO_TO_32) % TWO_TO_32, end);
  end = rows.writeInt32LE(Math.floor(at / TWO_TO_32), end);
  end = rows.writeDoubleLE(points.value[index] ?? 0, end);
  return rows.writeUInt8(points.kind[index] ?? 0, end);
}

/** What all rows of a series have in common. */
function headOf(serviceId: Id<'service'>, series: Series): Buffer {
  const key = Buffer.alloc(8);
  key.writeBigUInt64LE(BigInt(series.key));
  const labels = series.labels.map(textBytes);
  return Buffer.concat([
    uuidBytes(uuidOf(serviceId)),
    textBytes(series.name),
    key,
    varint(series.labels.length / 2),
    ...labels,
  ]);
}

/** Two halves of eight bytes, each with its least byte first. */
function uuidBytes(uuid: string): Buffer {
  const bytes = Buffer.from(uuid.replaceAll('-', ''), 'hex');
  return Buffer.concat([bytes.subarray(0, 8).reverse(), bytes.subarray(8).reverse()]);
}

function textBytes(text: string): Buffer {
  const bytes = Buffer.from(text, 'utf8');
  return Buffer.concat([varint(bytes.length), bytes]);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  while (rest >= 0x80) {
    bytes.push((rest & 0x7f) | 0x80);
    rest >>>= 7;
  }
  return Buffer.from([...bytes, rest]);
}
