import type { Label } from '#core/metrics/labels.ts';
import { checkDepth, toAttributeText, type AttributeValue } from '#ingest/protocols/otlp/attributes.ts';
import { OtlpJsonReader, type JsonObject } from '#ingest/protocols/otlp/json_reader.ts';
import {
  toTemporality,
  type MetricMapper,
  type PointHead,
  type Temporality,
  type Totals,
} from '#ingest/protocols/otlp/metric_mapper.ts';
import { chooseResourceLabels } from '#ingest/protocols/otlp/resource_labels.ts';

const NO_RECORDED_VALUE = 1;

/** Walks an ExportMetricsServiceRequest in OTLP's JSON: unknown fields are passed over, as OTLP asks. */
export class OtlpJsonDecoder {
  readonly #reader = new OtlpJsonReader();
  readonly #mapper: MetricMapper;

  constructor(mapper: MetricMapper) {
    this.#mapper = mapper;
  }

  decode(body: Buffer): void {
    const reader = this.#reader;
    reader.each(reader.parse(body), 'resourceMetrics', (resourceMetrics) => {
      this.#mapper.beginResource([]);
      reader.inside(resourceMetrics, 'resource', (resource) => {
        this.#mapper.beginResource(chooseResourceLabels(this.#labels(resource)));
      });
      reader.each(resourceMetrics, 'scopeMetrics', (scopeMetrics) => {
        reader.each(scopeMetrics, 'metrics', (metric) => this.#readMetric(metric));
      });
    });
  }

  #readMetric(metric: JsonObject): void {
    const reader = this.#reader;
    const mapper = this.#mapper;
    mapper.beginMetric(reader.text(metric, 'name'));
    this.#eachPoint(metric, 'gauge', (point, head) => mapper.gauge(head, this.#value(point)));
    this.#eachPoint(metric, 'sum', (point, head, temporality, data) => {
      mapper.sum(head, this.#value(point), temporality, reader.flag(data, 'isMonotonic'));
    });
    this.#eachPoint(metric, 'histogram', (point, head, temporality) => {
      const buckets = {
        bounds: reader.numbers(point, 'explicitBounds'),
        counts: reader.numbers(point, 'bucketCounts'),
      };
      mapper.histogram(head, this.#totals(point), buckets, temporality);
    });
    this.#eachPoint(metric, 'exponentialHistogram', (point, head, temporality) => {
      mapper.exponentialHistogram(head, this.#totals(point), temporality);
    });
    this.#eachPoint(metric, 'summary', (point, head) => {
      const quantiles: { quantile: number; value: number }[] = [];
      reader.each(point, 'quantileValues', (entry) => {
        quantiles.push({ quantile: reader.number(entry, 'quantile') ?? 0, value: reader.number(entry, 'value') ?? 0 });
      });
      mapper.summary(head, this.#totals(point), quantiles);
    });
  }

  #eachPoint(
    metric: JsonObject,
    kind: string,
    take: (point: JsonObject, head: PointHead, temporality: Temporality, data: JsonObject) => void,
  ): void {
    const reader = this.#reader;
    reader.inside(metric, kind, (data) => {
      const temporality = toTemporality(reader.enumeration(data, 'aggregationTemporality', TEMPORALITIES));
      reader.each(data, 'dataPoints', (point) => take(point, this.#head(point), temporality, data));
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
      const value = this.#reader.object(attribute, 'value');
      const text = value === null ? '' : toAttributeText(this.#readValue(value, 0));
      labels.push(this.#mapper.labels.of(this.#reader.text(attribute, 'key'), text));
    });
    return labels;
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
