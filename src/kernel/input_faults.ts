import { type Fault, FAULTS_MAX } from '#kernel/errors.ts';
import { isRecord } from '#kernel/records.ts';

/** The part of JSON Schema that input schemas use. */
export interface Schema {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly pattern?: string;
  readonly format?: string;
  /** Meaning of a pattern, in words. */
  readonly description?: string;
}

/** Schema of an object that has at least these properties; `required` names those that must be there, by default all. */
export const objectWith = (properties: Readonly<Record<string, object>>, required = Object.keys(properties)) => {
  return { type: 'object', properties, required };
};

/** Schema of an object that has no other properties. */
export const closedObject = (properties: Readonly<Record<string, object>>, required = Object.keys(properties)) => {
  return { ...objectWith(properties, required), additionalProperties: false };
};

export const orNull = (schema: object) => ({ anyOf: [schema, { type: 'null' }] });

/**
 * Returns the faults of a value against a schema, each with its path and a sentence that says what was found and
 * allowed. Stops at `FAULTS_MAX`, so that a body that is all faults costs no more than one that has many.
 */
export function findFaults(schema: object, value: unknown): Fault[] {
  const faults: Fault[] = [];
  visit(schema, value, '', faults);
  return faults.slice(0, FAULTS_MAX);
}

function visit(schema: Schema, value: unknown, path: string, faults: Fault[]): void {
  if (faults.length >= FAULTS_MAX) return;
  const complain = (message: string) => faults.push({ path, message });
  if (schema.enum !== undefined) {
    if (!schema.enum.includes(value))
      complain(`must be one of ${schema.enum.map(show).join(', ')}; found ${show(value)}`);
    return;
  }
  if (schema.anyOf !== undefined) {
    visitAlternatives(schema.anyOf, value, path, faults);
    return;
  }
  switch (schema.type) {
    case 'object':
      visitObject(schema, value, path, faults);
      return;
    case 'array':
      visitArray(schema, value, path, faults);
      return;
    case 'string':
      visitString(schema, value, complain);
      return;
    case 'integer':
    case 'number':
      visitNumber(schema, value, complain);
      return;
    case 'boolean':
      if (typeof value !== 'boolean') complain(`must be true or false; found ${show(value)}`);
      return;
    case 'null':
      if (value !== null) complain(`must be null; found ${show(value)}`);
      return;
    case undefined:
  }
}

/** Reports the faults against the alternative that fits by kind, so that `null or text` complains about the text. */
function visitAlternatives(alternatives: readonly Schema[], value: unknown, path: string, faults: Fault[]): void {
  const attempts = alternatives.map((alternative) => {
    const faults: Fault[] = [];
    visit(alternative, value, path, faults);
    return { alternative, found: faults };
  });
  if (attempts.some(({ found }) => found.length === 0)) return;
  const sameKind = attempts.find(({ alternative }) => alternative.type === kindOf(value));
  if (sameKind !== undefined) faults.push(...sameKind.found);
  else faults.push({ path, message: `must be ${alternatives.map(nounOf).join(' or ')}; found ${show(value)}` });
}

function visitObject(schema: Schema, value: unknown, path: string, faults: Fault[]): void {
  if (!isRecord(value)) {
    faults.push({ path, message: `must be an object; found ${show(value)}` });
    return;
  }
  const properties = schema.properties ?? {};
  for (const name of schema.required ?? []) {
    if (!Object.hasOwn(value, name)) faults.push({ path: join(path, name), message: 'is required' });
  }
  for (const name in value) {
    if (faults.length >= FAULTS_MAX) return;
    if (!Object.hasOwn(value, name)) continue;
    const inner = value[name];
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (property !== undefined) visit(property, inner, join(path, name), faults);
    else if (schema.additionalProperties === false)
      faults.push({ path: join(path, name), message: unknownProperty(Object.keys(properties)) });
    else if (typeof schema.additionalProperties === 'object')
      visit(schema.additionalProperties, inner, join(path, name), faults);
  }
}

function unknownProperty(properties: readonly string[]): string {
  return properties.length === 0
    ? 'is not a known property; the body must be an empty object'
    : `is not a known property; known are ${properties.join(', ')}`;
}

function visitArray(schema: Schema, value: unknown, path: string, faults: Fault[]): void {
  if (!Array.isArray(value)) {
    faults.push({ path, message: `must be an array; found ${show(value)}` });
    return;
  }
  const { minItems = 0, maxItems = Infinity } = schema;
  if (value.length < minItems)
    faults.push({ path, message: `must have at least ${count(minItems, 'entry', 'entries')}` });
  if (value.length > maxItems)
    faults.push({ path, message: `must have at most ${count(maxItems, 'entry', 'entries')}; found ${value.length}` });
  for (let index = 0; index < value.length && faults.length < FAULTS_MAX; index += 1) {
    visit(schema.items ?? {}, value[index], `${path}[${index}]`, faults);
  }
}

