import {
  EXEMPLARS_MAX,
  type ExponentialSide,
  type OtlpExemplar,
  OtlpPoint,
  QUANTILES_MAX,
} from '#ingest/protocols/otlp/point.ts';
import type { ProtobufAttributes } from '#ingest/protocols/otlp/protobuf_attributes.ts';
import { WIRE, type WireReader } from '#ingest/protocols/body/protobuf_wire.ts';

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
  readonly scale: number;
  readonly zeroCount: number;
  readonly zeroThreshold: number;
  readonly positive: number;
  readonly negative: number;
  readonly exemplars: number;
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
  scale: 0,
  zeroCount: 0,
  zeroThreshold: 0,
  positive: 0,
  negative: 0,
  exemplars: 0,
};

export const LAYOUTS = {
  number: { ...NONE, attributes: 7, flags: 8, asDouble: 4, asInt: 6, exemplars: 5 },
  histogram: {
    ...NONE,
    attributes: 9,
    flags: 10,
    count: 4,
    sum: 5,
    min: 11,
    max: 12,
    bucketCounts: 6,
    bounds: 7,
    exemplars: 8,
  },
  exponential: {
    ...NONE,
    attributes: 1,
    flags: 10,
    count: 4,
    sum: 5,
    min: 12,
    max: 13,
    scale: 6,
    zeroCount: 7,
    zeroThreshold: 14,
    positive: 8,
    negative: 9,
    exemplars: 11,
  },
  summary: { ...NONE, attributes: 7, flags: 8, count: 4, sum: 5, quantiles: 6 },
} as const satisfies Record<string, Layout>;

/** The field numbers of the times in all kinds of data points. */
const START_TIME = 2;
const TIME = 3;
const NO_RECORDED_VALUE = 1;
const ID_BYTES_MAX = 16;

/** Reads data points of any kind into `point`, one at a time. */
export class ProtobufPointReader {
  readonly point: OtlpPoint;
  readonly #reader: WireReader;
  readonly #attributes: ProtobufAttributes;

  constructor(reader: WireReader, attributes: ProtobufAttributes) {
    this.#reader = reader;
    this.#attributes = attributes;
    this.point = new OtlpPoint(attributes.labels);
  }

  read(end: number, layout: Layout): OtlpPoint {
    const { point } = this;
    const reader = this.#reader;
    point.clear();
    while (reader.nextField(end)) {
      if (reader.wire === WIRE.fixed64) this.#readFixed64(end, layout);
      else if (reader.wire === WIRE.bytes) this.#readBytes(end, layout);
      else if (reader.is(layout.flags, WIRE.varint)) point.hasNoValue = reader.varint(end) % 2 === NO_RECORDED_VALUE;
      else if (reader.is(layout.scale, WIRE.varint)) point.scale = reader.sint32(end);
      else reader.skip(end);
    }
    return point;
  }

  #readFixed64(end: number, layout: Layout): void {
    const { point } = this;
    const reader = this.#reader;
    const { field } = reader;
    if (field === TIME) point.timeUnixNano = reader.fixed64(end);
    else if (field === START_TIME) point.startTimeUnixNano = reader.fixed64(end);
    else if (field === layout.asDouble) point.value = reader.double(end);
    else if (field === layout.asInt) point.value = reader.sfixed64(end);
    else if (field === layout.count) point.count = reader.fixed64(end);
    else if (field === layout.sum) point.sum = reader.double(end);
    else if (field === layout.min) point.min = reader.double(end);
    else if (field === layout.max) point.max = reader.double(end);
    else if (field === layout.bucketCounts) point.counts.push(reader.fixed64(end));
    else if (field === layout.bounds) point.bounds.push(reader.double(end));
    else if (field === layout.zeroCount) point.zeroCount = reader.fixed64(end);
    else if (field === layout.zeroThreshold) point.zeroThreshold = reader.double(end);
    else reader.skip(end);
  }

  #readBytes(end: number, layout: Layout): void {
    const { point } = this;
    const reader = this.#reader;
    const { field } = reader;
    const innerEnd = reader.message(end);
    if (field === layout.attributes) this.#attributes.read(innerEnd);
    else if (field === layout.bucketCounts) while (reader.pos < innerEnd) point.counts.push(reader.fixed64(innerEnd));
    else if (field === layout.bounds) while (reader.pos < innerEnd) point.bounds.push(reader.double(innerEnd));
    else if (field === layout.quantiles && point.quantiles.length <= QUANTILES_MAX) this.#readQuantile(innerEnd);
    else if (field === layout.positive) this.#readSide(innerEnd, point.positive);
    else if (field === layout.negative) this.#readSide(innerEnd, point.negative);
    else if (field === layout.exemplars && point.exemplars.length < EXEMPLARS_MAX) this.#readExemplar(innerEnd);
    else reader.pos = innerEnd;
  }

  #readQuantile(end: number): void {
    const reader = this.#reader;
    let quantile = 0;
    let value = 0;
    while (reader.nextField(end)) {
      if (reader.is(1, WIRE.fixed64)) quantile = reader.double(end);
      else if (reader.is(2, WIRE.fixed64)) value = reader.double(end);
      else reader.skip(end);
    }
    this.point.quantiles.push({ quantile, value });
  }

  #readExemplar(end: number): void {
    const reader = this.#reader;
    const otlpExemplar: OtlpExemplar = { timeUnixNano: 0, value: Number.NaN, traceId: '', spanId: '' };
    while (reader.nextField(end)) {
      if (reader.is(2, WIRE.fixed64)) otlpExemplar.timeUnixNano = reader.fixed64(end);
      else if (reader.is(3, WIRE.fixed64)) otlpExemplar.value = reader.double(end);
      else if (reader.is(6, WIRE.fixed64)) otlpExemplar.value = reader.sfixed64(end);
      else if (reader.is(4, WIRE.bytes)) otlpExemplar.spanId = this.#readId(end);
      else if (reader.is(5, WIRE.bytes)) otlpExemplar.traceId = this.#readId(end);
      else reader.skip(end);
    }
    this.point.exemplars.push(otlpExemplar);
  }

  /** Returns an id in hex digits; empty if it is none. */
  #readId(end: number): string {
    const reader = this.#reader;
    const idEnd = reader.message(end);
    const id = idEnd - reader.pos > ID_BYTES_MAX ? '' : reader.bytes.toString('hex', reader.pos, idEnd);
    reader.pos = idEnd;
    return id;
  }

  #readSide(end: number, side: ExponentialSide): void {
    const reader = this.#reader;
    while (reader.nextField(end)) {
      if (reader.is(1, WIRE.varint)) side.offset = reader.sint32(end);
      else if (reader.is(2, WIRE.varint)) side.counts.push(reader.varint(end));
      else if (reader.is(2, WIRE.bytes)) {
        const listEnd = reader.message(end);
        while (reader.pos < listEnd) side.counts.push(reader.varint(listEnd));
      } else reader.skip(end);
    }
  }
}
