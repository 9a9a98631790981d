import { type TSchema, Type } from 'typebox';

/** An identifier: any text is well-formed, and one that names nothing is `not_found`. */
export const IdText = Type.String();

/** A name: at least one character, and not only white space. */
export const Name = Type.String({ minLength: 1, pattern: '\\S', description: 'a name that is not blank' });

/** RFC 3339 in UTC with milliseconds, in results. */
export const Timestamp = Type.String({ format: 'date-time' });

/** `schema` or null; in bodies only where the contract says "or null". */
export function nullable<Schema extends TSchema>(schema: Schema) {
  return Type.Union([schema, Type.Null()]);
}

/** The largest integer the contract speaks of: 2^53-1 either way. */
export const SafeInteger = Type.Integer({ minimum: -Number.MAX_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER });

/** The closed object of a body: a property that is not listed is invalid input. */
export const CLOSED = { additionalProperties: false } as const;
