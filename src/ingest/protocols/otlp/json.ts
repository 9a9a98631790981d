import type { Label } from '#ingest/admission/labels.ts';
import { checkDepth, toAttributeText, type AttributeValue } from '#ingest/protocols/otlp/attributes.ts';
import { OtlpJsonReader, type JsonObject } from '#ingest/protocols/otlp/json_reader.ts';
import {
  toTemporality,
  type MetricMapper,
  type PointHead,
  type Temporality,
  type Totals,
} from '#ingest/protocols/otlp/metric_mapper.ts';
import type { Steps } from '#ingest/protocols/body/steps.ts';
import { chooseResourceLabels } from '#ingest/protocols/otlp/resource_labels.ts';

const NO_RECORDED_VALUE = 1;

/** Decodes an ExportMetricsServiceRequest in OTLP's JSON; unknown fields are ignored, as OTLP requires. */
export class OtlpJsonDecoder {
  readonly #reader = new OtlpJsonReader();
  readonly #mapper: MetricMapper;

  readonly #labelsMax: number;

  constructor(mapper: MetricMapper, labelsMax: number) {
    this.#mapper = mapper;
    this.#labelsMax = labelsMax;
  }

  *decode(body: Buffer): Steps<void> {
    const reader = this.#reader;
    const request = yield* reader.parse(body);
    yield* reader.eachInSteps(request, 'resourceMetrics', (resourceMetrics) => this.#readResource(resourceMetrics));
  }

  *#readResource(resourceMetrics: JsonObject): Steps<void> {
    const reader = this.#reader;
    this.#mapper.beginResource([]);
    const resource = reader.object(resourceMetrics, 'resource');
    if (resource !== null) {
      const labels: Label[] = [];
      yield* reader.inside(resourceMetrics, 'resource', () =>
        reader.eachOfMany(resource, 'attributes', (attribute) => labels.push(this.#label(attribute))),
      );
      this.#mapper.beginResource(chooseResourceLabels(labels));
    }
    yield* reader.eachInSteps(resourceMetrics, 'scopeMetrics', (scopeMetrics) =>
      reader.eachInSteps(scopeMetrics, 'metrics', (metric) => this.#readMetric(metric)),
    );
  }

  *#readMetric(metric: JsonObject): Steps<void> {
    const reader = this.#reader;
    const mapper = this.#mapper;
    mapper.beginMetric(reader.text(metric, 'name'));
    yield* this.#eachPoint(metric, 'gauge', (point, head) => mapper.gauge(head, this.#value(point)));
    yield* this.#eachPoint(metric, 'sum', (point, head, temporality, data) => {
      mapper.sum(head, this.#value(point), temporality, reader.flag(data, 'isMonotonic'));
    });
    yield* this.#eachPoint(metric, 'histogram', (point, head, temporality) => {
      const buckets = {
        bounds: reader.numbers(point, 'explicitBounds'),
        counts: reader.numbers(point, 'bucketCounts'),
      };
      mapper.histogram(head, this.#totals(point), buckets, temporality);
    });
    yield* this.#eachPoint(metric, 'exponentialHistogram', (point, head, temporality) => {
      mapper.exponentialHistogram(head, this.#totals(point), temporality);
    });
    yield* this.#eachPoint(metric, 'summary', (point, head) => {
      const quantiles: { quantile: number; value: number }[] = [];
      reader.each(point, 'quantileValues', (entry) => {
        quantiles.push({ quantile: reader.number(entry, 'quantile') ?? 0, value: reader.number(entry, 'value') ?? 0 });
      });
      mapper.summary(head, this.#totals(point), quantiles);
    });
  }

  *#eachPoint(
    metric: JsonObject,
    kind: string,
    take: (point: JsonObject, head: PointHead, temporality: Temporality, data: JsonObject) => void,
  ): Steps<void> {
    const reader = this.#reader;
    yield* reader.inside(metric, kind, (data) => {
      const temporality = toTemporality(reader.enumeration(data, 'aggregationTemporality', TEMPORALITIES));
      return reader.eachOfMany(data, 'dataPoints', (point) => take(point, this.#head(point), temporality, data));
    });
  }

  #head(point: JsonObject): PointHead {
    const flags = this.#reader.number(point, 'flags') ?? 0;
    return {
      labels: this.#labels(point),
      timeUnixNano: this.#reader.number(point, 'timeUnixNano') ?? 0,
      hasNoValue: flags % 2 === NO_RECORDED_VALUE,
    };
  }

  #value(point: JsonObject): number | null {
    return this.#reader.number(point, 'asDouble') ?? this.#reader.number(point, 'asInt');
  }

  #totals(point: JsonObject): Totals {
    const reader = this.#reader;
    return {
      count: reader.number(point, 'count') ?? 0,
      sum: reader.number(point, 'sum'),
      min: reader.number(point, 'min'),
      max: reader.number(point, 'max'),
    };
  }

  #labels(owner: JsonObject): readonly Label[] {
    const labels: Label[] = [];
    this.#reader.each(owner, 'attributes', (attribute) => {
      // One label too many is enough to refuse the point.
      if (labels.length <= this.#labelsMax) labels.push(this.#label(attribute));
    });
    return labels;
  }

  #label(attribute: JsonObject): Label {
    const value = this.#reader.object(attribute, 'value');
    const text = value === null ? '' : toAttributeText(this.#readValue(value, 0));
    return this.#mapper.labels.of(this.#reader.text(attribute, 'key'), text);
  }

  #readValue(value: JsonObject, depth: number): AttributeValue {
    checkDepth(depth);
    const reader = this.#reader;
    if (reader.has(value, 'stringValue')) return reader.text(value, 'stringValue');
    if (reader.has(value, 'boolValue')) return reader.flag(value, 'boolValue');
    if (reader.has(value, 'intValue')) return reader.integer(value, 'intValue');
    if (reader.has(value, 'doubleValue')) return reader.number(value, 'doubleValue');
    if (reader.has(value, 'bytesValue')) return reader.text(value, 'bytesValue');
    const list = reader.object(value, 'arrayValue');
    if (list !== null) {
      const values: AttributeValue[] = [];
      reader.each(list, 'values', (entry) => values.push(this.#readValue(entry, depth + 1)));
      return values;
    }
    const map = reader.object(value, 'kvlistValue');
    return map === null ? '' : this.#readMap(map, depth + 1);
  }

  #readMap(map: JsonObject, depth: number): AttributeValue {
    const reader = this.#reader;
    const values: Record<string, AttributeValue> = Object.create(null);
    reader.each(map, 'values', (entry) => {
      const value = reader.object(entry, 'value');
      values[reader.text(entry, 'key')] = value === null ? '' : this.#readValue(value, depth);
    });
    return values;
  }
}

const TEMPORALITIES = [
  'AGGREGATION_TEMPORALITY_UNSPECIFIED',
  'AGGREGATION_TEMPORALITY_DELTA',
  'AGGREGATION_TEMPORALITY_CUMULATIVE',
];
