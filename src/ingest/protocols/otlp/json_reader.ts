import { checkUtf8 } from '#ingest/protocols/body/decode_utf8.ts';
import { JSON_VALUES_MAX, parseInSteps, UnreasonableJson } from '#ingest/protocols/body/json_in_steps.ts';
import type { Steps } from '#ingest/protocols/body/steps.ts';
import { AppError, type Fault } from '#kernel/errors.ts';

export type JsonObject = Readonly<Record<string, unknown>>;

const PAUSE_AFTER = 128;
const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;
const NOT_FINITE: ReadonlyMap<string, number> = new Map([
  ['NaN', Number.NaN],
  ['Infinity', Infinity],
  ['-Infinity', -Infinity],
]);

/**
 * Reads protobuf's JSON mapping: a missing or null field has its default, and 64-bit integers may be strings. A field of
 * the wrong type makes the whole body `invalid_input`, with its path (`resourceMetrics[0].scopeMetrics`).
 */
export class OtlpJsonReader {
  /** The path of the object being read: names and positions. */
  readonly #path: (string | number)[] = [];

  *parse(body: Buffer): Steps<JsonObject> {
    checkUtf8(body);
    let parsed: unknown;
    try {
      parsed = yield* parseInSteps(body, JSON_VALUES_MAX);
    } catch (cause) {
      const why = cause instanceof UnreasonableJson ? `cannot be read: ${cause.message}` : 'is not JSON';
      throw new AppError('invalid_input', `the body ${why}`, { cause });
    }
    if (!isObject(parsed)) throw this.#invalid('', 'an object');
    return parsed;
  }

  has(object: JsonObject, field: string): boolean {
    return object[field] !== undefined && object[field] !== null;
  }

  each(object: JsonObject, field: string, read: (entry: JsonObject) => void): void {
    const list = this.#list(object, field);
    const depth = this.#path.push(field, 0);
    for (const [i, entry] of list.entries()) {
      this.#path[depth - 1] = i;
      if (!isObject(entry)) throw this.#invalid('', 'an object');
      read(entry);
    }
    this.#path.length = depth - 2;
  }

  /** The same for entries that are read in steps. */
  *eachInSteps(object: JsonObject, field: string, read: (entry: JsonObject) => Steps<void>): Steps<void> {
    const list = this.#list(object, field);
    const depth = this.#path.push(field, 0);
    for (const [i, entry] of list.entries()) {
      this.#path[depth - 1] = i;
      if (!isObject(entry)) throw this.#invalid('', 'an object');
      yield* read(entry);
      if (i % PAUSE_AFTER === 0) yield;
    }
    this.#path.length = depth - 2;
  }

  /** The same for many small entries. */
  *eachOfMany(object: JsonObject, field: string, read: (entry: JsonObject) => void): Steps<void> {
    const list = this.#list(object, field);
    const depth = this.#path.push(field, 0);
    for (const [i, entry] of list.entries()) {
      this.#path[depth - 1] = i;
      if (!isObject(entry)) throw this.#invalid('', 'an object');
      read(entry);
      if (i % PAUSE_AFTER === 0) yield;
    }
    this.#path.length = depth - 2;
  }

  /** Reads the object in the field, if it is there. */
  *inside(object: JsonObject, field: string, read: (inner: JsonObject) => Steps<void>): Steps<void> {
    const inner = this.object(object, field);
    if (inner === null) return;
    const depth = this.#path.push(field);
    yield* read(inner);
    this.#path.length = depth - 1;
  }

  object(object: JsonObject, field: string): JsonObject | null {
    const value = object[field] ?? null;
    if (value !== null && !isObject(value)) throw this.#invalid(field, 'an object');
    return value;
  }

  text(object: JsonObject, field: string): string {
    const value = object[field] ?? '';
    if (typeof value !== 'string') throw this.#invalid(field, 'a string');
    return value;
  }

  flag(object: JsonObject, field: string): boolean {
    const value = object[field] ?? false;
    if (typeof value !== 'boolean') throw this.#invalid(field, 'true or false');
    return value;
  }

  /** Null if the field is missing. */
  number(object: JsonObject, field: string): number | null {
    const value = object[field] ?? null;
    return value === null ? null : this.#toNumber(value, field);
  }

  /** A string if a number would lose digits. */
  integer(object: JsonObject, field: string): number | string {
    const value = object[field];
    const number = this.#toNumber(value, field);
    return typeof value === 'string' && !Number.isSafeInteger(number) ? value : number;
  }

  numbers(object: JsonObject, field: string): number[] {
    return this.#list(object, field).map((value) => this.#toNumber(value, field));
  }

  /** The number of an enumeration's value, which is sent as its number or its name. */
  enumeration(object: JsonObject, field: string, names: readonly string[]): number {
    const value = object[field];
    const position = typeof value === 'string' ? names.indexOf(value) : -1;
    return position === -1 ? (this.number(object, field) ?? 0) : position;
  }

  #list(object: JsonObject, field: string): readonly unknown[] {
    const value = object[field] ?? [];
    if (!Array.isArray(value)) throw this.#invalid(field, 'a list');
    return value;
  }

  #toNumber(value: unknown, field: string): number {
    if (typeof value === 'number') return value;
    if (typeof value === 'string') {
      const notFinite = NOT_FINITE.get(value);
      if (notFinite !== undefined) return notFinite;
      if (NUMBER.test(value)) return Number(value);
    }
    throw this.#invalid(field, 'a number');
  }

  #invalid(field: string, expected: string): AppError {
    let path = '';
    for (const step of field === '' ? this.#path : [...this.#path, field]) {
      if (typeof step === 'number') path += `[${step}]`;
      else path += path === '' ? step : `.${step}`;
    }
    const fault: Fault = { path, message: `${expected} is expected here` };
    const where = path === '' ? 'the body' : path;
    return new AppError('invalid_input', `${where}: ${fault.message}`, { faults: [fault] });
  }
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
