/** A job over which so many workers have died is set aside. */
export const DEATHS_MAX = 2;

/** What kills a worker now kills it in a minute. A later release may not die over it. */
export const SET_ASIDE_MS = 6 * 3_600_000;
