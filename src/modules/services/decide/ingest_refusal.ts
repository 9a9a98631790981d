import type { ErrorCode } from '#kernel/errors.ts';

export const INGESTED = ['points', 'events', 'alerts'] as const;
export type Ingested = (typeof INGESTED)[number];

/** Reasons why single points or events of a request were refused while the rest was taken. */
export const ITEM_REFUSALS = [
  'too_many_series',
  'time_ahead',
  'time_too_old',
  'not_finite',
  'bad_time',
  'no_value',
  'no_name',
  'bad_text',
  'text_too_long',
  'too_many_labels',
  'no_temporality',
  'bad_histogram',
  'too_many_points',
  'no_metric',
  'no_room',
  'faulty',
  'too_large',
] as const;
export type ItemRefusal = (typeof ITEM_REFUSALS)[number];

/**
 * Reasons to mention data that was accepted: new exception groups or incidents would have been too many,
 * series are shared by several streams, or two processes count in one counter.
 */
export const LIMITS_REACHED = [
  'too_many_new_groups',
  'too_many_incidents',
  'shared_series',
  'overlapping_writers',
] as const;
export type LimitReached = (typeof LIMITS_REACHED)[number];

/**
 * Reason of a refusal. For a request that was refused as a whole it is the code of its error; then requests are
 * counted, not what they held.
 */
export type IngestRefusalReason = ItemRefusal | LimitReached | ErrorCode;
