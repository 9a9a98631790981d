import type { JsonCursor } from '#ingest/protocols/body/json_cursor.ts';
import {
  type InvalidField,
  type JsonAttributes,
  JsonNames,
  readNumber,
  skipUnknown,
} from '#ingest/protocols/otlp/json_attributes.ts';
import {
  EXEMPLARS_MAX,
  type ExponentialSide,
  type OtlpExemplar,
  OtlpPoint,
  QUANTILES_MAX,
} from '#ingest/protocols/otlp/point.ts';

const NO_RECORDED_VALUE = 1;
const ID_DIGITS_MAX = 32;

const NAMES = new JsonNames([
  'attributes',
  'timeUnixNano',
  'startTimeUnixNano',
  'flags',
  'asDouble',
  'asInt',
  'count',
  'sum',
  'min',
  'max',
  'bucketCounts',
  'explicitBounds',
  'quantileValues',
  'scale',
  'zeroCount',
  'zeroThreshold',
  'positive',
  'negative',
  'exemplars',
]);
const EXEMPLAR_NAMES = new JsonNames(['timeUnixNano', 'asDouble', 'asInt', 'traceId', 'spanId']);
const SIDE_NAMES = new JsonNames(['offset', 'bucketCounts']);
const QUANTILE_NAMES = new JsonNames(['quantile', 'value']);

/** Reads data points of any kind into one `OtlpPoint`, in OTLP's JSON. */
export class JsonPointReader {
  readonly #cursor: JsonCursor;
  readonly #attributes: JsonAttributes;
  readonly #invalid: InvalidField;
  readonly #point: OtlpPoint;
  readonly #labelsMax: number;

  constructor(cursor: JsonCursor, attributes: JsonAttributes, labelsMax: number, invalid: InvalidField) {
    this.#cursor = cursor;
    this.#attributes = attributes;
    this.#labelsMax = labelsMax;
    this.#invalid = invalid;
    this.#point = new OtlpPoint(attributes.labels);
  }

  /** Reads the point at which the cursor stands. */
  read(): OtlpPoint {
    const cursor = this.#cursor;
    const point = this.#point;
    point.clear();
    let asDouble: number | null = null;
    let asInt: number | null = null;
    cursor.begin();
    while (cursor.nextName()) {
      const name = NAMES.find(cursor);
      if (name === undefined || cursor.isNull) {
        if (name === undefined) skipUnknown(cursor);
        else cursor.skip();
        continue;
      }
      switch (name) {
        case 'attributes':
          this.#each(name, () => {
            if (!cursor.isObject) throw this.#invalid(name, 'an object');
            this.#attributes.read(this.#labelsMax);
          });
          break;
        case 'flags':
          point.hasNoValue = this.#number(name) % 2 === NO_RECORDED_VALUE;
          break;
        case 'asDouble':
          asDouble = this.#number(name);
          break;
        case 'asInt':
          asInt = this.#number(name);
          break;
        case 'bucketCounts':
          this.#numbers(name, point.counts);
          break;
        case 'explicitBounds':
          this.#numbers(name, point.bounds);
          break;
        case 'quantileValues':
          this.#each(name, () => this.#readQuantile());
          break;
        case 'exemplars':
          this.#each(name, () => this.#readExemplar());
          break;
        case 'positive':
        case 'negative':
          this.#readSide(name, point[name]);
          break;
        case 'timeUnixNano':
        case 'startTimeUnixNano':
        case 'count':
        case 'sum':
        case 'min':
        case 'max':
        case 'scale':
        case 'zeroCount':
        case 'zeroThreshold':
          point[name] = this.#number(name);
      }
    }
    point.value = asDouble ?? asInt;
    return point;
  }

  readFlag(field: string): boolean {
    const cursor = this.#cursor;
    if (cursor.isNull) {
      cursor.skip();
      return false;
    }
    if (cursor.kind() !== 'a boolean') throw this.#invalid(field, 'true or false');
    return cursor.flag();
  }

  #readQuantile(): void {
    const cursor = this.#cursor;
    if (this.#point.quantiles.length > QUANTILES_MAX) {
      cursor.skip();
      return;
    }
    const quantile = { quantile: 0, value: 0 };
    if (!cursor.isObject) throw this.#invalid('quantileValues', 'an object');
    cursor.begin();
    while (cursor.nextName()) {
      const name = QUANTILE_NAMES.find(cursor);
      if (name === undefined || cursor.isNull) cursor.skip();
      else quantile[name] = this.#number(name);
    }
    this.#point.quantiles.push(quantile);
  }

  /** Reads an exemplar; drops a malformed one, which is only a hint. */
  #readExemplar(): void {
    const cursor = this.#cursor;
    if (this.#point.exemplars.length >= EXEMPLARS_MAX || !cursor.isObject) {
      cursor.skip();
      return;
    }
    const otlpExemplar: OtlpExemplar = { timeUnixNano: 0, value: Number.NaN, traceId: '', spanId: '' };
    cursor.begin();
    while (cursor.nextName()) {
      const name = EXEMPLAR_NAMES.find(cursor);
      if (name === undefined || cursor.isNull) cursor.skip();
      else if (name === 'traceId' || name === 'spanId') otlpExemplar[name] = this.#id();
      else if (!cursor.isNumber && !cursor.isText) cursor.skip();
      else if (name === 'timeUnixNano') otlpExemplar.timeUnixNano = readNumber(cursor) ?? 0;
      else otlpExemplar.value = readNumber(cursor) ?? Number.NaN;
    }
    this.#point.exemplars.push(otlpExemplar);
  }

  /** Returns an id in hex digits; empty if it is none. */
  #id(): string {
    const cursor = this.#cursor;
    if (!cursor.isText) {
      cursor.skip();
      return '';
    }
    cursor.readText();
    return cursor.textEnd - cursor.textStart > ID_DIGITS_MAX ? '' : cursor.text();
  }

  #readSide(field: string, side: ExponentialSide): void {
    const cursor = this.#cursor;
    if (!cursor.isObject) throw this.#invalid(field, 'an object');
    cursor.begin();
    while (cursor.nextName()) {
      const name = SIDE_NAMES.find(cursor);
      if (name === undefined) skipUnknown(cursor);
      else if (cursor.isNull) cursor.skip();
      else if (name === 'offset') side.offset = this.#number(name);
      else this.#numbers(name, side.counts);
    }
  }

  #number(field: string): number {
    const value = readNumber(this.#cursor);
    if (value === undefined) throw this.#invalid(field, 'a number');
    return value ?? 0;
  }

  #numbers(field: string, into: number[]): void {
    into.length = 0;
    this.#each(field, () => {
      if (this.#cursor.isNull) throw this.#invalid(field, 'a number');
      into.push(this.#number(field));
    });
  }

  #each(field: string, read: () => void): void {
    const cursor = this.#cursor;
    if (!cursor.isList) throw this.#invalid(field, 'a list');
    cursor.begin();
    while (cursor.nextElement()) read();
  }
}
