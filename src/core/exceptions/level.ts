/** How severe an event is. Ascending: a later one is worse. */
export const LEVELS = ['debug', 'info', 'warning', 'error', 'fatal'] as const;

export type Level = (typeof LEVELS)[number];
