/** Severity of an event, in ascending order. */
export const LEVELS = ['debug', 'info', 'warning', 'error', 'fatal'] as const;

export type Level = (typeof LEVELS)[number];
