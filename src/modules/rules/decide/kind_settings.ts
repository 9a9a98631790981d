import type { Fault } from '#kernel/errors.ts';
import type { Level } from '#modules/exceptions/decide/level.ts';

/** Behaviours of a metric rule when its window holds no data. */
export const NO_DATA_CHOICES = ['resolve', 'keep', 'page'] as const;

export type NoDataChoice = (typeof NO_DATA_CHOICES)[number];

/** Settings of a metric rule beyond its config: when a breach counts, and when it is over. */
export interface MetricRuleSettings {
  /** Minutes for which a breach has to last before an incident opens; 0: it opens at once. */
  readonly forMinutes: number;
  /** Value beyond which the condition counts as false; null: as soon as the threshold is not crossed. */
  readonly recoveryThreshold: number | null;
  /**
   * Minutes for which the condition has to be false, at every evaluation, before the incident is resolved; null: for a
   * whole window.
   */
  readonly recoveryMinutes: number | null;
  /**
   * Behaviour without data: `resolve` the open incident, `keep` it, or `page`: keep it, and open one if there is none.
   */
  readonly noData: NoDataChoice;
  /** Minutes of windows without data after which that happens. */
  readonly noDataMinutes: number;
  /** Number of incidents within `flapMinutes` from which on the rule flaps; null: it never does. */
  readonly flapIncidents: number | null;
  /** Minutes for which the condition has to be false before the incident of a flapping rule is resolved. */
  readonly flapMinutes: number;
  /** Minutes of a second, shorter window in which the condition has to be true as well; null: the rule has one window. */
  readonly shortWindowMinutes: number | null;
  /** Least value of the lower side of a ratio over the window, below which the rule does not judge; null: any. */
  readonly trafficAtLeast: number | null;
  /** Label of which each value has an incident of its own; null: the rule has one. */
  readonly byLabel: string | null;
  readonly severity: Level;
}

export const METRIC_RULE_DEFAULTS: MetricRuleSettings = {
  forMinutes: 0,
  recoveryThreshold: null,
  recoveryMinutes: null,
  noData: 'resolve',
  noDataMinutes: 15,
  flapIncidents: null,
  flapMinutes: 60,
  shortWindowMinutes: null,
  trafficAtLeast: null,
  byLabel: null,
  severity: 'error',
};

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
  /**
   * Conditions on the event that makes a group new or brings it back, or on each that a rate counts; `*` stands for
   * anything. Null: any event.
   */
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

/** Events of a group within `rateMinutes` that meet the conditions of the rule, and their users. */
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

/** Texts of a rule for whoever is paged by it. */
export interface RuleGuidance {
  /** Meaning of an incident of the rule, in Markdown; null for none. */
  readonly description: string | null;
  /** Address of the instructions for its incidents; null for none. */
  readonly runbookUrl: string | null;
}

export const RULE_GUIDANCE_DEFAULTS: RuleGuidance = { description: null, runbookUrl: null };

export const DESCRIPTION_LENGTH_MAX = 2_000;
export const RUNBOOK_LENGTH_MAX = 1_000;

export function guidanceOf(settings: Partial<RuleGuidance> | null): RuleGuidance {
  const { description = null, runbookUrl = null } = settings ?? {};
  // Settings are read as they are stored, so the address is checked again.
  return { description, runbookUrl: runbookUrl !== null && runbookFault(runbookUrl) === null ? runbookUrl : null };
}

/** Returns what is wrong with the address of a runbook; null if people may follow it. */
function runbookFault(address: string): string | null {
  const url = URL.parse(address);
  // The parser of addresses drops line breaks and tabs, so they are looked for in the text.
  if (url === null || /[\s\p{Cc}\p{Cf}]/u.test(address))
    return 'must be a whole address, such as https://wiki.example.com/runbooks/checkout';
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return `must begin with https:// or http://`;
  if (url.username !== '' || url.password !== '')
    return 'must not hold a user name or a password: everybody who is paged sees it';
  return null;
}

export function guidanceFaults({ description, runbookUrl }: Partial<RuleGuidance>, path: string): Fault[] {
  const fault = runbookUrl == null ? null : runbookFault(runbookUrl);
  return [
    ...(description != null && description.trim() === ''
      ? [{ path: `${path}.description`, message: 'must say something, or be null' }]
      : []),
    ...(fault === null ? [] : [{ path: `${path}.runbookUrl`, message: fault }]),
  ];
}

/** Comparators of a measured value with the threshold of a rule. */
export const COMPARATORS = ['>', '>=', '<', '<='] as const;

export type Comparator = (typeof COMPARATORS)[number];
