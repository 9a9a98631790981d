/** Longest time for which a group can be snoozed. */
export const SNOOZE_DAYS_MAX = 366;
/** Limit on the events and users to wait for. */
export const SNOOZE_COUNT_MAX = 1_000_000_000;
