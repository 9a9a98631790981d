import type { PointAdmission } from '#core/metrics/admission.ts';
import { toTemporality, type MetricMapper, type Temporality } from '#ingest/protocols/otlp/metric_mapper.ts';
import { ProtobufAttributes } from '#ingest/protocols/otlp/protobuf_attributes.ts';
import { LAYOUTS, ProtobufPoint, type Layout } from '#ingest/protocols/otlp/protobuf_point.ts';
import { chooseResourceLabels } from '#ingest/protocols/otlp/resource_labels.ts';
import { decodeText } from '#ingest/protocols/protobuf/decode_text.ts';
import { WIRE, WireReader } from '#ingest/protocols/protobuf/wire_reader.ts';

/** The fields of `Metric` that hold its data, and how the data points in them are laid out. */
const DATA = { gauge: 5, sum: 7, histogram: 9, exponentialHistogram: 10, summary: 11 } as const;

/**
 * Walks a protobuf ExportMetricsServiceRequest. Whatever governs the points (resource, name, temporality) may stand
 * behind them, so each message is walked twice: once for what governs, once for the points.
 */
export class OtlpProtobufDecoder {
  readonly #reader: WireReader;
  readonly #mapper: MetricMapper;
  readonly #attributes: ProtobufAttributes;
  readonly #point: ProtobufPoint;

  constructor(body: Buffer, admission: PointAdmission, mapper: MetricMapper) {
    this.#reader = new WireReader(body, 'ExportMetricsServiceRequest');
    this.#mapper = mapper;
    this.#attributes = new ProtobufAttributes(this.#reader, admission);
    this.#point = new ProtobufPoint(this.#reader, this.#attributes);
  }

  decode(): void {
    this.#each(this.#reader.bytes.length, 1, (end) => this.#readResourceMetrics(end));
  }

  #readResourceMetrics(end: number): void {
    const start = this.#reader.pos;
    this.#mapper.beginResource([]);
    this.#each(end, 1, (resourceEnd) => {
      this.#attributes.clear();
      this.#each(resourceEnd, 1, (attributeEnd) => this.#attributes.read(attributeEnd));
      this.#mapper.beginResource(chooseResourceLabels(this.#attributes.labels));
    });
    this.#reader.pos = start;
    this.#each(end, 2, (scopeEnd) => this.#each(scopeEnd, 2, (metricEnd) => this.#readMetric(metricEnd)));
  }

  #readMetric(end: number): void {
    const reader = this.#reader;
    const start = reader.pos;
    let name: string | null = '';
    this.#each(end, 1, (nameEnd) => {
      name = decodeText(reader.bytes, reader.pos, nameEnd);
      reader.pos = nameEnd;
    });
    this.#mapper.beginMetric(name);
    reader.pos = start;
    while (reader.nextField(end)) {
      const { field, wire } = reader;
      if (wire === WIRE.bytes) this.#readData(field, reader.message(end));
      else reader.skip(end);
    }
  }

  #readData(field: number, end: number): void {
    const mapper = this.#mapper;
    const point = this.#point;
    switch (field) {
      case DATA.gauge:
        this.#eachPoint(end, LAYOUTS.number, () => mapper.gauge(point, point.value));
        return;
      case DATA.sum: {
        const { temporality, isMonotonic } = this.#readAggregation(end);
        this.#eachPoint(end, LAYOUTS.number, () => mapper.sum(point, point.value, temporality, isMonotonic));
        return;
      }
      case DATA.histogram: {
        const { temporality } = this.#readAggregation(end);
        this.#eachPoint(end, LAYOUTS.histogram, () => mapper.histogram(point, point, point, temporality));
        return;
      }
      case DATA.exponentialHistogram: {
        const { temporality } = this.#readAggregation(end);
        const { exponential } = LAYOUTS;
        this.#eachPoint(end, exponential, () => mapper.exponentialHistogram(point, point, temporality));
        return;
      }
      case DATA.summary:
        this.#eachPoint(end, LAYOUTS.summary, () => mapper.summary(point, point, point.quantiles));
        return;
      default:
        this.#reader.pos = end;
    }
  }

  /** Reads what Sum and the histograms say of all their points, and returns to where it began. */
  #readAggregation(end: number): { temporality: Temporality; isMonotonic: boolean } {
    const reader = this.#reader;
    const start = reader.pos;
    let temporality: Temporality = 'unspecified';
    let isMonotonic = false;
    while (reader.nextField(end)) {
      if (reader.is(2, WIRE.varint)) temporality = toTemporality(reader.varint(end));
      else if (reader.is(3, WIRE.varint)) isMonotonic = reader.varint(end) !== 0;
      else reader.skip(end);
    }
    reader.pos = start;
    return { temporality, isMonotonic };
  }

  /** The data points are field 1 of every kind of data. */
  #eachPoint(end: number, layout: Layout, take: () => void): void {
    this.#each(end, 1, (pointEnd) => {
      this.#point.read(pointEnd, layout);
      take();
    });
  }

  /** Calls `read` with the end of each submessage of the field, to be read up to there. */
  #each(end: number, field: number, read: (end: number) => void): void {
    const reader = this.#reader;
    while (reader.nextField(end)) {
      if (reader.is(field, WIRE.bytes)) read(reader.message(end));
      else reader.skip(end);
    }
  }
}
