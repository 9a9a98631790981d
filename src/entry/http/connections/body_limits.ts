/** Limit on the body of a request whose sender is not known yet. */
export const ANONYMOUS_BODY_BYTES_MAX = 16 * 1024;

/** Limit on the body of a request of Slack: a message has 40,000 characters at most, in its text and in its blocks. */
export const SLACK_BODY_BYTES_MAX = 256 * 1024;

/** Limit on a configuration file: thrice that of 3,000 people, 1,200 schedules and 300 policies. */
export const CONFIGURATION_BODY_BYTES_MAX = 4 * 1024 * 1024;

/** Limit on the body of an action. */
export const ACTION_BODY_BYTES_MAX = 1024 * 1024;
