import type { Series } from '#core/metrics/point.ts';
import type { AnnouncedSeries, PointColumns, ServicePoints } from '#core/metrics/point_columns.ts';
import type { PointBatch } from '#ingest/admission/point_batch.ts';
import { ColumnMemory, ColumnWriter } from '#ingest/packing/column_writer.ts';
import { NEWER_FORMAT, packBytes, unpackBytes } from '#ingest/packing/pack_bytes.ts';
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
 * Behind the points are the columns of the announced series, `count` each: the keys, the newest times, and, as positions
 * in `texts`, the names; then how many label texts each has, and those, label names and values in turn, `labels` in all.
 * Stored jobs have this form, so its names never change.
 */
interface Head {
  readonly services: readonly (readonly [serviceId: Id<'service'>, points: number, told: number])[];
  readonly names: readonly string[];
  readonly texts: readonly string[];
  readonly announced: { readonly count: number; readonly labels: number };
}

/** As earlier releases wrote it: keys in decimal, and the other columns as one list of numbers. */
interface OldHead extends Omit<Head, 'announced'> {
  readonly keys: readonly string[];
  readonly told: readonly number[];
}

interface Format {
  /** Absent in format 1. */
  readonly format?: number;
}

/** What this release writes, and reads besides those before it. A job of a later one waits for a worker of that release. */
const FORMAT = 1;

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
  const announced = writeAnnounced(writer.announced);
  const head: Head = { services, names: writer.names, texts: announced.texts, announced: announced.lengths };
  const text = Buffer.from(JSON.stringify(head), 'utf8');
  const lengths = Buffer.alloc(LENGTHS_BYTES);
  lengths.writeUInt32LE(text.length, 0);
  lengths.writeUInt32LE(writer.length, 4);
  return packBytes(Buffer.concat([lengths, text, writer.memory.bytes, announced.bytes]));
}

/** The inverse of `packPoints`: one entry per service. */
export function unpackPoints(packed: Buffer): ServicePoints[] {
  const bytes = unpackBytes(packed);
  const columnsStart = LENGTHS_BYTES + bytes.readUInt32LE(0);
  const head = JSON.parse(bytes.toString('utf8', LENGTHS_BYTES, columnsStart)) as (Head | OldHead) & Format;
  if ((head.format ?? FORMAT) > FORMAT) throw new Error(NEWER_FORMAT);
  const memory = new ColumnMemory(bytes.readUInt32LE(4), bytes.subarray(columnsStart));
  const announced =
    'announced' in head
      ? readAnnounced(head, bytes.subarray(columnsStart + memory.bytes.length))
      : readOldAnnounced(head);
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

/** The columns of announced series in one allocation; the wide ones come first so that each is aligned. */
class AnnouncedMemory {
  readonly bytes: Uint8Array;
  readonly keys: BigUint64Array;
  readonly newest: Float64Array;
  readonly names: Uint32Array;
  readonly labelCounts: Uint32Array;
  readonly labels: Uint32Array;

  /** `from` is a copy of another instance's `bytes`. */
  constructor({ count, labels }: Head['announced'], from?: Uint8Array) {
    const memory = new ArrayBuffer(count * 24 + labels * 4);
    this.bytes = new Uint8Array(memory);
    if (from !== undefined) this.bytes.set(from.subarray(0, memory.byteLength));
    this.keys = new BigUint64Array(memory, 0, count);
    this.newest = new Float64Array(memory, count * 8, count);
    this.names = new Uint32Array(memory, count * 16, count);
    this.labelCounts = new Uint32Array(memory, count * 20, count);
    this.labels = new Uint32Array(memory, count * 24, labels);
  }
}

function writeAnnounced(announced: readonly AnnouncedSeries[]): {
  readonly texts: readonly string[];
  readonly lengths: Head['announced'];
  readonly bytes: Uint8Array;
} {
  const texts = new StringInterner();
  const lengths = { count: announced.length, labels: announced.reduce((sum, { labels }) => sum + labels.length, 0) };
  const memory = new AnnouncedMemory(lengths);
  let position = 0;
  for (let i = 0; i < announced.length; i += 1) {
    const series = announced[i];
    if (series === undefined) continue;
    memory.keys[i] = series.key;
    memory.newest[i] = series.newestAt;
    memory.names[i] = texts.intern(series.name);
    memory.labelCounts[i] = series.labels.length;
    for (const text of series.labels) memory.labels[position++] = texts.intern(text);
  }
  return { texts: texts.strings, lengths, bytes: memory.bytes };
}

function readAnnounced({ texts, announced }: Head, bytes: Uint8Array): AnnouncedSeries[] {
  const memory = new AnnouncedMemory(announced, bytes);
  let position = 0;
  const series: AnnouncedSeries[] = [];
  for (let i = 0; i < announced.count; i += 1) {
    const labels: string[] = [];
    const end = position + (memory.labelCounts[i] ?? 0);
    for (; position < end; position += 1) labels.push(texts[memory.labels[position] ?? 0] ?? '');
    const name = texts[memory.names[i] ?? 0] ?? '';
    series.push({ name, key: memory.keys[i] ?? 0n, labels, newestAt: memory.newest[i] ?? 0 });
  }
  return series;
}

function readOldAnnounced({ texts, keys, told }: OldHead): AnnouncedSeries[] {
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
