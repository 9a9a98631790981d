import type { PointKind } from '#core/metrics/point.ts';

const literal = (kind: PointKind): string => `'${kind}'`;

/** The kinds of points that queries treat differently, as SQL literals. */
export const STALE = literal('stale');
export const COUNTER = literal('counter');
