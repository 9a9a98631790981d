/** How a measured value is compared with the threshold of a rule. */
export const COMPARATORS = ['>', '>=', '<', '<='] as const;

export type Comparator = (typeof COMPARATORS)[number];
