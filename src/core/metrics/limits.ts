/** The longest window of a query or a rule: 7 days. */
export const WINDOW_MINUTES_MAX = 10_080;

/** Of the name of a metric with its label selector, in a query or a rule. */
export const METRIC_NAME_LENGTH_MAX = 4_000;
