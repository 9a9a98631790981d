/** Comparators of a measured value with the threshold of a rule. */
export const COMPARATORS = ['>', '>=', '<', '<='] as const;

export type Comparator = (typeof COMPARATORS)[number];
