import { LABEL_BYTES } from '#ingest/protocols/body/read_cost.ts';
import { faultyLabel, type Label, tooLong, UNREAD_LABEL } from '#ingest/admission/labels.ts';
import type { PointAdmission } from '#ingest/admission/point_admission.ts';
import { SpanIndex } from '#ingest/hashing/span_index.ts';
import type { JsonCursor } from '#ingest/protocols/body/json_cursor.ts';
import { checkDepth, toAttributeText, type AttributeValue } from '#ingest/protocols/otlp/attributes.ts';
import { JsonNames, readInteger, readNumber } from '#ingest/protocols/otlp/json_values.ts';
import type { AppError } from '#kernel/errors.ts';

/** Makes the error for a field of the wrong type. */
export type InvalidField = (field: string, expected: string) => AppError;

const VALUE_NAMES = new JsonNames([
  'stringValue',
  'boolValue',
  'intValue',
  'doubleValue',
  'bytesValue',
  'arrayValue',
  'kvlistValue',
]);

/** Attributes in OTLP's JSON; equal ones are decoded only once per request. */
export class JsonAttributes {
  /** Labels of one resource or data point at a time. */
  readonly labels: Label[] = [];
  readonly #cursor: JsonCursor;
  readonly #admission: PointAdmission;
  readonly #invalid: InvalidField;
  readonly #spans: SpanIndex;
  readonly #known: Label[] = [];

  constructor(cursor: JsonCursor, admission: PointAdmission, invalid: InvalidField) {
    this.#cursor = cursor;
    this.#admission = admission;
    this.#invalid = invalid;
    this.#spans = new SpanIndex(cursor.view);
  }

  /** Reads the attribute at which the cursor stands. One label too many is enough to refuse a point. */
  read(labelsMax: number): void {
    const cursor = this.#cursor;
    const start = cursor.pos;
    cursor.skip();
    if (this.labels.length > labelsMax) return;
    const number = this.#spans.numberOf(start, cursor.pos);
    this.labels.push((this.#known[number] ??= this.#decode(start, cursor.pos)));
  }

  #decode(start: number, end: number): Label {
    if (!this.#admission.mayReadLabel(LABEL_BYTES)) return UNREAD_LABEL;
    const cursor = this.#cursor;
    const { textBytesMax } = this.#admission.limits;
    let name = '';
    let value: AttributeValue = '';
    cursor.pos = start;
    cursor.begin();
    while (cursor.nextName()) {
      if (cursor.isTextOf('key')) name = this.#readText('key');
      else if (cursor.isTextOf('value')) value = this.#readField(0);
      else cursor.skip();
    }
    cursor.pos = end;
    const text = toAttributeText(value);
    return text.length > textBytesMax
      ? faultyLabel(name, tooLong('label', textBytesMax))
      : this.#admission.label(name, text);
  }

  /** The value in a field, which may be missing. */
  #readField(depth: number): AttributeValue {
    const cursor = this.#cursor;
    if (cursor.isObject) return this.#readValue(depth);
    if (!cursor.isNull) throw this.#invalid('attributes', 'an object');
    cursor.skip();
    return '';
  }

  #readValue(depth: number): AttributeValue {
    checkDepth(depth);
    const cursor = this.#cursor;
    let value: AttributeValue = '';
    cursor.begin();
    while (cursor.nextName()) {
      const name = VALUE_NAMES.find(cursor);
      if (name === undefined || cursor.isNull) cursor.skip();
      else if (name === 'stringValue' || name === 'bytesValue') value = this.#readText(name);
      else if (name === 'boolValue') value = this.#readFlag(name);
      else if (name === 'intValue') value = this.#readNumber(name, readInteger(cursor));
      else if (name === 'doubleValue') value = this.#readNumber(name, readNumber(cursor));
      else if (!cursor.isObject) throw this.#invalid(name, 'an object');
      else value = name === 'arrayValue' ? this.#readList(depth + 1) : this.#readMap(depth + 1);
    }
    return value;
  }

  #readList(depth: number): AttributeValue {
    const list: AttributeValue[] = [];
    this.#eachValue(() => list.push(this.#readField(depth)));
    return list;
  }

  #readMap(depth: number): AttributeValue {
    const map: Record<string, AttributeValue> = Object.create(null);
    const cursor = this.#cursor;
    this.#eachValue(() => {
      let name = '';
      let value: AttributeValue = '';
      cursor.begin();
      while (cursor.nextName()) {
        if (cursor.isTextOf('key')) name = this.#readText('key');
        else if (cursor.isTextOf('value')) value = this.#readField(depth);
        else cursor.skip();
      }
      map[name] = value;
    });
    return map;
  }

  /** Reads an object with the list "values"; of a list with far too many for a label, the first ones. */
  #eachValue(read: () => void): void {
    const cursor = this.#cursor;
    cursor.begin();
    while (cursor.nextName()) {
      if (!cursor.isTextOf('values') || cursor.isNull) {
        cursor.skip();
        continue;
      }
      if (!cursor.isList) throw this.#invalid('values', 'a list');
      const start = cursor.pos;
      cursor.begin();
      for (let entries = 0; cursor.nextElement(); entries += 1) {
        if (!cursor.isObject) throw this.#invalid('values', 'an object');
        if (entries > this.#admission.limits.textBytesMax) {
          cursor.skipRest(start);
          break;
        }
        read();
      }
    }
  }

  #readText(field: string): string {
    const cursor = this.#cursor;
    if (cursor.isNull) {
      cursor.skip();
      return '';
    }
    if (!cursor.isText) throw this.#invalid(field, 'a string');
    cursor.readText();
    return cursor.text();
  }

  #readFlag(field: string): boolean {
    const cursor = this.#cursor;
    if (cursor.kind() !== 'a boolean') throw this.#invalid(field, 'true or false');
    return cursor.flag();
  }

  #readNumber(field: string, value: number | string | null | undefined): number | string {
    if (value === undefined || value === null) throw this.#invalid(field, 'a number');
    return value;
  }
}
