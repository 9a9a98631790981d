import { faultyLabel, type Label, tooLong, UNREAD_LABEL } from '#ingest/admission/labels.ts';
import type { PointAdmission } from '#ingest/admission/point_admission.ts';
import { SpanIndex } from '#ingest/hashing/span_index.ts';
import { type JsonCursor, LABEL_BYTES } from '#ingest/protocols/body/json_cursor.ts';
import { type AttributeValue, checkDepth, toAttributeText } from '#ingest/protocols/otlp/attributes.ts';
import { AppError } from '#kernel/errors.ts';

const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;
const NUMBER_BYTES_MAX = 400;
const NOT_FINITE: ReadonlyMap<string, number> = new Map([
  ['NaN', Number.NaN],
  ['Infinity', Infinity],
  ['-Infinity', -Infinity],
]);
const ZERO = 0x30;
/** Limit on the digits before the last ten, for values up to 2^63. */
const HIGH_MAX = 922_337_203;

/**
 * Protobuf's JSON mapping of a number: as a number, or as a text, as 64-bit integers are written; a missing one is null.
 * Undefined if it is neither. Reads the value at which the cursor stands.
 */
export function readNumber(cursor: JsonCursor): number | null | undefined {
  if (cursor.isNumber) return cursor.number();
  if (cursor.isNull) {
    cursor.skip();
    return null;
  }
  if (!cursor.isText) return undefined;
  cursor.readText();
  const digits = wholeNumber(cursor);
  if (digits !== -1) return digits;
  if (cursor.textEnd - cursor.textStart > NUMBER_BYTES_MAX) return undefined;
  const text = cursor.text();
  return NOT_FINITE.get(text) ?? (NUMBER.test(text) ? Number(text) : undefined);
}

/** The text read last, if it is a whole number of up to 19 digits as times and counts are; else -1. */
function wholeNumber({ bytes, textStart, textEnd }: JsonCursor): number {
  const length = textEnd - textStart;
  if (length === 0 || length > 19) return -1;
  let high = 0;
  let low = 0;
  for (let at = textStart; at < textEnd; at += 1) {
    const digit = (bytes[at] ?? 0) - ZERO;
    if (digit < 0 || digit > 9) return -1;
    if (textEnd - at > 10) high = high * 10 + digit;
    else low = low * 10 + digit;
  }
  if (high > HIGH_MAX) return -1;
  // Both are exact, so the sum is rounded once, as the number itself would be.
  return high * 1e10 + low;
}

/** An integer for a label: as a text if a number would lose digits. Undefined as in `readNumber`. */
function readInteger(cursor: JsonCursor): number | string | null | undefined {
  const isText = cursor.isText;
  const value = readNumber(cursor);
  return isText && typeof value === 'number' && !Number.isSafeInteger(value) ? cursor.text() : value;
}

/** Names that are told apart by their bytes, without decoding them. */
export class JsonNames<Name extends string> {
  readonly #byLength: Name[][] = [];

  constructor(names: readonly Name[]) {
    for (const name of names) (this.#byLength[name.length] ??= []).push(name);
  }

  /** The one that the text read last is; undefined for any other. */
  find(cursor: JsonCursor): Name | undefined {
    const candidates = this.#byLength[cursor.textLength];
    if (candidates === undefined) return undefined;
    for (const name of candidates) if (cursor.isTextOf(name)) return name;
    return undefined;
  }
}

const OTHER_SIGNALS = ['resourceLogs', 'resourceSpans', 'resourceProfiles'] as const;

/** Skips a property of a request that is not known. Throws for another signal: its sender would take the answer for a yes. */
export function skipOfRequest(cursor: JsonCursor): void {
  const signal = OTHER_SIGNALS.find((name) => cursor.isTextOf(name));
  if (signal !== undefined) {
    throw new AppError('invalid_input', `${signal} are not kept: this address takes metrics (resourceMetrics) only`);
  }
  skipUnknown(cursor);
}

/** Known names in the spelling of protobuf, or of OTLP before it was stable, and the names that they mean. */
const MISSPELT = new Map([
  ['instrumentationLibraryMetrics', 'scopeMetrics'],
  ...(
    'resourceMetrics scopeMetrics exponentialHistogram dataPoints isMonotonic aggregationTemporality timeUnixNano ' +
    'startTimeUnixNano asDouble asInt bucketCounts explicitBounds quantileValues zeroCount zeroThreshold stringValue ' +
    'boolValue intValue doubleValue bytesValue arrayValue kvlistValue'
  )
    .split(' ')
    .map((name): [string, string] => [name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), name]),
]);
const MISSPELT_NAMES = new JsonNames([...MISSPELT.keys()]);

/**
 * Skips a property that is not known, as OTLP asks. Throws for a known one in another spelling: its points would be lost,
 * or be others than its sender means, and the answer would say yes.
 */
export function skipUnknown(cursor: JsonCursor): void {
  const sent = MISSPELT_NAMES.find(cursor);
  if (sent === undefined) return cursor.skip();
  throw new AppError('invalid_input', `${sent} is not known in OTLP's JSON: send ${MISSPELT.get(sent) ?? ''}`);
}

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
  readonly #decoded: Label[] = [];

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
    this.labels.push((this.#decoded[number] ??= this.#decode(start, cursor.pos)));
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
      if (name === undefined) skipUnknown(cursor);
      else if (cursor.isNull) cursor.skip();
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
