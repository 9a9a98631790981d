export const GROUP_STATUSES = ['unresolved', 'resolved', 'ignored'] as const;

export type GroupStatus = (typeof GROUP_STATUSES)[number];

/** Sort keys of a list of groups, the newest or largest first. */
export const GROUP_SORTS = ['last', 'first', 'events', 'users'] as const;

export type GroupSort = (typeof GROUP_SORTS)[number];

/** Longest time for which a group can be snoozed. */
export const SNOOZE_DAYS_MAX = 366;
/** Limit on the events and users to wait for. */
export const SNOOZE_COUNT_MAX = 1_000_000_000;
