export const INTERVAL_UNITS = ['minute', 'hour', 'day', 'week', 'month', 'year'] as const;

/** Limit on the value of an interval, in its unit. */
export const INTERVAL_MAX = 1_000;
/** Limit on margin and runtime; 28 days. */
export const MINUTES_MAX = 40_320;
export const THRESHOLD_MAX = 720;
export const CRONTAB_LENGTH_MAX = 200;
