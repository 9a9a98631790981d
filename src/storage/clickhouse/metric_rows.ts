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

/** Rows in ClickHouse's RowBinary format, apart by stretches of 90 days; nearly always there is just one. */
export function encodePoints(deliveries: readonly Delivery[]): ReadonlyMap<number, Buffer> {
  return new Map([...stretchesOf(deliveries)].map((stretch) => [stretch, encodeStretch(deliveries, stretch)]));
}

function stretchesOf(deliveries: readonly Delivery[]): ReadonlySet<number> {
  const stretches = new Set<number>();
  for (const { points } of deliveries) {
    for (let index = 0; index < points.length; index += 1) stretches.add(stretchOf(points, index));
  }
  return stretches;
}

function encodeStretch(deliveries: readonly Delivery[], stretch: number): Buffer {
  const rows = new RowWriter();
  for (const { serviceId, points } of deliveries) {
    const service = uuidBytes(uuidOf(serviceId));
    const heads = new Map<number, Head>();
    for (let index = 0; index < points.length; index += 1) {
      if (stretchOf(points, index) !== stretch) continue;
      const place = points.seriesIndex[index] ?? -1;
      const head = heads.get(place);
      if (head === undefined) heads.set(place, rows.writeHead(service, seriesAt(points, place)));
      else rows.repeatHead(head);
      rows.writePoint(points.at[index] ?? 0, points.value[index] ?? 0, points.kind[index] ?? 0);
    }
  }
  return rows.bytes();
}

function stretchOf(points: PointBatch, index: number): number {
  return Math.floor((points.at[index] ?? 0) / STRETCH_MS);
}

function seriesAt({ series }: PointBatch, place: number): Series {
  const found = series[place];
  if (found === undefined) throw new RangeError('a point is of no series');
  return found;
}

/** Where the columns stand that all rows of a series have in common. */
interface Head {
  readonly start: number;
  readonly end: number;
}

const FIRST_CAPACITY = 64 * 1024;
const KEY_BYTES = 8;
/** time, value and kind. */
const POINT_BYTES = 17;
const VARINT_BYTES_MAX = 5;
/** Of a UTF-16 unit in UTF-8. */
const UNIT_BYTES_MAX = 3;
const TWO_TO_32 = 2 ** 32;

/** Writes rows one behind the other into one buffer that grows. */
class RowWriter {
  #bytes = Buffer.allocUnsafe(FIRST_CAPACITY);
  #end = 0;

  bytes(): Buffer {
    return this.#bytes.subarray(0, this.#end);
  }

  writeHead(service: Buffer, { name, key, labels }: Series): Head {
    const start = this.#end;
    this.#reserve(service.length + KEY_BYTES + VARINT_BYTES_MAX);
    this.#bytes.set(service, start);
    this.#end += service.length;
    this.#writeText(name);
    this.#reserve(KEY_BYTES + VARINT_BYTES_MAX);
    this.#end = this.#bytes.writeBigUInt64LE(BigInt(key), this.#end);
    this.#writeVarint(labels.length / 2);
    for (const text of labels) this.#writeText(text);
    return { start, end: this.#end };
  }

  repeatHead({ start, end }: Head): void {
    this.#reserve(end - start);
    this.#bytes.copyWithin(this.#end, start, end);
    this.#end += end - start;
  }

  writePoint(at: number, value: number, kind: number): void {
    this.#reserve(POINT_BYTES);
    const bytes = this.#bytes;
    const low = bytes.writeUInt32LE(((at % TWO_TO_32) + TWO_TO_32) % TWO_TO_32, this.#end);
    const high = bytes.writeInt32LE(Math.floor(at / TWO_TO_32), low);
    this.#end = bytes.writeUInt8(kind, bytes.writeDoubleLE(value, high));
  }

  #writeText(text: string): void {
    this.#reserve(VARINT_BYTES_MAX + text.length * UNIT_BYTES_MAX);
    if (text.length * UNIT_BYTES_MAX < 0x80) {
      const length = this.#bytes.write(text, this.#end + 1);
      this.#bytes[this.#end] = length;
      this.#end += 1 + length;
      return;
    }
    this.#writeVarint(Buffer.byteLength(text));
    this.#end += this.#bytes.write(text, this.#end);
  }

  #writeVarint(value: number): void {
    let rest = value;
    while (rest >= 0x80) {
      this.#end = this.#bytes.writeUInt8((rest & 0x7f) | 0x80, this.#end);
      rest >>>= 7;
    }
    this.#end = this.#bytes.writeUInt8(rest, this.#end);
  }

  #reserve(bytes: number): void {
    const needed = this.#end + bytes;
    if (needed <= this.#bytes.length) return;
    const wider = Buffer.allocUnsafe(Math.max(needed, this.#bytes.length * 2));
    this.#bytes.copy(wider, 0, 0, this.#end);
    this.#bytes = wider;
  }
}

/** Two halves of eight bytes, each with its least byte first. */
function uuidBytes(uuid: string): Buffer {
  const bytes = Buffer.from(uuid.replaceAll('-', ''), 'hex');
  return Buffer.concat([bytes.subarray(0, 8).reverse(), bytes.subarray(8).reverse()]);
}
