import { PointBatch, POINT_KINDS, type Series } from '#core/metrics/point.ts';
import { packText, unpackText } from '#ingest/packing/packed_text.ts';
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
  readonly points: PointBatch;
}

/**
 * What stands before the columns. A text that many series carry is written once: `series` holds, for each, how many
 * numbers follow and then the numbers of its name, key, and label names and values among `texts`.
 */
interface Head {
  readonly services: readonly (readonly [serviceId: Id<'service'>, points: number, series: number])[];
  readonly texts: readonly string[];
  readonly series: readonly number[];
}

/**
 * Points of any services for one job: a JSON head, then columns (values, times and series as differences to the point
 * before, kinds), which is what makes them small once compressed and quick to read.
 */
export function packPoints(slices: readonly PointSlice[]): string {
  const length = slices.reduce((sum, { from, to }) => sum + to - from, 0);
  const columns = new Columns(length);
  const series = new SeriesWriter();
  let row = 0;
  const services = slices.map((slice) => {
    const { points, from, to } = slice;
    const seriesBefore = series.count;
    series.begin(points.series);
    let previousSeries = 0;
    let previousAt = 0;
    for (let i = from; i < to; i += 1, row += 1) {
      const index = series.numberOf(points.seriesIndex[i] ?? 0);
      const at = points.at[i] ?? 0;
      columns.value[row] = points.value[i] ?? 0;
      columns.at[row] = at - previousAt;
      columns.series[row] = index - previousSeries;
      columns.kind[row] = points.kind[i] ?? 0;
      previousSeries = index;
      previousAt = at;
    }
    return [slice.serviceId, to - from, series.count - seriesBefore] as const;
  });
  const head: Head = { services, texts: series.texts, series: series.numbers };
  const text = Buffer.from(JSON.stringify(head), 'utf8');
  const lengths = Buffer.alloc(8);
  lengths.writeUInt32LE(text.length, 0);
  lengths.writeUInt32LE(length, 4);
  return packText(Buffer.concat([lengths, columns.bytes, text]));
}

/** The inverse of `packPoints`, the slices of one service joined. */
export function unpackPoints(packed: string): ServicePoints[] {
  const bytes = unpackText(packed);
  const columns = new Columns(bytes.readUInt32LE(4), bytes.subarray(8));
  const textStart = 8 + columns.bytes.length;
  const head = JSON.parse(bytes.toString('utf8', textStart, textStart + bytes.readUInt32LE(0))) as Head;
  const batches = new Map<Id<'service'>, PointBatch>();
  const reader = new SeriesReader(head);
  let row = 0;
  for (const [serviceId, pointCount, seriesCount] of head.services) {
    const batch = batches.get(serviceId) ?? new PointBatch();
    batches.set(serviceId, batch);
    const firstSeries = batch.series.length;
    for (let i = 0; i < seriesCount; i += 1) batch.addSeries(reader.next());
    let index = firstSeries;
    let at = 0;
    for (const end = row + pointCount; row < end; row += 1) {
      index += columns.series[row] ?? 0;
      at += columns.at[row] ?? 0;
      batch.add(index, at, columns.value[row] ?? 0, POINT_KINDS[columns.kind[row] ?? 0] ?? 'gauge');
    }
  }
  return [...batches].map(([serviceId, points]) => ({ serviceId, points }));
}

/** 21 bytes a point, wide columns first so that each is aligned; in the byte order of the machine. */
class Columns {
  readonly bytes: Buffer;
  readonly value: Float64Array;
  readonly at: Float64Array;
  readonly series: Int32Array;
  readonly kind: Uint8Array;

  constructor(length: number, from?: Buffer) {
    const memory = new ArrayBuffer(length * 21);
    this.bytes = Buffer.from(memory);
    from?.copy(this.bytes, 0, 0, memory.byteLength);
    this.value = new Float64Array(memory, 0, length);
    this.at = new Float64Array(memory, length * 8, length);
    this.series = new Int32Array(memory, length * 16, length);
    this.kind = new Uint8Array(memory, length * 20, length);
  }
}

/** Numbers the series that points really use, in the order in which they do. */
class SeriesWriter {
  readonly texts: string[] = [];
  readonly numbers: number[] = [];
  count = 0;
  readonly #textNumbers = new Map<string, number>();
  #series: readonly Series[] = [];
  #known: Int32Array = new Int32Array(0);
  #first = 0;

  begin(series: readonly Series[]): void {
    this.#series = series;
    this.#known = new Int32Array(series.length).fill(-1);
    this.#first = this.count;
  }

  numberOf(index: number): number {
    const known = this.#known[index] ?? -1;
    if (known >= 0) return known;
    const series = this.#series[index];
    if (series === undefined) throw new RangeError(`no series ${index}`);
    const number = this.count - this.#first;
    this.#known[index] = number;
    this.count += 1;
    this.numbers.push(series.labels.length + 2, this.#text(series.name), this.#text(series.key));
    for (const text of series.labels) this.numbers.push(this.#text(text));
    return number;
  }

  #text(text: string): number {
    const known = this.#textNumbers.get(text);
    if (known !== undefined) return known;
    const number = this.texts.push(text) - 1;
    this.#textNumbers.set(text, number);
    return number;
  }
}

class SeriesReader {
  readonly #head: Head;
  #position = 0;

  constructor(head: Head) {
    this.#head = head;
  }

  next(): Series {
    const length = this.#head.series[this.#position] ?? 0;
    const start = this.#position + 1;
    this.#position = start + length;
    const [name = '', key = '', ...labels] = this.#head.series
      .slice(start, this.#position)
      .map((number) => this.#head.texts[number] ?? '');
    return { name, key, labels };
  }
}
