/** What is read of a request before anybody knows who sends it. */
export const ANONYMOUS_BODY_BYTES_MAX = 16 * 1024;