function visitString(schema: Schema, value: unknown, complain: (message: string) => void): void {
  if (typeof value !== 'string') {
    complain(`must be a string; found ${show(value)}`);
    return;
  }
  const { minLength = 0, maxLength = Infinity } = schema;
  if (value.length < minLength) complain(`must have at least ${count(minLength, 'character', 'characters')}`);
  else if (value.length > maxLength)
    complain(`must have at most ${count(maxLength, 'character', 'characters')}; found ${value.length}`);
  else if (schema.pattern !== undefined && !new RegExp(schema.pattern, 'u').test(value))
    complain(`must be ${schema.description ?? `a text like ${schema.pattern}`}; found ${show(value)}`);
}

function visitNumber(schema: Schema, value: unknown, complain: (message: string) => void): void {
  const noun = schema.type === 'integer' ? 'an integer' : 'a number';
  const { minimum = -Infinity, maximum = Infinity } = schema;
  const fits =
    typeof value === 'number' && Number.isFinite(value) && (schema.type === 'number' || Number.isInteger(value));
  if (!fits) complain(`must be ${noun}; found ${show(value)}`);
  else if (value < minimum || value > maximum)
    complain(`must be ${noun} ${range(minimum, maximum)}; found ${show(value)}`);
}

function range(minimum: number, maximum: number): string {
  if (maximum === Infinity) return `of at least ${minimum}`;
  if (minimum === -Infinity) return `of at most ${maximum}`;
  return `from ${minimum} to ${maximum}`;
}

function join(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value;
}

function nounOf(schema: Schema): string {
  if (schema.enum !== undefined) return `one of ${schema.enum.map(show).join(', ')}`;
  return schema.type === 'null'
    ? 'null'
    : `${/^[aeiou]/.test(schema.type ?? '') ? 'an' : 'a'} ${schema.type ?? 'value'}`;
}

function count(amount: number, singular: string, many: string): string {
  return `${amount} ${amount === 1 ? singular : many}`;
}

/** Shows a value as a person would recognise it, cut short; objects and arrays by kind only. */
function show(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'object' && value !== null) return 'an object';
  const text = JSON.stringify(typeof value === 'string' ? value.slice(0, 100) : value);
  return text.length > 60 ? `${text.slice(0, 57)}…"` : text;
}

/** Converts a JSON Pointer (RFC 6901) such as `/steps/0/channels` to `steps[0].channels`. */
export function pathOfPointer(pointer: string): string {
  return pointer
    .split('/')
    .slice(1)
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce((path, token) => (/^\d+$/.test(token) ? `${path}[${token}]` : join(path, token)), '');
}

/** Limit on the nesting of JSON, deeper than any dashboard; it keeps recursive code far from the end of the stack. */
export const LEVELS_MAX = 100;

/**
 * Finds the places of a body that no store can return unchanged, even where its schema allows them: U+0000, which
 * PostgreSQL rejects; half of a surrogate pair, which UTF-8 cannot encode; a number that overflowed; and nesting beyond
 * 100 levels, which is reported alone. Stops at `FAULTS_MAX`.
 */
export function findUnstorable(body: unknown): Fault[] {
  const faults: Fault[] = [];
  return isWithin(body, '', 0, faults) ? faults.slice(0, FAULTS_MAX) : [{ path: '', message: NESTED_TOO_DEEP }];
}

export const NESTED_TOO_DEEP = `must not be nested deeper than ${LEVELS_MAX} levels`;

function isWithin(value: unknown, path: string, level: number, faults: Fault[]): boolean {
  if (level > LEVELS_MAX) return false;
  if (faults.length >= FAULTS_MAX) return true;
  if (typeof value === 'string') judgeText(value, path, faults);
  else if (typeof value === 'number' && !Number.isFinite(value)) {
    faults.push({ path, message: 'must be a number within ±1.7976931348623157e308' });
  }
  if (typeof value !== 'object' || value === null) return true;
  if (Array.isArray(value)) return value.every((item, index) => isWithin(item, `${path}[${index}]`, level + 1, faults));
  return Object.entries(value).every(([name, inner]) => {
    const innerPath = path === '' ? name : `${path}.${name}`;
    judgeText(name, innerPath, faults);
    return isWithin(inner, innerPath, level + 1, faults);
  });
}

function judgeText(text: string, path: string, faults: Fault[]): void {
  if (text.includes('\0')) faults.push({ path, message: 'must not contain the character U+0000' });
  else if (!text.isWellFormed()) faults.push({ path, message: 'must not contain half of a surrogate pair' });
}
