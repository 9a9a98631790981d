import type { PointColumns } from '#core/metrics/point_columns.ts';
import { TextNumbers } from '#core/metrics/text_numbers.ts';
import { type Id, uuidOf } from '#kernel/ids.ts';
import { bytesOf, lowCardinality, nativeBlock } from '#storage/clickhouse/native_block.ts';
import { uuidBytes } from '#storage/clickhouse/row_binary.ts';

/** Points of a service. */
export interface Delivery {
  readonly serviceId: Id<'service'>;
  readonly points: PointColumns;
}

/** One insert may touch a hundred days' partitions; points from older days go in inserts of their own. */
const STRETCH_MS = 90 * 86_400_000;

/** Blocks in ClickHouse's Native format, apart by stretches of 90 days; nearly always there is just one. */
export function encodePoints(deliveries: readonly Delivery[]): ReadonlyMap<number, Buffer> {
  const stretches = new Set(deliveries.flatMap(({ points }) => [...stretchesOf(points)]));
  return new Map(
    [...stretches].map((stretch) => {
      const within = stretches.size === 1 ? deliveries : deliveries.map((delivery) => cut(delivery, stretch));
      return [stretch, encode(within)];
    }),
  );
}

function stretchesOf({ at }: PointColumns): Set<number> {
  const stretches = new Set<number>();
  let last = Number.NaN;
  for (const time of at) {
    const stretch = stretchOf(time);
    if (stretch !== last) stretches.add(stretch);
    last = stretch;
  }
  return stretches;
}

function stretchOf(at: number): number {
  return Math.floor(at / STRETCH_MS);
}

function cut({ serviceId, points }: Delivery, stretch: number): Delivery {
  const isWithin = (_: unknown, row: number): boolean => stretchOf(points.at[row] ?? 0) === stretch;
  const at = points.at.filter(isWithin);
  const columns = {
    key: points.key.filter(isWithin),
    value: points.value.filter(isWithin),
    name: points.name.filter(isWithin),
    kind: points.kind.filter(isWithin),
  };
  return { serviceId, points: { ...points, ...columns, at, length: at.length } };
}

const UUID_BYTES = 16;
const KIND_TYPE = "Enum8('gauge' = 0, 'counter' = 1, 'delta' = 2, 'stale' = 3)";

function encode(deliveries: readonly Delivery[]): Buffer {
  const rows = deliveries.reduce((sum, { points }) => sum + points.length, 0);
  const services = Buffer.allocUnsafe(rows * UUID_BYTES);
  const metrics = new Uint32Array(rows);
  const series = new BigUint64Array(rows);
  const times = new Times(rows);
  const values = new Float64Array(rows);
  const kinds = new Uint8Array(rows);
  const names = new Names();
  let row = 0;
  for (const { serviceId, points } of deliveries) {
    services.fill(uuidBytes(uuidOf(serviceId)), row * UUID_BYTES, (row + points.length) * UUID_BYTES);
    series.set(points.key, row);
    values.set(points.value, row);
    kinds.set(points.kind, row);
    const numbers = names.numbersOf(points.names);
    for (let index = 0; index < points.length; index += 1) {
      metrics[row + index] = numbers[points.name[index] ?? 0] ?? 0;
      times.set(row + index, points.at[index] ?? 0);
    }
    row += points.length;
  }
  return nativeBlock(rows, [
    { name: 'service_id', type: 'UUID', parts: [services] },
    { name: 'metric', type: 'LowCardinality(String)', parts: lowCardinality(names.all, metrics) },
    { name: 'series', type: 'UInt64', parts: [bytesOf(series)] },
    { name: 'ts', type: "DateTime64(3, 'UTC')", parts: [times.bytes] },
    { name: 'value', type: 'Float64', parts: [bytesOf(values)] },
    { name: 'kind', type: KIND_TYPE, parts: [kinds] },
  ]);
}

/** Numbers names over all deliveries; those of one job have the same list of them. */
class Names {
  readonly #numbers = new TextNumbers();
  #lastList: readonly string[] = [];
  #lastNumbers = new Uint32Array();

  get all(): readonly string[] {
    return this.#numbers.all;
  }

  numbersOf(list: readonly string[]): Uint32Array {
    if (list === this.#lastList) return this.#lastNumbers;
    this.#lastList = list;
    this.#lastNumbers = Uint32Array.from(list, (name) => this.#numbers.of(name));
    return this.#lastNumbers;
  }
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
