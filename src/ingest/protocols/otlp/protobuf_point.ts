import type { Label } from '#ingest/admission/labels.ts';
import type { Buckets, PointHead, Quantile, Totals } from '#ingest/protocols/otlp/metric_mapper.ts';
import type { ProtobufAttributes } from '#ingest/protocols/otlp/protobuf_attributes.ts';
import { WIRE, type WireReader } from '#ingest/protocols/protobuf/wire_reader.ts';

/** The field numbers of one kind of data point; 0, which no field has, for a missing one. */
export interface Layout {
  readonly attributes: number;
  readonly flags: number;
  readonly asDouble: number;
  readonly asInt: number;
  readonly count: number;
  readonly sum: number;
  readonly min: number;
  readonly max: number;
  readonly bucketCounts: number;
  readonly bounds: number;
  readonly quantiles: number;
}

const NONE: Layout = {
  attributes: 0,
  flags: 0,
  asDouble: 0,
  asInt: 0,
  count: 0,
  sum: 0,
  min: 0,
  max: 0,
  bucketCounts: 0,
  bounds: 0,
  quantiles: 0,
};

export const LAYOUTS = {
  number: { ...NONE, attributes: 7, flags: 8, asDouble: 4, asInt: 6 },
  histogram: { ...NONE, attributes: 9, flags: 10, count: 4, sum: 5, min: 11, max: 12, bucketCounts: 6, bounds: 7 },
  exponential: { ...NONE, attributes: 1, flags: 10, count: 4, sum: 5, min: 12, max: 13 },
  summary: { ...NONE, attributes: 7, flags: 8, count: 4, sum: 5, quantiles: 6 },
} as const satisfies Record<string, Layout>;

/** The field number of the time in all kinds of data points. */
const TIME = 3;
const NO_RECORDED_VALUE = 1;

/** One data point at a time, of any kind: `read` fills the same object again. */
export class ProtobufPoint implements PointHead, Totals, Buckets {
  readonly labels: readonly Label[];
  timeUnixNano = 0;
  hasNoValue = false;
  value: number | null = null;
  count = 0;
  sum: number | null = null;
  min: number | null = null;
  max: number | null = null;
  readonly counts: number[] = [];
  readonly bounds: number[] = [];
  readonly quantiles: Quantile[] = [];
  readonly #reader: WireReader;
  readonly #attributes: ProtobufAttributes;

  constructor(reader: WireReader, attributes: ProtobufAttributes) {
    this.#reader = reader;
    this.#attributes = attributes;
    this.labels = attributes.labels;
  }

  read(end: number, layout: Layout): void {
    this.#clear();
    const reader = this.#reader;
    while (reader.nextField(end)) {
      if (reader.wire === WIRE.fixed64) this.#readFixed64(end, layout);
      else if (reader.wire === WIRE.bytes) this.#readBytes(end, layout);
      else if (reader.is(layout.flags, WIRE.varint)) this.hasNoValue = reader.varint(end) % 2 === NO_RECORDED_VALUE;
      else reader.skip(end);
    }
  }

  #clear(): void {
    this.#attributes.clear();
    this.timeUnixNano = 0;
    this.hasNoValue = false;
    this.value = null;
    this.count = 0;
    this.sum = null;
    this.min = null;
    this.max = null;
    this.counts.length = 0;
    this.bounds.length = 0;
    this.quantiles.length = 0;
  }

  #readFixed64(end: number, layout: Layout): void {
    const reader = this.#reader;
    const { field } = reader;
    if (field === TIME) this.timeUnixNano = reader.fixed64(end);
    else if (field === layout.asDouble) this.value = reader.double(end);
    else if (field === layout.asInt) this.value = reader.sfixed64(end);
    else if (field === layout.count) this.count = reader.fixed64(end);
    else if (field === layout.sum) this.sum = reader.double(end);
    else if (field === layout.min) this.min = reader.double(end);
    else if (field === layout.max) this.max = reader.double(end);
    else if (field === layout.bucketCounts) this.counts.push(reader.fixed64(end));
    else if (field === layout.bounds) this.bounds.push(reader.double(end));
    else reader.skip(end);
  }

  #readBytes(end: number, layout: Layout): void {
    const reader = this.#reader;
    const { field } = reader;
    const innerEnd = reader.message(end);
    if (field === layout.attributes) this.#attributes.read(innerEnd);
    else if (field === layout.bucketCounts) while (reader.pos < innerEnd) this.counts.push(reader.fixed64(innerEnd));
    else if (field === layout.bounds) while (reader.pos < innerEnd) this.bounds.push(reader.double(innerEnd));
    else if (field === layout.quantiles) this.quantiles.push(this.#readQuantile(innerEnd));
    else reader.pos = innerEnd;
  }

  #readQuantile(end: number): Quantile {
    const reader = this.#reader;
    let quantile = 0;
    let value = 0;
    while (reader.nextField(end)) {
      if (reader.is(1, WIRE.fixed64)) quantile = reader.double(end);
      else if (reader.is(2, WIRE.fixed64)) value = reader.double(end);
      else reader.skip(end);
    }
    return { quantile, value };
  }
}
