/** What is read of a request before anybody knows who sends it. */
export const ANONYMOUS_BODY_BYTES_MAX = 16 * 1024;

/** The body of an action. */
export const ACTION_BODY_BYTES_MAX = 1024 * 1024;
