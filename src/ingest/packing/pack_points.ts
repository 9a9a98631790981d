import type { Series } from '#core/metrics/point.ts';
import type { AnnouncedSeries, PointColumns, ServicePoints } from '#core/metrics/point_columns.ts';
import type { PointBatch } from '#ingest/admission/point_batch.ts';
import { ColumnMemory, ColumnWriter } from '#ingest/packing/column_writer.ts';
import { packBytes, unpackBytes } from '#ingest/packing/pack_bytes.ts';
import type { Id } from '#kernel/ids.ts';
import { StringInterner } from '#kernel/string_interner.ts';

/** The points of a service's batch from `from` up to, but not including, `to`. */
export interface PointSlice {
  readonly serviceId: Id<'service'>;
  readonly points: PointBatch;
  readonly from: number;
  readonly to: number;
}

/** Whether to send the labels of a series along; `newestAt` as in `AnnouncedSeries`. */
export type ServiceNeedsLabels = (serviceId: Id<'service'>, series: Series, newestAt: number) => boolean;

/**
 * The JSON in front of the columns. Services follow each other, each with its number of points and of announced series.
 * `told` lists the announced series, with each text as its position in `texts`: the newest time, the name, the number of
 * label texts, and the label names and values in turn. `keys` are their keys in decimal. Stored jobs have this form, so
 * its names never change.
 */
interface Head {
  readonly services: readonly (readonly [serviceId: Id<'service'>, points: number, told: number])[];
  readonly names: readonly string[];
  readonly texts: readonly string[];
  readonly keys: readonly string[];
  readonly told: readonly number[];
}

/** Points of several services for one job: a JSON head and the columns, which is fast to write, compress and read. */
export function packPoints(slices: readonly PointSlice[], needsLabels: ServiceNeedsLabels = () => true): Buffer {
  const writer = new ColumnWriter(slices.reduce((sum, { from, to }) => sum + to - from, 0));
  const services = [...Map.groupBy(slices, ({ serviceId }) => serviceId)].map(([serviceId, own]) => {
    const [points, announced] = [writer.length, writer.announced.length];
    for (const slice of own) {
      writer.add(slice.points, slice.from, slice.to, (series, at) => needsLabels(serviceId, series, at));
    }
    return [serviceId, writer.length - points, writer.announced.length - announced] as const;
  });
  const head: Head = { services, names: writer.names, ...writeAnnounced(writer.announced) };
  const text = Buffer.from(JSON.stringify(head), 'utf8');
  const lengths = Buffer.alloc(LENGTHS_BYTES);
  lengths.writeUInt32LE(text.length, 0);
  lengths.writeUInt32LE(writer.length, 4);
  return packBytes(Buffer.concat([lengths, text, writer.memory.bytes]));
}

/** The inverse of `packPoints`: one entry per service. */
export function unpackPoints(packed: Buffer): ServicePoints[] {
  const bytes = unpackBytes(packed);
  const columnsStart = LENGTHS_BYTES + bytes.readUInt32LE(0);
  const head = JSON.parse(bytes.toString('utf8', LENGTHS_BYTES, columnsStart)) as Head;
  const memory = new ColumnMemory(bytes.readUInt32LE(4), bytes.subarray(columnsStart));
  const announced = readAnnounced(head);
  let row = 0;
  let announcedBefore = 0;
  return head.services.map(([serviceId, length, announcedCount]) => {
    const points: PointColumns = {
      ...memory.rows(row, row + length),
      length,
      names: head.names,
      announced: announced.slice(announcedBefore, announcedBefore + announcedCount),
    };
    row += length;
    announcedBefore += announcedCount;
    return { serviceId, points };
  });
}

const LENGTHS_BYTES = 8;

function writeAnnounced(announced: readonly AnnouncedSeries[]): Pick<Head, 'texts' | 'keys' | 'told'> {
  const texts = new StringInterner();
  const told: number[] = [];
  for (const { name, labels, newestAt } of announced) {
    told.push(newestAt, texts.intern(name), labels.length);
    for (const text of labels) told.push(texts.intern(text));
  }
  return { texts: texts.strings, keys: announced.map(({ key }) => key.toString()), told };
}

function readAnnounced({ texts, keys, told }: Head): AnnouncedSeries[] {
  let position = 0;
  const next = (): number => told[position++] ?? 0;
  const text = (): string => texts[next()] ?? '';
  return keys.map((key) => {
    const newestAt = next();
    const name = text();
    const labels = Array.from({ length: next() }, text);
    return { name, key: BigInt(key), labels, newestAt };
  });
}
