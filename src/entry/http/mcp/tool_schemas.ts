import type { JSONValue } from '@modelcontextprotocol/server';

import type { AnyAction } from '#actions/action_context.ts';
import { idSourceOf } from '#actions/id_sources.ts';

/** The part of JSON Schema that actions use. */
interface JsonSchema {
  type?: string | string[];
  enum?: JSONValue[];
  anyOf?: JsonSchema[];
  properties?: Record<string, JsonSchema>;
  items?: JsonSchema;
  [keyword: string]: JSONValue;
}

interface ObjectSchema extends JsonSchema {
  type: 'object';
}

/**
 * Returns the schema of a tool's input: the schema that validates it, written so that every client reads it alike:
 * enumerations have a type, and ids say which tool shows them.
 */
export function toInputSchema(input: object): ObjectSchema {
  return { ...simplify(input as JsonSchema), type: 'object' };
}

function simplify(schema: JsonSchema): JsonSchema {
  const { anyOf, properties, items, ...rest } = schema;
  return {
    ...(rest.enum !== undefined && rest.type === undefined ? { type: 'string' } : {}),
    ...rest,
    ...(anyOf === undefined ? {} : { anyOf: anyOf.map(simplify) }),
    ...(properties === undefined ? {} : { properties: mapValues(properties, toProperty) }),
    ...(items === undefined ? {} : { items: simplify(items) }),
  };
}

function toProperty(schema: JsonSchema, name: string): JsonSchema {
  const source = idSourceOf(name);
  const property = simplify(schema);
  return source === undefined || 'description' in property
    ? property
    : { ...property, description: `from ${source.shownBy}` };
}

/** Limit on an outline: it is sent to a model with every list of tools, and a longer one says less. */
const OUTLINE_LENGTH_MAX = 320;
const LEVELS_MAX = 2;

/**
 * Returns the schema of a tool's result: for a read as many levels as fit, for a change the ids it always contains.
 * Nothing but `result` is required and no object is closed, so that a client that validates accepts results that gain
 * fields.
 */
export function toOutputSchema({ effect, result }: Pick<AnyAction, 'effect' | 'result'>): ObjectSchema {
  const outlined = effect === 'read' ? outlineThatFits(result, LEVELS_MAX) : outline(idsOf(result), 1);
  return { type: 'object', properties: { result: outlined }, required: ['result'] };
}

function outlineThatFits(schema: JsonSchema, levels: number): JsonSchema {
  const outlined = outline(schema, levels);
  const fits = levels === 0 || JSON.stringify(outlined).length <= OUTLINE_LENGTH_MAX;
  return fits ? outlined : outlineThatFits(schema, levels - 1);
}

function idsOf({ properties = {}, ...schema }: JsonSchema): JsonSchema {
  const ids = Object.entries(properties).filter(([name, { type }]) => /Ids?$/.test(name) && type !== undefined);
  return { ...schema, properties: Object.fromEntries(ids) };
}

/** Outlines a schema. Levels count objects within objects; a list is as deep as its items. */
function outline(schema: JsonSchema, levels: number): JsonSchema {
  const { type, anyOf, properties, items } = schema;
  if (anyOf !== undefined) return { anyOf: anyOf.map((alternative) => outline(alternative, levels)) };
  const kind = type === undefined ? kindOfConstants(schema) : { type };
  if (properties !== undefined && levels > 0) {
    return { ...kind, properties: mapValues(properties, (property) => outline(property, levels - 1)) };
  }
  return items !== undefined && levels > 0 ? { ...kind, items: outline(items, levels) } : kind;
}

/** Adds the type of an enumeration, if its values are texts; anything else without a type may have any. */
function kindOfConstants({ enum: allowed }: JsonSchema): JsonSchema {
  return allowed === undefined ? {} : { type: 'string' };
}

function mapValues<Value>(
  record: Record<string, JsonSchema>,
  map: (schema: JsonSchema, name: string) => Value,
): Record<string, Value> {
  return Object.fromEntries(Object.entries(record).map(([name, schema]) => [name, map(schema, name)]));
}
