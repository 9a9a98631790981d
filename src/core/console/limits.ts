/** Of the operations that one request reads by. */
export const READS_MAX = 20;

/** Of a text that is searched for. */
export const SEARCH_LENGTH_MAX = 200;

/** Of the weeks that a rotation is previewed for. */
export const PREVIEW_WEEKS_MAX = 12;

/** Of the title of an incident that somebody declares. */
export const DECLARED_TITLE_LENGTH_MAX = 200;

/** Of a note on an incident. */
export const NOTE_LENGTH_MAX = 2_000;
