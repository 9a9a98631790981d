import type { PointAdmission } from '#ingest/admission/point_admission.ts';
import type { Steps } from '#ingest/protocols/body/steps.ts';
import { toTemporality, type MetricMapper, type Temporality } from '#ingest/protocols/otlp/metric_mapper.ts';
import { ProtobufAttributes } from '#ingest/protocols/otlp/protobuf_attributes.ts';
import { LAYOUTS, ProtobufPoint, type Layout } from '#ingest/protocols/otlp/protobuf_point.ts';
import { chooseResourceLabels } from '#ingest/protocols/otlp/resource_labels.ts';
import { decodeText } from '#ingest/protocols/protobuf/decode_text.ts';
import { WIRE, WireReader } from '#ingest/protocols/protobuf/wire_reader.ts';

/** The fields of `Metric` that hold its data, and how the data points in them are laid out. */
const DATA = { gauge: 5, sum: 7, histogram: 9, exponentialHistogram: 10, summary: 11 } as const;

/** Fields and points are so quick to read that to rest after each would take longer. */
const REST_AFTER = 128;
const REST_AFTER_PASSED = 4_096;
/** Far more than a point with all the labels and buckets that it may have. */
const POINT_BYTES_MAX = 1024 * 1024;
/** Of a resource; few of them become labels. */
const RESOURCE_ATTRIBUTES_MAX = 1_000;

/**
 * Walks a protobuf ExportMetricsServiceRequest. Whatever governs the points (resource, name, temporality) may stand
 * behind them, so each message is walked twice: once for what governs, once for the points.
 */
export class OtlpProtobufDecoder {
  readonly #reader: WireReader;
  readonly #admission: PointAdmission;
  readonly #mapper: MetricMapper;
  readonly #attributes: ProtobufAttributes;
  readonly #point: ProtobufPoint;

  constructor(body: Buffer, admission: PointAdmission, mapper: MetricMapper) {
    this.#reader = new WireReader(body, 'ExportMetricsServiceRequest');
    this.#admission = admission;
    this.#mapper = mapper;
    this.#attributes = new ProtobufAttributes(this.#reader, admission);
    this.#point = new ProtobufPoint(this.#reader, this.#attributes);
  }

  *decode(): Steps<void> {
    yield* this.#eachInSteps(this.#reader.bytes.length, 1, (end) => this.#readResourceMetrics(end));
  }

  *#readResourceMetrics(end: number): Steps<void> {
    const start = this.#reader.pos;
    this.#mapper.beginResource([]);
    yield* this.#eachInSteps(end, 1, (resourceEnd) => this.#readResource(resourceEnd));
    this.#reader.pos = start;
    yield* this.#eachInSteps(end, 2, (scopeEnd) =>
      this.#eachInSteps(scopeEnd, 2, (metricEnd) => this.#readMetric(metricEnd)),
    );
  }

  *#readResource(end: number): Steps<void> {
    this.#attributes.clear();
    yield* this.#eachOfMany(end, 1, (attributeEnd) => this.#attributes.read(attributeEnd, RESOURCE_ATTRIBUTES_MAX));
    this.#mapper.beginResource(chooseResourceLabels(this.#attributes.labels));
  }

  *#readMetric(end: number): Steps<void> {
    const reader = this.#reader;
    const start = reader.pos;
    let name: string | null = '';
    yield* this.#eachOfMany(end, 1, (nameEnd) => {
      name = decodeText(reader.bytes, reader.pos, nameEnd);
      reader.pos = nameEnd;
    });
    this.#mapper.beginMetric(name);
    reader.pos = start;
    for (let fields = 1; reader.nextField(end); fields += 1) {
      const { field, wire } = reader;
      if (wire === WIRE.bytes) yield* this.#readData(field, reader.message(end));
      else reader.skip(end);
      if (fields % REST_AFTER === 0) yield;
    }
  }

  *#readData(field: number, end: number): Steps<void> {
    const mapper = this.#mapper;
    const point = this.#point;
    switch (field) {
      case DATA.gauge:
        yield* this.#eachPoint(end, LAYOUTS.number, () => mapper.gauge(point, point.value));
        return;
      case DATA.sum: {
        const { temporality, isMonotonic } = yield* this.#readAggregation(end);
        yield* this.#eachPoint(end, LAYOUTS.number, () => mapper.sum(point, point.value, temporality, isMonotonic));
        return;
      }
      case DATA.histogram: {
        const { temporality } = yield* this.#readAggregation(end);
        yield* this.#eachPoint(end, LAYOUTS.histogram, () => mapper.histogram(point, point, point, temporality));
        return;
      }
      case DATA.exponentialHistogram: {
        const { temporality } = yield* this.#readAggregation(end);
        const { exponential } = LAYOUTS;
        yield* this.#eachPoint(end, exponential, () => mapper.exponentialHistogram(point, point, temporality));
        return;
      }
      case DATA.summary:
        yield* this.#eachPoint(end, LAYOUTS.summary, () => mapper.summary(point, point, point.quantiles));
        return;
      default:
        this.#reader.pos = end;
    }
  }

  /** Reads what Sum and the histograms say of all their points, and returns to where it began. */
  *#readAggregation(end: number): Steps<{ temporality: Temporality; isMonotonic: boolean }> {
    const reader = this.#reader;
    const start = reader.pos;
    let temporality: Temporality = 'unspecified';
    let isMonotonic = false;
    for (let fields = 1; reader.nextField(end); fields += 1) {
      if (reader.is(2, WIRE.varint)) temporality = toTemporality(reader.varint(end));
      else if (reader.is(3, WIRE.varint)) isMonotonic = reader.varint(end) !== 0;
      else reader.skip(end);
      if (fields % REST_AFTER_PASSED === 0) yield;
    }
    reader.pos = start;
    return { temporality, isMonotonic };
  }

  /** The data points are field 1 of every kind of data. */
  *#eachPoint(end: number, layout: Layout, take: () => void): Steps<void> {
    yield* this.#eachOfMany(end, 1, (pointEnd) => {
      if (pointEnd - this.#reader.pos > POINT_BYTES_MAX) {
        this.#admission.refuse(`a point of more than ${POINT_BYTES_MAX} bytes`, () => '');
        this.#reader.pos = pointEnd;
        return;
      }
      this.#point.read(pointEnd, layout);
      take();
    });
  }

  /** Calls `read` with the end of each submessage of the field, to be read up to there. */
  *#eachOfMany(end: number, field: number, read: (end: number) => void): Steps<void> {
    const reader = this.#reader;
    for (let fields = 1; reader.nextField(end); fields += 1) {
      if (reader.is(field, WIRE.bytes)) read(reader.message(end));
      else reader.skip(end);
      if (fields % REST_AFTER === 0) yield;
    }
  }

  /** The same for submessages that take steps to read. */
  *#eachInSteps(end: number, field: number, read: (end: number) => Steps<void>): Steps<void> {
    const reader = this.#reader;
    for (let fields = 1; reader.nextField(end); fields += 1) {
      if (reader.is(field, WIRE.bytes)) yield* read(reader.message(end));
      else reader.skip(end);
      if (fields % REST_AFTER === 0) yield;
    }
  }
}
