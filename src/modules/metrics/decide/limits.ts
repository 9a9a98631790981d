/** The longest window of a query or a rule: 7 days. */
export const WINDOW_MINUTES_MAX = 10_080;

/** Limit on the body of a request with points, after decompression. */
export const POINTS_BODY_BYTES_MAX = 16 * 1024 * 1024;

/** Limit on the points of one request; further ones are refused unread. */
export const POINTS_MAX = 100_000;

/** Limit on the charts in one request. */
export const CHART_QUERIES_MAX = 60;

/** Widest chart, in pixels. */
export const CHART_PIXELS_MAX = 4_000;

/** Limit on the values of a label in one request. */
export const LABEL_VALUES_MAX = 200;

/** Longest metric name with its label selector, in a query or a rule. */
export const METRIC_NAME_LENGTH_MAX = 4_000;

/** Limit on the variables that the selectors of one dashboard have. */
export const VARIABLES_MAX = 10;
