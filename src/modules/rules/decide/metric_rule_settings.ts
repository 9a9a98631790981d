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
  /** Severity of its incidents. */
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
