import { type TSchema, Type } from 'typebox';

export { StrictObject } from '#kernel/action.ts';

import { METRIC_NAME_LENGTH_MAX } from '#modules/metrics/decide/limits.ts';

/** An identifier: any text is well-formed, and one that names nothing is `not_found`. */
export const IdText = Type.String();

/*
 * The contract gives minima only. These maxima are generous for people and programs that mean well, and keep one call
 * from storing, and every later list from returning, more than anybody reads.
 */
const NAME_LENGTH_MAX = 500;
const TEXT_LENGTH_MAX = 4_000;
/** Limit on the people named by one field. */
export const USERS_MAX = 1_000;

/** A name: at least one character, and not only white space. */
export const Name = Type.String({
  minLength: 1,
  maxLength: NAME_LENGTH_MAX,
  pattern: '\\S',
  description: 'a name that is not blank',
});

/** A label such as an environment or a repository. */
export const FreeText = Type.String({ maxLength: TEXT_LENGTH_MAX });

/** A text on one line, without white space at its ends. */
const ONE_LINE = { minLength: 1, pattern: String.raw`^\S(?:[^\n\r\t]*\S)?$` };

/** Name of a release, as clients send it. */
export const ReleaseName = Type.String({ ...ONE_LINE, maxLength: 200 });

export const EnvironmentName = Type.String({ ...ONE_LINE, maxLength: 64 });

/** A metric's name, with a label selector where one is allowed. */
export const MetricName = Type.String({ maxLength: METRIC_NAME_LENGTH_MAX });

/** Key that the caller chooses for one request: the same request that arrives twice is carried out once. */
export const RequestKey = Type.String({ minLength: 8, maxLength: 64, pattern: '^[A-Za-z0-9_-]+$' });

/** RFC 3339 in UTC with milliseconds, in results. */
export const Timestamp = Type.String({ format: 'date-time' });

/** Allows null besides `schema`; in bodies only where the contract says "or null". */
export function nullable<Schema extends TSchema>(schema: Schema) {
  return Type.Union([schema, Type.Null()]);
}

/** Integer within the contract's range: 2^53-1 either way. */
export const SafeInteger = Type.Integer({ minimum: -Number.MAX_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER });
