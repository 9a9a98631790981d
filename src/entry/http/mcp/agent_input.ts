import type { Schema } from '#kernel/input_faults.ts';

/**
 * Reads the arguments that a model passes to a tool: null and an empty text for an optional field count as absent, unless
 * they have a meaning there, as do null for a field that is not known and for all arguments; `"60"`, `"true"` and JSON in
 * text are parsed where the schema takes no text, and a number is text where it takes only that; one value stands for a
 * list of one and a list of one for its value, words of an enumeration may be in other letters or, for a list, between
 * commas, and blanks around an id do not count. Everything else stays as it was sent, and is
 * checked like a request over REST. Returns the same object if nothing is changed.
 */
export function readAgentInput(schema: object, input: unknown): unknown {
  return read(schema, input ?? {});
}

function read(schema: Schema, sent: unknown): unknown {
  const single = unlisted(schema, sent);
  const plain = typeof single === 'number' ? readNumber(schema, single) : single;
  const value = listed(schema, typeof plain === 'string' ? readText(schema, plain) : plain);
  if (Array.isArray(value)) {
    const { items } = schemaFor(schema, 'array');
    return items === undefined ? value : ifChanged(value, (entries) => entries.map((entry) => read(items, entry)));
  }
  return isRecord(value) ? readObject(schemaFor(schema, 'object'), value) : value;
}

function readObject(
  { properties = {}, required = [], additionalProperties }: Schema,
  object: Readonly<Record<string, unknown>>,
): unknown {
  let isChanged = false;
  const entries = Object.entries(object).flatMap(([name, sent]): [string, unknown][] => {
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    const schema = property ?? (typeof additionalProperties === 'object' ? additionalProperties : undefined);
    if (schema === undefined) {
      const isNothing = sent === null && additionalProperties === false;
      isChanged ||= isNothing;
      return isNothing ? [] : [[name, sent]];
    }
    const value = read(schema, name.endsWith('Id') && typeof sent === 'string' ? sent.trim() : sent);
    const isOptional = property !== undefined && !required.includes(name);
    const isAbsent =
      isOptional &&
      ((value === null && !takes(schema, 'null')) ||
        (value === '' && (name.endsWith('Id') || !takesNothingSaid(schema))));
    isChanged ||= isAbsent || value !== sent;
    return isAbsent ? [] : [[name, value]];
  });
  return isChanged ? Object.fromEntries(entries) : object;
}

/** Returns a number as text where the schema takes texts only, of any words. */
function readNumber(schema: Schema, number: number): unknown {
  const { type, enum: words } = schema.anyOf === undefined ? schema : schemaFor(schema, 'string');
  const isTextOnly = !takes(schema, 'number') && !takes(schema, 'integer') && type === 'string' && words === undefined;
  return isTextOnly ? String(number) : number;
}

function readText(schema: Schema, text: string): unknown {
  return isText(schema, text) ? inLettersOf(schema, text) : spelt(schema, text);
}

/** Returns the word of an enumeration that differs only in its letters' case; else the text. */
function inLettersOf(schema: Schema, text: string): string {
  const words = (schema.anyOf ?? [schema]).flatMap(({ enum: values = [] }) => values);
  if (words.length === 0 || words.includes(text)) return text;
  const same = words.filter((word) => typeof word === 'string' && word.toLowerCase() === text.trim().toLowerCase());
  return same.length === 1 ? String(same[0]) : text;
}

/** Returns a list of the value where only a list of such values is taken. */
function listed(schema: Schema, value: unknown): unknown {
  if (typeof value !== 'string' && typeof value !== 'number' && !isRecord(value)) return value;
  const { items } = schemaFor(schema, 'array');
  if (schema.type === undefined && schema.anyOf === undefined) return value;
  if (value === '' || items === undefined || takes(schema, kindOf(value)) || !takes(items, kindOf(value))) return value;
  if (typeof value !== 'string') return [value];
  if (/^\s*[[{]/.test(value)) return value;
  const words = value.split(',').map((word) => inLettersOf(items, word.trim()));
  return items.enum !== undefined && words.every((word) => items.enum?.includes(word)) ? words : [value];
}

/** Returns the only value of a list where no list is taken. */
function unlisted(schema: Schema, sent: unknown): unknown {
  if (!Array.isArray(sent) || sent.length !== 1 || takes(schema, 'array')) return sent;
  const [value] = sent as readonly unknown[];
  return ['string', 'number', 'boolean'].includes(kindOf(value)) ? value : sent;
}

/** Whether an empty text may be meant as one. */
function takesNothingSaid(schema: Schema): boolean {
  if (schema.anyOf !== undefined) return schema.anyOf.some(takesNothingSaid);
  const { type, minLength = 0, pattern, format } = schema;
  if (schema.enum !== undefined) return schema.enum.includes('');
  return type === undefined || (type === 'string' && minLength === 0 && pattern === undefined && format === undefined);
}

const NUMBER = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d{1,3})?$/;
const WORDS: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['true', true],
  ['false', false],
  ['null', null],
]);

/** Returns the value spelled by a text where no text is allowed; the text itself if the schema does not take it. */
function spelt(schema: Schema, text: string): unknown {
  const plain = text.trim();
  const word = WORDS.get(plain.toLowerCase());
  if (word === null || (word !== undefined && takes(schema, 'boolean'))) return word;
  if (NUMBER.test(plain) && (takes(schema, 'number') || takes(schema, 'integer'))) return Number(plain);
  const kind = plain.startsWith('[') ? 'array' : plain.startsWith('{') ? 'object' : null;
  if (kind === null || !takes(schema, kind)) return text;
  try {
    return JSON.parse(plain) as unknown;
  } catch {
    return text;
  }
}

/** Whether a text is meant as such. Where a schema says nothing, JSON in text is meant as what it holds. */
function isText(schema: Schema, text: string): boolean {
  const isOpen = schema.type === undefined && schema.enum === undefined && schema.anyOf === undefined;
  return takes(schema, 'string') && !(isOpen && /^\s*[[{]/.test(text));
}

/** Whether the schema takes a value of this type. A schema without types takes everything. */
function takes(schema: Schema, kind: string): boolean {
  if (schema.enum !== undefined) return schema.enum.some((value) => kindOf(value) === kind);
  if (schema.anyOf !== undefined) return schema.anyOf.some((alternative) => takes(alternative, kind));
  return schema.type === undefined || schema.type === kind;
}

function schemaFor(schema: Schema, kind: string): Schema {
  return schema.anyOf?.find((alternative) => takes(alternative, kind)) ?? schema;
}

function kindOf(value: unknown): string {
  return value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
}

function ifChanged(entries: readonly unknown[], read: (entries: readonly unknown[]) => unknown[]): unknown {
  const changed = read(entries);
  return changed.some((entry, index) => entry !== entries[index]) ? changed : entries;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
