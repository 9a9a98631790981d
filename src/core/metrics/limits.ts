/** The longest window of a query or a rule: 7 days. */
export const WINDOW_MINUTES_MAX = 10_080;

/** Of the body of a request that brings points, inflated. */
export const POINTS_BODY_BYTES_MAX = 16 * 1024 * 1024;

/** Of one request; points after these are refused unread. */
export const POINTS_MAX = 100_000;

/** Of the charts that one request asks for. */
export const CHART_QUERIES_MAX = 60;

/** Of the width of a chart. */
export const CHART_PIXELS_MAX = 4_000;

/** Of the values of a label that one request lists. */
export const LABEL_VALUES_MAX = 200;

/** Of the name of a metric with its label selector, in a query or a rule. */
export const METRIC_NAME_LENGTH_MAX = 4_000;
