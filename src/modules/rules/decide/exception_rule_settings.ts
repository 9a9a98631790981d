import type { Level } from '#modules/exceptions/decide/level.ts';

/** Whether runs of cron monitors that are missed, fail or take too long open incidents of a rule. */
export const MONITOR_CHOICES = ['open', 'ignore'] as const;

export type MonitorChoice = (typeof MONITOR_CHOICES)[number];

/** Conditions for an exception rule to open an incident, beyond its config. */
export interface ExceptionRuleSettings {
  /**
   * Limits on the events or users within `rateMinutes`. With either, a group opens an incident when it exceeds the
   * limit, and not when it is new.
   */
  readonly eventsOver: number | null;
  readonly usersOver: number | null;
  readonly rateMinutes: number;
  readonly monitors: MonitorChoice;
  /** Conditions on the event that makes a group new or brings it back; `*` stands for anything. Null: any event. */
  readonly inEnvironment: string | null;
  readonly inRelease: string | null;
  /** Tag as `key:value`. */
  readonly withTag: string | null;
  /** Part of the title, in any case. */
  readonly withText: string | null;
  /** Severity of its incidents; null: that of the exception. */
  readonly incidentSeverity: Level | null;
}

export const EXCEPTION_RULE_DEFAULTS: ExceptionRuleSettings = {
  eventsOver: null,
  usersOver: null,
  rateMinutes: 10,
  monitors: 'open',
  inEnvironment: null,
  inRelease: null,
  withTag: null,
  withText: null,
  incidentSeverity: null,
};

/** Whether the rule looks at how often its groups come, not at whether they are new. */
export function isOnRate({ eventsOver, usersOver }: Pick<ExceptionRuleSettings, 'eventsOver' | 'usersOver'>): boolean {
  return eventsOver !== null || usersOver !== null;
}

/** Events and users of a group within `rateMinutes`. */
export interface GroupRate {
  readonly events: number;
  readonly users: number;
}

/** Returns the limit of the rule that the group exceeds; null for neither. */
export function limitPassed(
  { eventsOver, usersOver }: Pick<ExceptionRuleSettings, 'eventsOver' | 'usersOver'>,
  { events, users }: GroupRate,
): 'events' | 'users' | null {
  if (eventsOver !== null && events > eventsOver) return 'events';
  return usersOver !== null && users > usersOver ? 'users' : null;
}
