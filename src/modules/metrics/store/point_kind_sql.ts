import type { PointKind } from '#modules/metrics/decide/point.ts';

const literal = (kind: PointKind): string => `'${kind}'`;

/** The kinds of points that queries treat differently, as SQL literals. */
export const STALE = literal('stale');
export const COUNTER = literal('counter');
export const START = literal('start');
export const DELTA = literal('delta');
/** A condition on rows: those that hold a value. */
export const IS_SAMPLE = `kind NOT IN (${STALE}, ${START})`;
/** A condition on rows: those that the growth of a counter is computed from. */
export const IS_COUNTING = `kind IN (${COUNTER}, ${START})`;
