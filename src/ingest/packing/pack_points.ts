import {
  type AnnouncedColumns,
  AnnouncedTable,
  type PointColumns,
  type ServicePoints,
} from '#modules/metrics/decide/announced_table.ts';
import type { Series } from '#modules/metrics/decide/point.ts';
import type { PointBatch } from '#ingest/admission/point_batch.ts';
import { ColumnMemory, ColumnWriter, ROW_BYTES } from '#ingest/packing/column_writer.ts';
import { NEWER_FORMAT, packBytes, unpackBytes, unpackedLength } from '#ingest/packing/pack_events.ts';
import { freeBytes } from '#kernel/free_bytes.ts';
import type { Id } from '#kernel/ids.ts';

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
  readonly services: readonly (readonly [serviceId: Id<'service'>, points: number, types: number])[];
  readonly names: readonly string[];
  readonly texts: readonly string[];
  readonly announced: { readonly count: number; readonly labels: number };
}

interface Format {
  /** Format of the job; absent in format 1. */
  readonly format?: number;
}

/**
 * Format that this release reads and writes. A job in a later format waits for a worker of that
 * release.
 */
const FORMAT = 1;

/**
 * Packs points of several services for one job: a JSON head and the columns, which is fast to write, compress and read.
 */
export function packPoints(slices: readonly PointSlice[], needsLabels: ServiceNeedsLabels = () => true): Buffer {
  const writer = new ColumnWriter(slices.reduce((sum, { from, to }) => sum + to - from, 0));
  const services = [...Map.groupBy(slices, ({ serviceId }) => serviceId)].map(([serviceId, ofService]) => {
    const [points, announced] = [writer.length, writer.announced.length];
    for (const slice of ofService) {
      writer.add(slice.points, slice.from, slice.to, (series, at) => needsLabels(serviceId, series, at));
    }
    return [serviceId, writer.length - points, writer.announced.length - announced] as const;
  });
  const { texts, columns } = writer.announced.table();
  const announced = { count: columns.keys.length, labels: columns.labels.length };
  const head: Head = { services, names: writer.names, texts, announced };
  const text = Buffer.from(JSON.stringify(head), 'utf8');
  const lengths = Buffer.alloc(LENGTHS_BYTES);
  lengths.writeUInt32LE(text.length, 0);
  lengths.writeUInt32LE(writer.length, 4);
  const parts = [text, writer.memory.bytes, ...inOrder(columns)];
  const bytes = Buffer.concat([lengths, ...parts]);
  parts.forEach(freeBytes);
  const packed = packBytes(bytes);
  freeBytes(bytes);
  return packed;
}

/**
 * Returns how many points of known series the job counts as once unpacked: points of new series take several times as
 * much memory.
 */
export function packedWeight(packed: Buffer): number {
  return Math.ceil(unpackedLength(packed) / ROW_BYTES);
}

/** The inverse of `packPoints`: one entry per service. */
export function unpackPoints(packed: Buffer): ServicePoints[] {
  const bytes = unpackBytes(packed);
  const columnsStart = LENGTHS_BYTES + bytes.readUInt32LE(0);
  const head = JSON.parse(bytes.toString('utf8', LENGTHS_BYTES, columnsStart)) as Head & Format;
  if ((head.format ?? FORMAT) > FORMAT) throw new Error(NEWER_FORMAT);
  const memory = new ColumnMemory(bytes.readUInt32LE(4), bytes.subarray(columnsStart));
  const announced = readAnnounced(head, bytes.subarray(columnsStart + memory.bytes.length));
  // All of it has been copied out.
  if (bytes.buffer !== packed.buffer) freeBytes(bytes);
  const parts = announced.parts(head.services.map(([, , count]) => count));
  let row = 0;
  return head.services.map(([serviceId, length], index) => {
    const points: PointColumns = {
      ...memory.rows(row, row + length),
      length,
      names: head.names,
      announced: parts[index] ?? AnnouncedTable.of([]),
    };
    row += length;
    return { serviceId, points };
  });
}

const LENGTHS_BYTES = 8;

/** The wide columns come first so that each is aligned. */
function inOrder({ keys, newest, names, labelCounts, labels }: AnnouncedColumns): Uint8Array[] {
  return [keys, newest, names, labelCounts, labels].map(
    ({ buffer, byteOffset, byteLength }) => new Uint8Array(buffer, byteOffset, byteLength),
  );
}

function readAnnounced({ texts, announced: { count, labels } }: Head, bytes: Uint8Array): AnnouncedTable {
  const memory = new ArrayBuffer(count * 24 + labels * 4);
  new Uint8Array(memory).set(bytes.subarray(0, memory.byteLength));
  return new AnnouncedTable(texts, {
    keys: new BigUint64Array(memory, 0, count),
    newest: new Float64Array(memory, count * 8, count),
    names: new Uint32Array(memory, count * 16, count),
    labelCounts: new Uint32Array(memory, count * 20, count),
    labels: new Uint32Array(memory, count * 24, labels),
  });
}
