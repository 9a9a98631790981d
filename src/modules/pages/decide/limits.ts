/** Limit on the operations in one batch of reads. */
export const READS_MAX = 20;

/** Longest search text, in characters. */
export const SEARCH_LENGTH_MAX = 200;

export const PREVIEW_WEEKS_MAX = 12;

/** Longest title of a declared incident, in characters. */
export const DECLARED_TITLE_LENGTH_MAX = 200;

/** Longest note on an incident, in characters. */
export const NOTE_LENGTH_MAX = 2_000;
