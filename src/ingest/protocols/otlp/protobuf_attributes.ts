import { LABEL_BYTES } from '#ingest/protocols/body/json_cursor.ts';
import type { PointAdmission } from '#ingest/admission/point_admission.ts';
import { emptyLabels, faultyLabel, tooLong, type Label, UNREAD_LABEL } from '#ingest/admission/labels.ts';
import { SpanIndex } from '#ingest/hashing/span_index.ts';
import { checkDepth, toAttributeText, type AttributeValue } from '#ingest/protocols/otlp/attributes.ts';
import { decodeText, NOT_UTF8, WIRE, type WireReader } from '#ingest/protocols/body/protobuf_wire.ts';

/** The attributes of one resource or data point at a time; equal ones are decoded only once per request. */
export class ProtobufAttributes {
  readonly labels: Label[] = [];
  readonly #reader: WireReader;
  readonly #admission: PointAdmission;
  readonly #spans: SpanIndex;
  readonly #decoded: Label[] = [];

  constructor(reader: WireReader, admission: PointAdmission) {
    this.#reader = reader;
    this.#admission = admission;
    this.#spans = new SpanIndex(reader.view);
  }

  clear(): void {
    emptyLabels(this.labels);
  }

  /** Reads one KeyValue. Decodes no text if the point will be refused, for which one label too many is enough. */
  read(end: number, labelsMax = this.#admission.limits.labelsMax): void {
    const reader = this.#reader;
    if (this.labels.length <= labelsMax && this.#admission.hasCapacityFor(1)) {
      const number = this.#spans.numberOf(reader.pos, end);
      this.labels.push((this.#decoded[number] ??= this.#decode(end)));
    }
    reader.pos = end;
  }

  #decode(end: number): Label {
    if (!this.#admission.mayReadLabel(LABEL_BYTES)) return UNREAD_LABEL;
    const { name, value } = this.#readKeyValue(end, 0);
    if (name === null || value === null) return faultyLabel(name ?? '', NOT_UTF8);
    const { textBytesMax } = this.#admission.limits;
    const text = toAttributeText(value);
    return text.length > textBytesMax
      ? faultyLabel(name, tooLong('label', textBytesMax))
      : this.#admission.label(name, text);
  }

  /**
   * Reads an attribute. Null stands for text that is not UTF-8, in the value too. A missing value is the empty text.
   */
  #readKeyValue(end: number, depth: number): { name: string | null; value: AttributeValue } {
    const reader = this.#reader;
    let name: string | null = '';
    let value: AttributeValue = '';
    while (reader.nextField(end)) {
      if (reader.is(1, WIRE.bytes)) name = this.#readText(end);
      else if (reader.is(2, WIRE.bytes)) value = this.#readValue(reader.message(end), depth);
      else reader.skip(end);
    }
    return { name, value };
  }

  #readValue(end: number, depth: number): AttributeValue {
    checkDepth(depth);
    const reader = this.#reader;
    let value: AttributeValue = '';
    while (reader.nextField(end)) {
      if (reader.is(1, WIRE.bytes)) value = this.#readText(end);
      else if (reader.is(2, WIRE.varint)) value = reader.varint(end) !== 0;
      else if (reader.is(3, WIRE.varint)) value = reader.int64Exact(end);
      else if (reader.is(4, WIRE.fixed64)) value = reader.double(end);
      else if (reader.is(5, WIRE.bytes)) value = this.#readList(reader.message(end), depth + 1);
      else if (reader.is(6, WIRE.bytes)) value = this.#readMap(reader.message(end), depth + 1);
      else if (reader.is(7, WIRE.bytes)) value = this.#readBytes(end);
      else reader.skip(end);
    }
    return value;
  }

  #readList(end: number, depth: number): AttributeValue {
    const reader = this.#reader;
    const list: AttributeValue[] = [];
    while (reader.nextField(end)) {
      if (reader.is(1, WIRE.bytes)) list.push(this.#readValue(reader.message(end), depth));
      else reader.skip(end);
    }
    return list;
  }

  #readMap(end: number, depth: number): AttributeValue {
    const reader = this.#reader;
    const map: Record<string, AttributeValue> = Object.create(null);
    while (reader.nextField(end)) {
      if (!reader.is(1, WIRE.bytes)) {
        reader.skip(end);
        continue;
      }
      const { name, value } = this.#readKeyValue(reader.message(end), depth);
      map[name ?? ''] = value;
    }
    return map;
  }

  #readText(end: number): string | null {
    const reader = this.#reader;
    const textEnd = reader.message(end);
    const text = decodeText(reader.bytes, reader.pos, textEnd);
    reader.pos = textEnd;
    return text;
  }

  #readBytes(end: number): string {
    const reader = this.#reader;
    const bytesEnd = reader.message(end);
    const text = reader.bytes.toString('base64', reader.pos, bytesEnd);
    reader.pos = bytesEnd;
    return text;
  }
}
