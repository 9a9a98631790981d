/** By what a list of groups is sorted, the newest or largest first. */
export const GROUP_SORTS = ['last', 'first', 'events', 'users'] as const;

export type GroupSort = (typeof GROUP_SORTS)[number];
