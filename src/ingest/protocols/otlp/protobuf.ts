import { RESOURCE_ATTRIBUTES_MAX, SCOPE_TEXT_BYTES_MAX } from '#ingest/protocols/otlp/attributes.ts';
import { POINT_BYTES_MAX } from '#ingest/protocols/otlp/point.ts';
import type { PointAdmission } from '#ingest/admission/point_admission.ts';
import type { Steps } from '#kernel/cooperative_task.ts';
import {
  type DataKind,
  type MetricMapper,
  type Temporality,
  toTemporality,
} from '#ingest/protocols/otlp/metric_mapper.ts';
import { ProtobufAttributes } from '#ingest/protocols/otlp/protobuf_attributes.ts';
import { emptyScope, type Scope } from '#ingest/protocols/otlp/stream_labels.ts';
import { LAYOUTS, ProtobufPointReader, type Layout } from '#ingest/protocols/otlp/protobuf_point.ts';
import { decodeText, WIRE, WireReader } from '#ingest/protocols/body/protobuf_wire.ts';

/** Fields are so quick to read that to rest after each would take longer. */
const REST_AFTER = 128;

/**
 * Part being read. Whatever governs the points (resource, name, temporality) may stand behind them, so messages that
 * hold both are walked twice: once for what governs, once for the rest.
 */
type Part =
  | 'request'
  | 'resource of resource metrics'
  | 'resource'
  | 'scopes of resource metrics'
  | 'scope of scope metrics'
  | 'scope'
  | 'metrics of scope metrics'
  | 'name of metric'
  | 'data of metric'
  | 'aggregation of data'
  | 'points of data';

/** The fields of `Metric` that hold its data, with its kind and layout. */
const DATA_OF: ReadonlyMap<number, readonly [DataKind, Layout]> = new Map<number, readonly [DataKind, Layout]>([
  [5, ['gauge', LAYOUTS.number]],
  [7, ['sum', LAYOUTS.number]],
  [9, ['histogram', LAYOUTS.histogram]],
  [10, ['exponentialHistogram', LAYOUTS.exponential]],
  [11, ['summary', LAYOUTS.summary]],
]);

/**
 * Walks a protobuf ExportMetricsServiceRequest. One loop over the fields of all messages, with the messages that are open
 * in `#open`: a call for each message would take longer than reading those that hold nothing.
 */
export class OtlpProtobufDecoder {
  readonly #reader: WireReader;
  readonly #admission: PointAdmission;
  readonly #mapper: MetricMapper;
  readonly #attributes: ProtobufAttributes;
  readonly #points: ProtobufPointReader;
  /** The messages around the one being read, outermost first: what each is, where it begins and where it ends. */
  readonly #open: Part[] = [];
  readonly #starts: number[] = [];
  readonly #ends: number[] = [];
  #part: Part = 'request';
  #start = 0;
  #end: number;
  #scope: Scope;
  /** Position of the metric's name. */
  #nameStart = 0;
  #nameEnd = 0;
  #unitStart = 0;
  #unitEnd = 0;
  /** Field of the data, its layout, and the properties of all its points. */
  #data: DataKind = 'gauge';
  #layout: Layout = LAYOUTS.number;
  #temporality: Temporality = 'unspecified';
  #isMonotonic = false;
  readonly #noPlace = (): string => '';

