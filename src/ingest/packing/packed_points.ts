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

/** Whether a series' labels are to go with its points; the newest was taken at `newestAt`, -Infinity for none but marks of its end. */
export type NeedsLabels = (serviceId: Id<'service'>, series: Series, newestAt: number) => boolean;

/**
 * What stands before the columns. A text that many series carry is written once: `labels` holds, for each series whose
 * labels go along, its place, how many numbers follow, and then those of its label names and values among `texts`.
 */
interface Head {
  readonly services: readonly (readonly [serviceId: Id<'service'>, points: number, series: number])[];
  readonly texts: readonly string[];
  readonly labels: readonly number[];
}

/**
 * Points of any services for one job: a JSON head, then columns (of points: values, times and series as differences to
 * the point before, kinds; of series: keys and names), which is what makes them small once compressed and quick to read.
 */
export function packPoints(slices: readonly PointSlice[], needsLabels: NeedsLabels = () => true): string {
  const length = slices.reduce((sum, { from, to }) => sum + to - from, 0);
  const series = new SeriesWriter();
  const numbers = new Uint32Array(length);
  let row = 0;
  const services = slices.map((slice) => {
    const { serviceId, points, from, to } = slice;
    const before = series.count;
    series.begin(points.series);
    for (let i = from; i < to; i += 1, row += 1) numbers[row] = series.numberOf(points.seriesIndex[i] ?? 0);
    series.writeLabels(newestOf(slice), (one, newestAt) => needsLabels(serviceId, one, newestAt));
    return [serviceId, to - from, series.count - before] as const;
  });
  const columns = new Columns(length, series.count);
  columns.key.set(series.keys);
  columns.name.set(series.names);
  row = 0;
  for (const { points, from, to } of slices) {
    let previousSeries = 0;
    let previousAt = 0;
    for (let i = from; i < to; i += 1, row += 1) {
      const number = numbers[row] ?? 0;
      const at = points.at[i] ?? 0;
      columns.value[row] = points.value[i] ?? 0;
      columns.at[row] = at - previousAt;
      columns.series[row] = number - previousSeries;
      columns.kind[row] = points.kind[i] ?? 0;
      previousSeries = number;
      previousAt = at;
    }
  }
  const head: Head = { services, texts: series.texts, labels: series.labels };
  const text = Buffer.from(JSON.stringify(head), 'utf8');
  const lengths = new Uint32Array([text.length, length, series.count, 0]);
  return packText(Buffer.concat([Buffer.from(lengths.buffer), columns.bytes, text]));
}

/** The inverse of `packPoints`, the slices of one service joined. Series without labels have null for them. */
export function unpackPoints(packed: string): ServicePoints[] {
  const bytes = unpackText(packed);
  const columns = new Columns(bytes.readUInt32LE(4), bytes.readUInt32LE(8), bytes.subarray(LENGTHS_BYTES));
  const textStart = LENGTHS_BYTES + columns.bytes.length;
  const head = JSON.parse(bytes.toString('utf8', textStart, textStart + bytes.readUInt32LE(0))) as Head;
  const batches = new Map<Id<'service'>, PointBatch>();
  const labels = labelsOf(head);
  let row = 0;
  let place = 0;
  for (const [serviceId, pointCount, seriesCount] of head.services) {
    const batch = batches.get(serviceId) ?? new PointBatch();
    batches.set(serviceId, batch);
    let index = batch.series.length;
    for (const end = place + seriesCount; place < end; place += 1) {
      const name = head.texts[columns.name[place] ?? 0] ?? '';
      batch.addSeries({ name, labels: labels.get(place) ?? null, key: columns.key[place] ?? 0n });
    }
    let at = 0;
    for (const end = row + pointCount; row < end; row += 1) {
      index += columns.series[row] ?? 0;
      at += columns.at[row] ?? 0;
      batch.add(index, at, columns.value[row] ?? 0, POINT_KINDS[columns.kind[row] ?? 0] ?? 'gauge');
    }
  }
  return [...batches].map(([serviceId, points]) => ({ serviceId, points }));
}

const LENGTHS_BYTES = 16;
const SERIES_BYTES = 12;
const POINT_BYTES = 21;

/** Wide columns first so that each is aligned; in the byte order of the machine. */
class Columns {
  readonly bytes: Buffer;
  readonly key: BigUint64Array;
  readonly value: Float64Array;
  readonly at: Float64Array;
  readonly name: Uint32Array;
  readonly series: Int32Array;
  readonly kind: Uint8Array;

  constructor(points: number, series: number, from?: Buffer) {
    const memory = new ArrayBuffer(points * POINT_BYTES + series * SERIES_BYTES);
    this.bytes = Buffer.from(memory);
    from?.copy(this.bytes, 0, 0, memory.byteLength);
    let end = 0;
    const next = (bytes: number): number => (end += bytes) - bytes;
    this.key = new BigUint64Array(memory, next(series * 8), series);
    this.value = new Float64Array(memory, next(points * 8), points);
    this.at = new Float64Array(memory, next(points * 8), points);
    this.name = new Uint32Array(memory, next(series * 4), series);
    this.series = new Int32Array(memory, next(points * 4), points);
    this.kind = new Uint8Array(memory, next(points), points);
  }
}

const STALE = POINT_KINDS.indexOf('stale');

/** When the newest point of each series of the slice was taken; -Infinity where it has none but markers of its end. */
function newestOf({ points, from, to }: PointSlice): Float64Array {
  const newest = new Float64Array(points.series.length).fill(-Infinity);
  for (let i = from; i < to; i += 1) {
    const index = points.seriesIndex[i] ?? 0;
    const at = points.at[i] ?? 0;
    if (points.kind[i] !== STALE && at > (newest[index] ?? 0)) newest[index] = at;
  }
  return newest;
}

/** Numbers the series that points really use, in the order in which they do. */
class SeriesWriter {
  readonly texts: string[] = [];
  readonly keys: bigint[] = [];
  readonly names: number[] = [];
  readonly labels: number[] = [];
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
    this.keys.push(series.key);
    this.names.push(this.#text(series.name));
    return number;
  }

  /** Of those series begun with that were numbered. */
  writeLabels(newest: Float64Array, needsLabels: (series: Series, newestAt: number) => boolean): void {
    for (const [index, series] of this.#series.entries()) {
      const number = this.#known[index] ?? -1;
      const newestAt = newest[index] ?? -Infinity;
      if (number < 0 || series.labels === null || !needsLabels(series, newestAt)) continue;
      this.labels.push(this.#first + number, series.labels.length);
      for (const text of series.labels) this.labels.push(this.#text(text));
    }
  }

  #text(text: string): number {
    const known = this.#textNumbers.get(text);
    if (known !== undefined) return known;
    const number = this.texts.push(text) - 1;
    this.#textNumbers.set(text, number);
    return number;
  }
}

/** By the place of the series among all of the job. */
function labelsOf({ labels: numbers, texts }: Head): Map<number, string[]> {
  const labels = new Map<number, string[]>();
  for (let position = 0; position < numbers.length;) {
    const [place = 0, length = 0] = [numbers[position], numbers[position + 1]];
    const start = position + 2;
    position = start + length;
    labels.set(
      place,
      numbers.slice(start, position).map((number) => texts[number] ?? ''),
    );
  }
  return labels;
}
