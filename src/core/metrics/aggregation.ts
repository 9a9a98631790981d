/** How the samples of a stretch of time become one value. */
export const AGGREGATIONS = ['avg', 'sum', 'min', 'max', 'last', 'count'] as const;

export type Aggregation = (typeof AGGREGATIONS)[number];