  constructor(body: Buffer, admission: PointAdmission, mapper: MetricMapper) {
    this.#reader = new WireReader(body, 'ExportMetricsServiceRequest');
    this.#admission = admission;
    this.#mapper = mapper;
    this.#attributes = new ProtobufAttributes(this.#reader, admission);
    this.#points = new ProtobufPointReader(this.#reader, this.#attributes);
    this.#end = body.length;
    this.#scope = emptyScope(this.#attributes.labels);
    mapper.unit = () => decodeText(body, this.#unitStart, this.#unitEnd) ?? '';
  }

  *decode(): Steps<void> {
    const reader = this.#reader;
    for (let fields = 1; ; fields += 1) {
      if (fields % REST_AFTER === 0) yield;
      if (reader.nextField(this.#end)) this.#readField();
      else if (!this.#leave()) return;
    }
  }

  /** Reads a field of the open message. */
  #readField(): void {
    const reader = this.#reader;
    const { field } = reader;
    if (reader.wire !== WIRE.bytes) {
      if (this.#part === 'aggregation of data') this.#readAggregation(field);
      else reader.skip(this.#end);
      return;
    }
    const end = reader.message(this.#end);
    switch (this.#part) {
      case 'request':
        if (field !== 1) reader.pos = end;
        else if (this.#enter('resource of resource metrics', end)) this.#mapper.beginResource([]);
        return;
      case 'resource of resource metrics':
        if (field !== 1) reader.pos = end;
        else if (this.#enter('resource', end)) this.#attributes.clear();
        return;
      case 'resource':
        if (field === 1) this.#attributes.read(end, RESOURCE_ATTRIBUTES_MAX);
        else reader.pos = end;
        return;
      case 'scopes of resource metrics':
        if (field !== 2) reader.pos = end;
        else if (this.#enter('scope of scope metrics', end)) this.#beginScope();
        return;
      case 'scope of scope metrics':
        if (field === 3) this.#scope.schemaUrl = this.#readScopeText(end);
        else if (field !== 1 || !this.#enter('scope', end)) reader.pos = end;
        return;
      case 'scope':
        this.#readScope(field, end);
        return;
      case 'metrics of scope metrics':
        if (field === 2) this.#enterMetric(end);
        else reader.pos = end;
        return;
      case 'name of metric':
        if (field === 1) [this.#nameStart, this.#nameEnd] = [reader.pos, end];
        else if (field === 3) [this.#unitStart, this.#unitEnd] = [reader.pos, end];
        reader.pos = end;
        return;
      case 'data of metric':
        this.#enterData(field, end);
        return;
      case 'aggregation of data':
        reader.pos = end;
        return;
      case 'points of data':
        if (field === 1) this.#readPoint(end);
        else reader.pos = end;
    }
  }

  /** Opens a message; false for an empty one, which says nothing. */
  #enter(part: Part, end: number): boolean {
    const { pos } = this.#reader;
    if (pos === end) return false;
    this.#open.push(this.#part);
    this.#starts.push(this.#start);
    this.#ends.push(this.#end);
    this.#part = part;
    this.#start = pos;
    this.#end = end;
    return true;
  }

  /** Ends a message: walks it again, or returns to the one around it; false if there is none. */
  #leave(): boolean {
    switch (this.#part) {
      case 'request':
        return false;
      case 'resource of resource metrics':
        return this.#walkAgain('scopes of resource metrics');
      case 'scope of scope metrics':
        this.#mapper.beginScope(this.#scope);
        return this.#walkAgain('metrics of scope metrics');
      case 'name of metric':
        this.#mapper.beginMetric(decodeText(this.#reader.bytes, this.#nameStart, this.#nameEnd));
        return this.#walkAgain('data of metric');
      case 'aggregation of data':
        return this.#walkAgain('points of data');
      case 'resource':
        this.#mapper.beginResource(this.#attributes.labels);
        break;
      case 'scope':
      case 'scopes of resource metrics':
      case 'metrics of scope metrics':
      case 'data of metric':
      case 'points of data':
    }
    this.#part = this.#open.pop() ?? 'request';
    this.#start = this.#starts.pop() ?? 0;
    this.#end = this.#ends.pop() ?? 0;
    return true;
  }

  #walkAgain(part: Part): true {
    this.#part = part;
    this.#reader.pos = this.#start;
    return true;
  }

  #beginScope(): void {
    this.#attributes.clear();
    this.#scope = emptyScope(this.#attributes.labels);
  }

  #readScope(field: number, end: number): void {
    if (field === 1) this.#scope.name = this.#readScopeText(end);
    else if (field === 2) this.#scope.version = this.#readScopeText(end);
    else if (field === 3) this.#attributes.read(end);
    else this.#reader.pos = end;
  }

  /** Texts that are too long or no text are as if they were missing. */
  #readScopeText(end: number): string {
    const reader = this.#reader;
    const { pos } = reader;
    reader.pos = end;
    return end - pos > SCOPE_TEXT_BYTES_MAX ? '' : (decodeText(reader.bytes, pos, end) ?? '');
  }

  #enterMetric(end: number): void {
    this.#nameStart = 0;
    this.#nameEnd = 0;
    this.#unitStart = 0;
    this.#unitEnd = 0;
    this.#enter('name of metric', end);
  }

  #enterData(field: number, end: number): void {
    const data = DATA_OF.get(field);
    if (data === undefined) {
      this.#reader.pos = end;
      return;
    }
    [this.#data, this.#layout] = data;
    this.#temporality = 'unspecified';
    this.#isMonotonic = false;
    this.#enter('aggregation of data', end);
  }

  /** Reads the properties that Sum and the histograms declare for all their points. */
  #readAggregation(field: number): void {
    const reader = this.#reader;
    if (reader.wire !== WIRE.varint) reader.skip(this.#end);
    else if (field === 2) this.#temporality = toTemporality(reader.varint(this.#end));
    else if (field === 3) this.#isMonotonic = reader.varint(this.#end) !== 0;
    else reader.skip(this.#end);
  }

  /** The data points are field 1 of every kind of data. */
  #readPoint(end: number): void {
    const reader = this.#reader;
    if (!this.#admission.hasCapacityFor(1)) this.#refuse(this.#admission.fullMessage, end);
    else if (end - reader.pos > POINT_BYTES_MAX) this.#refuse(`a point of more than ${POINT_BYTES_MAX} bytes`, end);
    else {
      const point = this.#points.read(end, this.#layout);
      this.#mapper.take(this.#data, point, this.#temporality, this.#isMonotonic);
    }
  }

  #refuse(message: string, end: number): void {
    this.#admission.refuse(message, this.#noPlace);
    this.#reader.pos = end;
  }
}
