/** A job over which so many workers have died is quarantined. */
export const CRASHES_MAX = 2;

/**
 * Crash count that the death of a worker adds to a durable job that ran: one of many may have killed it, one that ran alone has.
 * A process runs hundreds at a time, and nearly all that ran when it died are innocent. So they run again in groups; those of
 * a group that has died, too, run alone; and one that ran alone when two workers died is quarantined. When it comes back, one
 * more is enough.
 */
export const CRASH_SCORE = { ofMany: 1, ofAlone: 2, quarantine: 5, whenBack: 3 } as const;

/** Enough that a worker which was killed for another reason costs seconds, few enough to run one by one afterwards. */
export const SUSPECTS_MAX = 32;

/**
 * Time for which a job that killed workers is quarantined, in milliseconds: what kills a worker now kills it in a minute,
 * but a later release may not die over it.
 */
export const QUARANTINE_MS = 6 * 3_600_000;
