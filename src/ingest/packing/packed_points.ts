import type { PointBatch, Series } from '#core/metrics/point.ts';
import { ColumnsMemory, ColumnsWriter, type PointColumns, type ToldSeries } from '#core/metrics/point_columns.ts';
import { TextNumbers } from '#core/metrics/text_numbers.ts';
import { packBytes, unpackBytes } from '#ingest/packing/packed_bytes.ts';
import type { Id } from '#kernel/ids.ts';

/** Points `from` up to `to` of a service's batch. */
export interface PointSlice {
  readonly serviceId: Id<'service'>;
  readonly points: PointBatch;
  readonly from: number;
  readonly to: number;
}

/** The points of one service, as the worker takes them. */
export interface ServicePoints {
  readonly serviceId: Id<'service'>;
  readonly points: PointColumns;
}

/** Whether the labels of a series are to go with its points; `newestAt` as in `ToldSeries`. */
export type NeedsLabels = (serviceId: Id<'service'>, series: Series, newestAt: number) => boolean;

/**
 * What stands before the columns. Services follow each other, each with its points and the series that are told of it.
 * A text that many series carry is written once: of each told series there are the time and name, how many numbers
 * follow, and then those of its label names and values among `texts`. Keys are in decimal.
 */
interface Head {
  readonly services: readonly (readonly [serviceId: Id<'service'>, points: number, told: number])[];
  readonly names: readonly string[];
  readonly texts: readonly string[];
  readonly keys: readonly string[];
  readonly told: readonly number[];
}

/** Points of any services for one job: a JSON head and the columns, which is quick to write, to compress and to read. */
export function packPoints(slices: readonly PointSlice[], needsLabels: NeedsLabels = () => true): Buffer {
  const writer = new ColumnsWriter(slices.reduce((sum, { from, to }) => sum + to - from, 0));
  const services = [...Map.groupBy(slices, ({ serviceId }) => serviceId)].map(([serviceId, own]) => {
    const [points, told] = [writer.length, writer.told.length];
    for (const slice of own) {
      writer.add(slice.points, slice.from, slice.to, (series, at) => needsLabels(serviceId, series, at));
    }
    return [serviceId, writer.length - points, writer.told.length - told] as const;
  });
  const head: Head = { services, names: writer.names, ...writeTold(writer.told) };
  const text = Buffer.from(JSON.stringify(head), 'utf8');
  const lengths = Buffer.alloc(LENGTHS_BYTES);
  lengths.writeUInt32LE(text.length, 0);
  lengths.writeUInt32LE(writer.length, 4);
  return packBytes(Buffer.concat([lengths, text, writer.memory.bytes]));
}

/** The inverse of `packPoints`: one item a service. */
export function unpackPoints(packed: Buffer): ServicePoints[] {
  const bytes = unpackBytes(packed);
  const columnsStart = LENGTHS_BYTES + bytes.readUInt32LE(0);
  const head = JSON.parse(bytes.toString('utf8', LENGTHS_BYTES, columnsStart)) as Head;
  const memory = new ColumnsMemory(bytes.readUInt32LE(4), bytes.subarray(columnsStart));
  const told = readTold(head);
  let row = 0;
  let toldBefore = 0;
  return head.services.map(([serviceId, length, toldCount]) => {
    const points: PointColumns = {
      ...memory.rows(row, row + length),
      length,
      names: head.names,
      told: told.slice(toldBefore, toldBefore + toldCount),
    };
    row += length;
    toldBefore += toldCount;
    return { serviceId, points };
  });
}

const LENGTHS_BYTES = 8;

function writeTold(told: readonly ToldSeries[]): Pick<Head, 'texts' | 'keys' | 'told'> {
  const numbers = new TextNumbers();
  const written: number[] = [];
  for (const { name, labels, newestAt } of told) {
    written.push(newestAt, numbers.of(name), labels.length);
    for (const text of labels) written.push(numbers.of(text));
  }
  return { texts: numbers.all, keys: told.map(({ key }) => key.toString()), told: written };
}

function readTold({ texts, keys, told: numbers }: Head): ToldSeries[] {
  let position = 0;
  const next = (): number => numbers[position++] ?? 0;
  const text = (): string => texts[next()] ?? '';
  return keys.map((key) => {
    const newestAt = next();
    const name = text();
    const labels = Array.from({ length: next() }, text);
    return { name, key: BigInt(key), labels, newestAt };
  });
}
